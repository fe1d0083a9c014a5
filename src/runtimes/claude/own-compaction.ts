// What Claude Code's settings say of where it compacts by itself (facts/claude.md §6, §10). It reads them again while it runs.
import { posix } from 'node:path';
import { isRecord, recordAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { OwnCompactionSource, OwnSetting, PlacedSettings, SettingsPlace } from '../own-compaction.js';
import type { Env } from '../place.js';
import { modelKey } from './models.js';
import { parseSettings, settingsInOrder } from './settings.js';
import { clampedWindow, nativeTrigger } from './window.js';
import type { OwnWindows } from './window.js';

export const claudeCompaction: OwnCompactionSource = {
  read: async (port, where) => {
    const legacy = legacyFile(where);
    const files = await settingsInOrder(port, where);
    const state = await port.text(legacy);
    const { env, places } = effectiveEnv(where.env, files);
    const said = moving
      .filter((name) => env[name] !== undefined)
      .map((name): OwnSetting => ({ name, value: env[name] ?? '', place: places[name] ?? ENVIRONMENT }));
    // it is large, is written after every turn, and seldom says anything of this
    const old = state?.includes(SWITCH) ? (parseSettings(state) ?? {}) : {};
    const switched = switchOf([{ place: legacy, settings: old }, ...files]);
    if (switched?.value === 'false') return { trigger: undefined, said: [switched, ...said] };
    const windows = windowsIn(files);
    return { trigger: nativeTrigger(env, windows), said: [...said, ...windows.said] };
  },
};

const ENVIRONMENT = 'the environment';
const SWITCH = 'autoCompactEnabled';

// Environment variables that move it; the last of what the settings files put into the environment counts before what is there.
const moving = [
  'DISABLE_COMPACT',
  'DISABLE_AUTO_COMPACT',
  'CLAUDE_CODE_AUTO_COMPACT_WINDOW',
  'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE',
  'CLAUDE_CODE_MAX_OUTPUT_TOKENS',
];

const effectiveEnv = (env: Env, files: readonly PlacedSettings[]) => {
  const added = files.flatMap(({ place, settings }) =>
    Object.entries(recordAt(settings, 'env') ?? {}).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [{ name, value: String(value), place }] : [],
    ),
  );
  const all: Record<string, string | undefined> = { ...env };
  const places: Record<string, string> = {};
  for (const { name, value, place } of added.filter((each) => moving.includes(each.name))) {
    all[name] = value;
    places[name] = place;
  }
  return { env: all, places };
};

// Older versions keep it beside the settings; a settings file comes before that.
const legacyFile = ({ env, home }: SettingsPlace): string =>
  posix.join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json');

const switchOf = (files: readonly PlacedSettings[]): OwnSetting | undefined => {
  const found = files.findLast(({ settings }) => typeof settings[SWITCH] === 'boolean');
  return found && { name: SWITCH, value: String(found.settings[SWITCH]), place: found.place };
};

/** In each file a model's own window replaces the one for all; the strongest file that says anything of either counts. */
const windowsIn = (
  files: readonly PlacedSettings[],
): OwnWindows & { readonly said: readonly OwnSetting[] } => {
  const name = 'autoCompactWindow';
  let all: number | undefined;
  let byModel: Record<string, number> = {};
  let said: readonly OwnSetting[] = [];
  for (const { place, settings } of files) {
    const whole = settings[name];
    if (whole === 'auto' || isWindow(whole)) {
      all = isWindow(whole) ? clampedWindow(whole) : undefined;
      byModel = {};
      said = isWindow(whole) ? [{ name, value: String(whole), place }] : [];
    }
    for (const [model, window] of ownOfModels(settings, name)) {
      byModel = { ...byModel, [modelKey(model)]: clampedWindow(window) };
      said = [...said, { name: `${name} of ${model}`, value: String(window), place }];
    }
  }
  return { ...(all === undefined ? {} : { all }), byModel, said };
};

const isWindow = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

const ownOfModels = (settings: JsonRecord, name: string): readonly (readonly [string, number])[] =>
  Object.entries(recordAt(settings, 'modelSettings') ?? {}).flatMap(([model, own]) => {
    const window = isRecord(own) ? own[name] : undefined;
    return isWindow(window) ? [[model, window] as const] : [];
  });
