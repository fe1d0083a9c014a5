import { text as readAll } from 'node:stream/consumers';
import type { Agent } from '../agents/agent.js';
import { agents } from '../agents/index.js';
import { findNativeHold } from '../core/compaction/policy.js';
import { parseRecord } from '../core/json.js';
import { readSession } from '../storage/sessions.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { Outcome } from './session.js';

// Snippets for an agent's own settings that call ctxwrap. The user pastes them; ctxwrap never edits those files. A hook always exits with
// status 0, because 2 means "stop" to Claude Code, and prints nothing that the model should not read.

const GUARD = '[ -z "$CTXWRAP_SESSION" ]'; // does nothing when the agent was started without ctxwrap
const SESSION = '"$CTXWRAP_SESSION"'; // by id, so that a hook never means another session
const TIER = `'"tier": "(warn|auto|hard)"'`;
const SETTLED_SECONDS = 2; // by then the number of the last answer is known
const BEFORE = '"${XDG_STATE_HOME:-$HOME/.local/state}/ctxwrap/before-compaction.json"';

/** Compacts after a turn that has reached warn; the agent does not wait for it. */
const compactFull =
  `${GUARD} || { sleep ${SETTLED_SECONDS}; ctxwrap context --json ${SESSION} | grep -Eq ${TIER} && ` +
  `ctxwrap compact --no-wait ${SESSION}; } ` +
  '</dev/null >/dev/null 2>&1 &';
const noteFill = `${GUARD} || { ctxwrap context --json ${SESSION} >${BEFORE}; } 2>/dev/null || :`;
/** The agent passes the output to the model. */
const tellModel = `${GUARD} || ctxwrap context ${SESSION} 2>/dev/null || :`;

const hooksOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values<Agent>(agents).flatMap(({ name, hooks }) =>
    hooks ? [[name, hooks({ compactFull, noteFill, tellModel })] as const] : [],
  ),
);

/** Agents whose hooks are known. */
export const hookAgents: readonly string[] = Object.keys(hooksOf);

export const hookText = (agent: string): string => hooksOf[agent] ?? '';

const BLOCKS = 2; // Claude Code reads this exit status as "block"

/** Answers Claude's PreCompact hook: the exit status keeps the agent from compacting by itself. On any error the agent may compact. */
export const answerHook = async (): Promise<Outcome> => {
  const reason = await reasonToHold().catch(() => undefined);
  const [code, notices] = reason === undefined ? [0, []] : [BLOCKS, [reason]];
  return { status: { kind: 'code', code }, notices };
};

const reasonToHold = async (): Promise<string | undefined> => {
  const { env, stdin } = process;
  const asked = parseRecord(stdin.isTTY ? '' : await readAll(stdin));
  if (asked?.['trigger'] !== 'auto') return undefined; // the user or ctxwrap asked for it
  const folder = stateFolder(env, homeFolder(env));
  return findNativeHold(await readSession(folder, env['CTXWRAP_SESSION'] ?? '', Date.now()));
};
