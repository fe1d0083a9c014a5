// Qwen Code began as Gemini CLI, and a user gets about in it in the same way.
import { BACKSPACE, ctrl, ENTER, ESC, type LabAgent, type Place, type PlaceName } from './agent.js';

type Shared = Pick<LabAgent, 'compact' | 'strokes' | 'clear' | 'ready' | 'dialog'>;

export const shared: Shared = {
  compact: '/compress',
  strokes: ['/compress', ENTER],
  clear: '/clear',
  ready: /Type your message|Press '(?:Esc|i)' for/,
  dialog: /Allow execution of/,
};

export const sharedPlaces = {
  'slash popup': { keys: ['/'], shows: /^\s*\/?\w+ {2,}\S/m, back: [BACKSPACE] },
  'model picker': { keys: ['/model', ENTER], shows: /Select Model/i, back: [ESC] },
  rewind: { keys: [ESC, ESC], shows: /Rewind/, back: [ESC] },
  'history search': { keys: [ctrl('r')], shows: /\(r:\)/, back: [ESC] },
  'shell mode': { keys: ['!'], shows: /shell mode/i, back: [ESC] },
} as const satisfies Partial<Record<PlaceName, Place>>;

/** The settings file, for a start that asks nothing and tells nobody. */
export const settingsOf = (
  selectedType: string,
  { general, ...more }: { readonly general: object } & Readonly<Record<string, object>>,
): string =>
  JSON.stringify({
    security: { auth: { selectedType }, folderTrust: { enabled: false } },
    telemetry: { enabled: false },
    privacy: { usageStatisticsEnabled: false },
    general: { enableAutoUpdate: false, ...general },
    ide: { enabled: false, hasSeenNudge: true },
    ...more,
  });
