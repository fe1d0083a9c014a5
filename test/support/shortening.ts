// A session of thirty turns, and what shortens it while an agent that is made up goes on with what it is told.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { readConversation } from './read-log.js';
import { SESSION_ENDED } from '../../src/core/compaction/requests.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { windowOf, type Conversation } from '../../src/core/conversation/conversation.js';
import type { Event } from '../../src/core/event.js';
import { makeShortener, type ShortenerParts } from '../../src/typing/shortener.js';
import type { SwitchResult, SwitchTo } from '../../src/typing/switcher.js';
import { actionContext, type GivenContext } from './action-context.js';
import { conversationOf, type Turn } from './generated-conversation.js';
import type { RestingSession } from './session-loop.js';

export const OLD = '0a0a0a0a-0000-4000-8000-000000000001';

const turns: readonly Turn[] = Array.from({ length: 30 }, (_, index) => ({
  prompt: `question ${index}`,
  actions: [{ does: 'answers', text: `answer ${index}. ${'so it is. '.repeat(200)}` }],
}));

/** A session file of thirty turns. */
export const writeSession = (folder: string, agent: Agent = agents.claude): string => {
  let count = 0;
  const lines = agent.newSessions?.write(conversationOf(turns), {
    id: OLD,
    cwd: '/proj',
    now: 1,
    newUuid: () => `00000000-0000-4000-8000-${String((count += 1)).padStart(12, '0')}`,
  });
  const path = join(folder, `${OLD}.jsonl`);
  writeFileSync(path, `${lines?.join('\n')}\n`);
  return path;
};

export const readSession = (folder: string, name: string): Conversation => {
  const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .split('\n')
    .filter(Boolean);
  return readConversation(agents.claude, lines);
};

export const promptsIn = (conversation: Conversation): readonly string[] =>
  windowOf(conversation).flatMap((entry) => (entry.kind === 'prompt' ? [entry.text] : []));

export interface ShorteningParts {
  readonly folder: string;
  readonly loop: RestingSession;
  readonly events: Event[];
}

export interface ShorteningChange extends Partial<ShortenerParts>, Partial<GivenContext> {}

/** `names` are those that the agent was told to go on with. */
export const openShortening = (
  { folder, loop, events }: ShorteningParts,
  { switchTo, summarise, restarter, session, ...more }: ShorteningChange = {},
  result: SwitchResult = { kind: 'switched' },
) => {
  const path = writeSession(folder);
  const before = readFileSync(path);
  const names: string[] = [];
  const end = new AbortController();
  const context = actionContext({
    session: { agent: agents.claude, values: { ...defaultValues, keepRecent: 3 }, ...session },
    flow: loop.flow,
    sessionFile: () => path,
    take: (event) => events.push(event),
    ended: end.signal,
    ...more,
  });
  const switching: SwitchTo = async (name, { gate }) => {
    names.push(name);
    await gate?.begin();
    return result;
  };
  const shortener = makeShortener(context, { switchTo: switchTo ?? switching, summarise, restarter });
  /** the old session is as it was, and there is no half-written file */
  const isUntouched = (): boolean =>
    readFileSync(path).equals(before) && readdirSync(folder).every((name) => !name.includes('.tmp'));
  /** the child has ended */
  const stop = (): void => end.abort(SESSION_ENDED);
  return { shortener, names, isUntouched, stop };
};

export const wait = { signal: new AbortController().signal };

export const asked = { strategy: 'truncate', budgetTokens: 4_000 };
