import { realpathSync } from 'node:fs';
import { posixWord } from '../../core/shell-word.js';

/** What an agent runs before it compacts by itself: this program, whatever is on the PATH of its shell. */
export const holdCommand = (): string =>
  [process.execPath, realpathSync(process.argv[1] ?? ''), 'hold'].map(posixWord).join(' ');
