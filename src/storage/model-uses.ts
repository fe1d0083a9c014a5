import { join } from 'node:path';
import { jsonText } from '../core/printable.js';
import { addModelUse, modelUsesRecord, parseModelUses, type ModelUse } from '../core/report/model-uses.js';
import { ensureFolder, readOwnFile, writeAtomic } from './state-folder.js';

// The models that agents ran with, in `models.json` in the state folder. Two sessions that write at the same moment lose one of the two
// entries until that model is used again.

const NAME = 'models.json';
const MAX_BYTES = 256 * 1024;

/** Empty if there is no file, or it is broken or another user's. Read-only. */
export const readModelUses = async (stateFolder: string): Promise<readonly ModelUse[]> => {
  const text = await readOwnFile(join(stateFolder, NAME), MAX_BYTES);
  return text === undefined ? [] : parseModelUses(text);
};

/** Adds these uses, the last one as the newest. Rejects if writing fails. */
export const writeModelUses = async (stateFolder: string, uses: readonly ModelUse[]): Promise<void> => {
  const folder = await ensureFolder(stateFolder);
  const all = uses.reduce(addModelUse, await readModelUses(folder));
  await writeAtomic(join(folder, NAME), jsonText(modelUsesRecord(all), 1));
};
