import { readFileSync } from 'node:fs';
import type { Fact } from '../../src/core/event.js';
import { startSession, stepSession } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import type { FooterView } from '../../src/core/footer-view.js';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { buildConversation } from '../../src/core/conversation/build-conversation.js';
import type { Conversation } from '../../src/core/conversation/conversation.js';
import type { ToolResult } from '../../src/core/reading.js';
import { makeWindowResults } from '../../src/session-files/window-results.js';
import type { Env } from '../../src/agents/agent.js';

/** The facts of the lines of a session file, and the parse errors among them. */
export const readLines = (
  agent: Agent,
  lines: readonly string[],
  env: Env = {},
  { now = 0, hasEnded = false }: { readonly now?: number; readonly hasEnded?: boolean } = {},
) => {
  const facts: Fact[] = [];
  const misfits: string[] = [];
  const { log } = agent;
  if (!log) throw new Error(`${agent.name} has no session file`);
  let reader = log.reader(env, { hasEnded });
  for (const line of lines) {
    const read = reader(line, now);
    reader = read.next;
    facts.push(...read.facts);
    if (read.misfit !== undefined) misfits.push(read.misfit);
  }
  return { facts, misfits };
};

/** What each line changes in the conversation. */
const readSteps = ({ log, name }: Agent, lines: readonly string[], now = 0) => {
  if (!log?.conversation) throw new Error(`no conversations of ${name} are known`);
  let reader = log.reader({}, { hasEnded: true, conversation: true });
  return lines.map((line, number) => {
    const read = reader(line, now, number);
    reader = read.next;
    const isDamaged = line.trim() !== '' && read.misfit !== undefined && !read.steps;
    return { steps: read.steps?.() ?? [], isDamaged };
  });
};

/** The conversation that these lines tell. */
export const readConversation = (agent: Agent, lines: readonly string[]): Conversation => {
  const read = readSteps(agent, lines);
  const damaged = read.filter(({ isDamaged }) => isDamaged).length;
  return { ...buildConversation(read.flatMap(({ steps }) => steps)), damaged };
};

/** The tool results in the window after these lines. */
export const readContents = (agent: Agent, lines: readonly string[]): readonly ToolResult[] => {
  const results = makeWindowResults();
  for (const { steps } of readSteps(agent, lines)) results.take(steps);
  return results.list(0);
};

export const linesOf = (agent: string, name: string): readonly string[] =>
  readFileSync(new URL(`../fixtures/logs/${agent}/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter(Boolean);

const MINUTE_LATER = 60_000; // small changes of the number are shown only after some seconds

/** The footer's rows while a session file grows, each as one line of text. */
export const footerSequence = (name: keyof typeof agents, facts: readonly Fact[]): readonly string[] => {
  const shown: string[] = [];
  let session = startSession({ agent: name, native: agents[name].nativeTrigger({}) }, 0);
  for (const fact of facts) {
    session = stepSession(session, fact, 0);
    const text = textOf(footerView(session, MINUTE_LATER));
    if (text !== shown.at(-1)) shown.push(text);
  }
  return shown;
};

const textOf = (view: FooterView): string => {
  if (view.note !== undefined) return `${view.note} ×${view.compactions}`;
  const tokens = `${view.estimated ? '~' : ''}${view.usedTokens}`;
  if (view.windowTokens === undefined) return `${tokens} of a window not known ×${view.compactions}`;
  const used = view.usedTokens === undefined ? '' : ` ${tokens}`;
  const window = `${view.windowTokens}${view.windowInferred ? '?' : ''}`;
  return `${view.usedPercent?.toFixed(1)}%${used}/${window} ${view.tier} ×${view.compactions}`;
};
