import { getText, type JsonRecord } from '../../core/json.js';
import { quotePosix } from '../../core/text.js';
import type { OfficialLaunch, OfficialPlan, SettingsPort } from '../agent.js';
import { isBefore } from '../tested.js';
import {
  hasRelativePaths,
  readGivenSettings,
  readManagedSettings,
  readOwnSettings,
  disablesStatusLines,
  withSettings,
  mentionsStatusLine,
  effectiveStatusLine,
  flagValues,
} from './settings.js';
import { isViewerOnly, VIEWER } from './viewer.js';
import { modelKey, modelWindow, windowOfModelName } from './window.js';

// Claude Code runs the status line's command with JSON on stdin that holds the exact numbers (docs/facts/claude.md#status-line,
// #older-versions). For one launch the command is ctxwrap's, which then runs the user's own.

/** The first version whose status line reports the context; older ones report nothing, and before 1.0.61 `--settings` makes them exit. */
const TELLS_SINCE = '2.0.65';

/** What to add to a launch so that the status line reports to a file, or why it is left alone. */
export const planStatusLine = async (port: SettingsPort, launch: OfficialLaunch): Promise<OfficialPlan> => {
  const { version, statusLine } = launch;
  if (statusLine === 'off') return leave('it is switched off');
  if (isViewerOnly(launch.args)) return leave(VIEWER);
  if (version !== undefined && isBefore(version, TELLS_SINCE))
    return leave(`version ${version} does not report the context; ${TELLS_SINCE} is the first that does`);
  const [given, own, managed] = await Promise.all([
    readGivenSettings(port, launch.args),
    readOwnSettings(port, launch),
    readManagedSettings(port, launch),
  ]);
  if (!given) return leave('the value of --settings cannot be read as JSON');
  if (managed.some(rulesStatusLines)) return leave('managed settings control the status line');
  if (disablesStatusLines([...own.user, ...own.project, given]))
    return leave('your settings disable status lines');
  // Claude asks whether a folder is trusted before it runs anything from it, but would not ask for commands that come with --settings.
  if (mentionsStatusLine(own.project))
    return leave(
      "this folder's .claude settings have a status line, and only Claude can ask you whether to trust it",
    );
  const line = effectiveStatusLine([...own.user, given]);
  if (statusLine === 'auto' && !launch.isOwnProgram && version === undefined)
    return leave('the command is not claude itself');
  if (
    !line &&
    statusLine === 'auto' &&
    !launch.isCacheWanted &&
    isWindowTold(launch, [...own.user, ...own.project, given])
  )
    return leave('the size of the window is known without it, and you have no status line');
  // status lines are younger than --settings, so a version with a status line starts with it
  if (
    !line &&
    statusLine === 'auto' &&
    version === undefined &&
    flagValues(launch.args, '--settings').length === 0
  )
    return leave('its files do not name its version, and an old version would not start with --settings');
  if (hasRelativePaths(given)) return leave('--settings holds paths relative to its own folder');
  const { files } = launch;
  const command = statusCommand(files.report, getText(line, 'command'));
  return {
    kind: 'ask',
    args: withSettings(launch.args, files.settings),
    settings: JSON.stringify({ ...given, statusLine: { ...line, type: 'command', command } }),
  };
};

// Over a conversation that is continued, the banner with the model's name may have scrolled away before it can be read.
const CONTINUES = /^(?:-c|-r|--continue|--resume(?:=.*)?)$/;

/**
 * The window is known without asking: the user or the environment sets it, or the model's name determines it, and the banner will show
 * that. An alias (`opus`) and Claude's default model tell nothing. `settings` are weakest first.
 */
const isWindowTold = (
  { args, env, isWindowSet }: Pick<OfficialLaunch, 'args' | 'env' | 'isWindowSet'>,
  settings: readonly JsonRecord[],
): boolean => {
  if (isWindowSet || modelWindow('', undefined, { env })?.windowSource === 'table') return true;
  const named = flagValues(args, '--model').at(-1)?.value ?? env['ANTHROPIC_MODEL'];
  const model =
    named || settings.map((each) => getText(each, 'model')).findLast((name) => name !== undefined);
  if (!model) return false;
  if (modelWindow(modelKey(model), undefined, { env })?.windowSource === 'table') return true;
  return windowOfModelName(model, { env }) !== undefined && !args.some((word) => CONTINUES.test(word));
};

const leave = (reason: string): OfficialPlan => ({ kind: 'leave', reason });

const rulesStatusLines = (settings: JsonRecord): boolean =>
  ['statusLine', 'disableAllHooks', 'allowManagedHooksOnly', 'strictPluginOnlyCustomization'].some(
    (key) => settings[key] !== undefined,
  );

/**
 * A POSIX shell command that saves its stdin to a file atomically, then runs the user's command with the same stdin. The user's text
 * follows on its own line, unquoted, in the shell that Claude chose. If the file cannot be written, stdin is left untouched.
 */
export const statusCommand = (path: string, own: string | undefined): string => {
  const file = quotePosix(path);
  const draft = `${file}.$$.tmp`;
  const keep = `(umask 077; cat >${draft}) 2>/dev/null && exec <${draft} && mv -f ${draft} ${file} 2>/dev/null`;
  return own === undefined ? `${keep}\nexit 0` : `${keep}\n${own}`;
};
