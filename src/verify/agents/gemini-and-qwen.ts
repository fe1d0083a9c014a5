// Qwen Code began as Gemini CLI, and much of it is the same.
import { ENTER, type TriedAgent } from './agent.js';

type Common = Pick<TriedAgent, 'compact' | 'strokes' | 'ready' | 'dialog'>;

export const common: Common = {
  compact: '/compress',
  strokes: ['/compress', ENTER],
  ready: /Type your message|Press '(?:Esc|i)' for/,
  dialog: /Allow execution of/,
};

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
