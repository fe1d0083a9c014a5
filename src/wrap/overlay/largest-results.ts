import { stat } from 'node:fs/promises';
import type { ToolResult } from '../../core/tool-result.js';
import { readSessionFile } from '../observing/read-session-file.js';
import type { WrapSession } from '../wrap-session.js';

const MOST_BYTES = 32 * 1024 * 1024; // read in about half a second, in pieces between which everything else goes on

/** What fills the window most, from the session file; undefined where no file tells. Never rejects. */
export const largestResults = async (
  { runtime, env, log }: Pick<WrapSession, 'runtime' | 'env' | 'log'>,
  path: string | undefined,
): Promise<readonly ToolResult[] | undefined> => {
  if (path === undefined || !runtime.log?.contents) return undefined;
  try {
    if ((await stat(path)).size > MOST_BYTES) return undefined;
    return (await readSessionFile({ path, runtime, env, now: Date.now() })).toolResults;
  } catch (error) {
    log.info(`the largest results cannot be read: ${String(error)}`);
    return undefined;
  }
};
