import { getList, getRecord, parseRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { quotePosix } from '../../core/text.js';
import type { HookCommands, LaunchHook, OfficialLaunch, OfficialPlan, SettingsPort } from '../agent.js';
import { isBefore } from '../tested.js';
import { isViewerOnly, VIEWER } from './viewer.js';
import {
  disablesStatusLines,
  hasRelativePaths,
  readGivenSettings,
  readManagedSettings,
  readOwnSettings,
  withSettings,
} from './settings.js';

// Hooks of Claude Code: a snippet for the user's own settings, and hooks for one launch (docs/facts/claude.md#hooks), which run beside the
// user's own.

const HOOK_SECONDS = 5; // after this Claude goes on without an answer

const hook = (command: string, matcher?: string) => ({
  ...present({ matcher }),
  hooks: [{ type: 'command', command, timeout: HOOK_SECONDS }],
});

/** A snippet for the user's own settings. */
export const hooksText = ({ compactFull, noteFill, tellModel }: HookCommands): string => {
  const events = {
    Stop: [hook(compactFull)],
    PreCompact: [hook(noteFill)],
    SessionStart: [hook(tellModel, 'compact')],
  };
  return `${JSON.stringify({ hooks: events }, undefined, 2)}\n`;
};

/** The launch with one more hook. */
export const planHook = async (
  port: SettingsPort,
  launch: OfficialLaunch,
  asked: LaunchHook,
): Promise<OfficialPlan> => {
  if (isViewerOnly(launch.args)) return leave(VIEWER);
  if (runsNoHooks(launch)) return leave('it runs no hooks with these arguments or this environment');
  const old = tooOld(launch, asked);
  if (old !== undefined) return leave(old);
  const [given, own, managed] = await Promise.all([
    readGivenSettings(port, launch.args),
    readOwnSettings(port, launch),
    readManagedSettings(port, launch),
  ]);
  if (!launch.isOwnProgram) return leave('the command is not claude itself');
  if (!given) return leave('the value of --settings cannot be read as JSON');
  if (managed.some(rulesHooks)) return leave('managed settings control hooks');
  if (disablesStatusLines([...own.user, ...own.project, given]))
    return leave('the settings switch hooks off');
  if (hasRelativePaths(given)) return leave('--settings holds paths relative to its own folder');
  const settings = parseRecord(asked.settings ?? '') ?? given;
  return {
    kind: 'ask',
    args: withSettings(launch.args, launch.files.settings),
    settings: JSON.stringify(withHook(settings, launch, asked)),
  };
};

const leave = (reason: string): OfficialPlan => ({ kind: 'leave', reason });

const SETTINGS_SINCE = '1.0.61'; // from its package's code: an older one exits at --settings
const CONTEXT_SINCE = '2.1.197'; // the first in which the text of a hook was seen in a request

const tooOld = ({ version, statusLine }: OfficialLaunch, { kind }: LaunchHook): string | undefined => {
  if (kind === 'hold')
    return version !== undefined && isBefore(version, SETTINGS_SINCE)
      ? `its version ${version} does not know --settings: ${SETTINGS_SINCE} is the first`
      : undefined;
  // nobody has asked for this hook by name, so a launch that is to stay as it is, or might fail, gets none
  if (statusLine === 'off') return 'claude.statusLine is off';
  if (version === undefined) return 'its files do not name its version';
  return isBefore(version, CONTEXT_SINCE)
    ? `its version ${version} is older than ${CONTEXT_SINCE}`
    : undefined;
};

/** By its own help, in 2.1.332. */
const runsNoHooks = ({ args, env }: OfficialLaunch): boolean =>
  args.some((word) => word === '--safe-mode' || word === '--bare') ||
  ['CLAUDE_CODE_SAFE_MODE', 'CLAUDE_CODE_SIMPLE'].some((name) => (env[name] ?? '') !== '');

const rulesHooks = (settings: JsonRecord): boolean =>
  ['disableAllHooks', 'allowManagedHooksOnly', 'strictPluginOnlyCustomization'].some(
    (key) => settings[key] !== undefined,
  );

const withHook = (settings: JsonRecord, { files }: OfficialLaunch, asked: LaunchHook): JsonRecord => {
  const hooks = getRecord(settings, 'hooks');
  // exit status 2 for the trigger `auto` keeps Claude Code from compacting by itself, and Claude does not count it as a failure (seen in
  // 2.1.197, 2.1.263 and 2.1.330)
  const [event, ours] =
    asked.kind === 'hold'
      ? (['PreCompact', hook(asked.command, 'auto')] as const)
      : (['UserPromptSubmit', hook(takeCommand(files.context))] as const);
  return { ...settings, hooks: { ...hooks, [event]: [...getList(hooks, event), ours] } };
};

/**
 * A POSIX shell command that prints a file once, without its first line, and removes it, where that line is the id of the session that Claude
 * names on stdin. It prints nothing where there is no file, the session is another one, or another process has taken it; its exit status is
 * always 0. In what the user has typed, which is on stdin as well, quotation marks are escaped.
 */
export const takeCommand = (path: string): string => {
  const file = quotePosix(path);
  const taken = `${file}.$$.taken`;
  return [
    `[ -f ${file} ] || exit 0`,
    'asked=$(cat)',
    `IFS= read -r id <${file} 2>/dev/null || exit 0`,
    `case "$asked" in *'"session_id":"'"$id"'"'*) ;; *) exit 0 ;; esac`,
    `mv ${file} ${taken} 2>/dev/null && sed 1d ${taken} 2>/dev/null && rm -f ${taken} 2>/dev/null`,
    'exit 0',
  ].join('\n');
};

const MOST_CHARACTERS = 10_000; // the model gets a longer text only in part

/** The file for the hook of `UserPromptSubmit`, so that the model gets this text in this session; undefined where it is too long. */
export const contextFile = (text: string, sessionId: string): string | undefined => {
  if (text.length > MOST_CHARACTERS) return undefined;
  const hookSpecificOutput = { hookEventName: 'UserPromptSubmit', additionalContext: text };
  return `${sessionId}\n${JSON.stringify({ hookSpecificOutput })}\n`;
};
