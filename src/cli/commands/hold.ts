import { text as textOf } from 'node:stream/consumers';
import { nativeHold } from '../../core/compaction/native-hold.js';
import { parseRecord } from '../../core/json.js';
import { homeFolder } from '../../storage/home-folder.js';
import { readSession } from '../../storage/session-records.js';
import { stateFolder } from '../../storage/state-folder.js';
import type { Outcome } from '../session.js';

const BLOCKS = 2; // as Claude Code reads the status of a hook

/** A PreCompact hook of ours: its status keeps the agent from compacting by itself. Whatever goes wrong lets it. */
export const hold = async (): Promise<Outcome> => {
  const reason = await reasonToHold().catch(() => undefined);
  const [code, notices] = reason === undefined ? [0, []] : [BLOCKS, [reason]];
  return { status: { kind: 'code', code }, notices };
};

const reasonToHold = async (): Promise<string | undefined> => {
  const { env, stdin } = process;
  const asked = parseRecord(stdin.isTTY ? '' : await textOf(stdin));
  if (asked?.['trigger'] !== 'auto') return undefined; // what the user or ctxwrap has asked for
  const folder = stateFolder(env, homeFolder(env));
  return nativeHold(await readSession(folder, env['CTXWRAP_SESSION'] ?? '', Date.now()));
};
