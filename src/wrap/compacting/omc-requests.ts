import { join } from 'node:path';
import { lookAtOmc } from '../../core/compaction/omc-request.js';
import type { OmcSeen } from '../../core/compaction/omc-request.js';
import type { Millis } from '../../core/reading.js';
import { readOwn } from '../../storage/state-folder.js';

const MOST_BYTES = 4 * 1024; // it has a hundred

/** Looks for a request in the session's folder each time it is called; the file is only read. */
export const omcRequests = (folder: string, onRequest: (now: Millis) => void) => {
  const path = join(folder, '.omc', 'state', 'compact-requested.json');
  let seen: OmcSeen | undefined;
  return async (now: Millis): Promise<void> => {
    const look = lookAtOmc(seen, await readOwn(path, MOST_BYTES), now);
    ({ seen } = look);
    if (look.isRequest) onRequest(now);
  };
};
