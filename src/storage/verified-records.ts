// What the user has tried with `ctxwrap verify`: `verified/<agent>-<version>.json` in the state folder, the last try of each version.
import { join } from 'node:path';
import { parseVerifiedRecord, verifiedName } from '../core/verified-record.js';
import type { VerifiedRecord } from '../core/verified-record.js';
import { ensureFolder, readOwn, writeAtomic } from './state-folder.js';

const FOLDER = 'verified';
const MOST_BYTES = 64 * 1024;

/** Gives the path. Rejects for a version that can be no name of a file, and where nothing can be written. */
export const writeVerified = async (stateFolder: string, record: VerifiedRecord): Promise<string> => {
  const name = verifiedName(record.agent, record.agentVersion);
  if (name === undefined) throw new Error(`"${record.agentVersion}" is no version`);
  const path = join(await ensureFolder(stateFolder, FOLDER), `${name}.json`);
  await writeAtomic(path, `${JSON.stringify(record, undefined, 1)}\n`);
  return path;
};

/** Undefined where this version was not tried, and for a file that is broken, foreign or of another version. Nothing is made or changed. */
export const readVerified = async (
  stateFolder: string,
  agent: string,
  agentVersion: string,
): Promise<VerifiedRecord | undefined> => {
  const name = verifiedName(agent, agentVersion);
  if (name === undefined) return undefined;
  const text = await readOwn(join(stateFolder, FOLDER, `${name}.json`), MOST_BYTES);
  const record = text === undefined ? undefined : parseVerifiedRecord(text);
  return record?.agent === agent && record.agentVersion === agentVersion ? record : undefined;
};
