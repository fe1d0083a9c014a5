// A PreCompact hook for one launch (facts/claude.md §9): with status 2 for the trigger `auto` it keeps Claude Code from compacting by
// itself, which counts as no failure of its own (seen in 2.1.197, 2.1.263 and 2.1.330). Hooks of all settings run, so the user's go on beside it.
import { listAt, parseRecord, recordAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import { isBefore } from '../tested.js';
import type { NativeHold, OfficialLaunch, OfficialPlan, SettingsPort } from '../official-source.js';
import {
  countsFromItsFolder,
  givenSettings,
  managedSettings,
  ownSettings,
  switchesStatusLinesOff,
  withSettings,
} from './settings.js';

const HOOK_SECONDS = 5; // then Claude goes on without it
const SETTINGS_SINCE = '1.0.61'; // its package's code: an older one ends at --settings

export const holdNative = async (
  port: SettingsPort,
  launch: OfficialLaunch,
  { command, settings }: NativeHold,
): Promise<OfficialPlan> => {
  const { version } = launch;
  if (version !== undefined && isBefore(version, SETTINGS_SINCE))
    return leave(`its version ${version} does not know --settings: ${SETTINGS_SINCE} is the first`);
  const [given, own, managed] = await Promise.all([
    givenSettings(port, launch.args),
    ownSettings(port, launch),
    managedSettings(port, launch),
  ]);
  if (!launch.isOwnProgram) return leave('the command is not claude itself');
  if (!given) return leave('the value of --settings cannot be read as JSON');
  if (managed.some(rulesHooks)) return leave('managed settings rule over hooks');
  if (switchesStatusLinesOff([...own.user, ...own.project, given]))
    return leave('the settings switch hooks off');
  if (countsFromItsFolder(given)) return leave('--settings holds paths that count from its own folder');
  return {
    kind: 'ask',
    args: withSettings(launch.args, launch.files.settings),
    settings: JSON.stringify(withHook(parseRecord(settings ?? '') ?? given, command)),
  };
};

const leave = (reason: string): OfficialPlan => ({ kind: 'leave', reason });

const rulesHooks = (settings: JsonRecord): boolean =>
  ['disableAllHooks', 'allowManagedHooksOnly', 'strictPluginOnlyCustomization'].some(
    (key) => settings[key] !== undefined,
  );

const withHook = (settings: JsonRecord, command: string): JsonRecord => {
  const hooks = recordAt(settings, 'hooks');
  const ours = { matcher: 'auto', hooks: [{ type: 'command', command, timeout: HOOK_SECONDS }] };
  return { ...settings, hooks: { ...hooks, PreCompact: [...listAt(hooks, 'PreCompact'), ours] } };
};
