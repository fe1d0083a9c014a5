// Qwen's own compaction (facts/qwen.md): `context.autoCompactThreshold` of the window, or what it keeps free for the summary and itself.
import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/native.js';
import { commentedRecord, lastNumber, placedSettings } from '../own-compaction.js';
import type { OwnCompactionSource } from '../own-compaction.js';
import { DEFAULT_AUTO_SHARE, OWN_FREE_TOKENS } from './ladder.js';
import { qwenFolder } from './paths.js';

/** It acts at the lower one of the two. */
const triggerAt = (share: number): NativeTrigger => ({
  share,
  reserveTokens: 0,
  leastFreeTokens: OWN_FREE_TOKENS,
});

export const usualTrigger = triggerAt(DEFAULT_AUTO_SHARE);

export const qwenCompaction: OwnCompactionSource = {
  isReadOnce: true, // its package's code (0.24.4), although its settings say that this one needs no restart
  read: async (port, where) => {
    const { env, cwd } = where;
    const paths = [
      env['QWEN_CODE_SYSTEM_DEFAULTS_PATH'] || '/etc/qwen-code/system-defaults.json',
      posix.join(qwenFolder(where), 'settings.json'),
      posix.join(cwd, '.qwen', 'settings.json'),
      env['QWEN_CODE_SYSTEM_SETTINGS_PATH'] || '/etc/qwen-code/settings.json',
    ];
    const files = await placedSettings(port, paths, commentedRecord);
    const found = lastNumber(files, ['context.autoCompactThreshold'], (share) => share > 0 && share <= 1);
    if (!found) return { trigger: usualTrigger, said: [] };
    const { number: share, ...setting } = found;
    return { trigger: triggerAt(share), said: [setting] };
  },
};
