import { realpathSync } from 'node:fs';
import { text as textOf } from 'node:stream/consumers';
import type { Agent } from '../agents/agent.js';
import { agents } from '../agents/index.js';
import { findNativeHold } from '../core/compaction/policy.js';
import { parseRecord } from '../core/json.js';
import { quotePosix } from '../core/text.js';
import { readSession } from '../storage/sessions.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { Outcome } from './session.js';

// What an agent's own settings need to call ctxwrap: to be pasted by the user, for we write nothing there. A hook of ours always ends
// with status 0 and prints nothing that is not meant for the model: status 2 means "stop" to Claude Code.

const GUARD = '[ -z "$CTXWRAP_SESSION" ]'; // started without ctxwrap: nothing is done
const SESSION = '"$CTXWRAP_SESSION"'; // by name: where nobody sees this one, the only other one is not meant
const TIER = `'"tier": "(warn|auto|hard)"'`;
const SETTLED_SECONDS = 2; // after which the number of the last answer is known
const BEFORE = '"${XDG_STATE_HOME:-$HOME/.local/state}/ctxwrap/before-compaction.json"';

/** Compacts behind a turn that has reached warn; the agent does not wait for it. */
const compactFull =
  `${GUARD} || { sleep ${SETTLED_SECONDS}; ctxwrap context --json ${SESSION} | grep -Eq ${TIER} && ` +
  `ctxwrap compact --no-wait ${SESSION}; } ` +
  '</dev/null >/dev/null 2>&1 &';
const noteFill = `${GUARD} || { ctxwrap context --json ${SESSION} >${BEFORE}; } 2>/dev/null || :`;
/** What it prints is told to the model. */
const tellModel = `${GUARD} || ctxwrap context ${SESSION} 2>/dev/null || :`;

const hooksOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values<Agent>(agents).flatMap(({ name, hooks }) =>
    hooks ? [[name, hooks({ compactFull, noteFill, tellModel })] as const] : [],
  ),
);

/** Whose hooks are known. */
export const hookAgents: readonly string[] = Object.keys(hooksOf);

export const hookText = (agent: string): string => hooksOf[agent] ?? '';

/** What an agent runs before it compacts by itself: this program, whatever is on the PATH of its shell. */
export const holdCommand = (): string =>
  [process.execPath, realpathSync(process.argv[1] ?? ''), 'hold'].map(quotePosix).join(' ');

const BLOCKS = 2; // as Claude Code reads the status of a hook

/** A PreCompact hook of ours: its status keeps the agent from compacting by itself. Whatever goes wrong lets it. */
export const answerHook = async (): Promise<Outcome> => {
  const reason = await reasonToHold().catch(() => undefined);
  const [code, notices] = reason === undefined ? [0, []] : [BLOCKS, [reason]];
  return { status: { kind: 'code', code }, notices };
};

const reasonToHold = async (): Promise<string | undefined> => {
  const { env, stdin } = process;
  const asked = parseRecord(stdin.isTTY ? '' : await textOf(stdin));
  if (asked?.['trigger'] !== 'auto') return undefined; // what the user or ctxwrap has asked for
  const folder = stateFolder(env, homeFolder(env));
  return findNativeHold(await readSession(folder, env['CTXWRAP_SESSION'] ?? '', Date.now()));
};
