// Gemini's own compaction (facts/gemini.md §6.2): `model.compressionThreshold` of the window, 0.5 unless the user set it.
import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/native.js';
import { commentedRecord, lastNumber, placedSettings } from '../own-compaction.js';
import type { OwnCompactionSource } from '../own-compaction.js';
import { geminiFolder } from './paths.js';

export const usualTrigger: NativeTrigger = { share: 0.5, reserveTokens: 0 };

// the name of today, and those of older versions
const NAMES = [
  'chatCompression.contextPercentageThreshold',
  'model.chatCompression.contextPercentageThreshold',
  'model.compressionThreshold',
];

export const geminiCompaction: OwnCompactionSource = {
  isReadOnce: true,
  read: async (port, where) => {
    const { env, cwd } = where;
    const paths = [
      env['GEMINI_CLI_SYSTEM_DEFAULTS_PATH'] || '/etc/gemini-cli/system-defaults.json',
      posix.join(geminiFolder(where), 'settings.json'),
      posix.join(cwd, '.gemini', 'settings.json'),
      env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] || '/etc/gemini-cli/settings.json',
    ];
    const files = await placedSettings(port, paths, commentedRecord);
    const found = lastNumber(files, NAMES, (share) => Number.isFinite(share) && share >= 0);
    if (!found || found.number === 0) return { trigger: usualTrigger, said: [] }; // 0 counts as nothing said
    const { number: share, ...setting } = found;
    return { trigger: share < 1 ? { share, reserveTokens: 0 } : undefined, said: [setting] };
  },
};
