import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { startSession, stepSession } from '../../src/core/session.js';
import type { View } from '../../src/core/shown-conversation.js';
import { footerView } from '../../src/core/footer-view.js';
import { demoReader } from '../../src/agents/demo/session.js';
import { agents } from '../../src/agents/index.js';
import type { Located, Agent } from '../../src/agents/agent.js';
import { followSession } from '../../src/worker/follow-session.js';
import { linesOf } from '../support/read-log.js';
import type { Env, ChildPlace } from '../../src/agents/agent.js';

const WAIT = { timeout: 20_000, interval: 20 };
const CWD = '/proj/app';

let home: string;
let stops: (() => void)[];
let startedAt: number;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'follow-'));
  stops = [];
  startedAt = Date.now();
});
afterEach(() => {
  vi.useRealTimers();
  for (const stop of stops) stop();
  rmSync(home, { recursive: true });
});

const put = (path: string, text: string): string => {
  const full = join(home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
};

/** Follows a session file like the wrapper: all events go through the core, and `shown` is the footer. */
const follow = (
  agent: Agent,
  options: {
    env?: Env;
    onFact?: (event: Event) => void;
    enteredAt?: () => number | undefined;
    enteredSince?: () => number | undefined;
  } = {},
) => {
  const events: Event[] = [];
  const problems: string[] = [];
  let session = startSession({ agent: agent.name }, startedAt);
  const happen = (event: Event): void => {
    events.push(event);
    session = stepSession(session, event, 0);
    options.onFact?.(event);
  };
  const { stop, see: seeView } = followSession({
    agent: agent,
    childPid: process.pid,
    cwd: CWD,
    home,
    env: options.env ?? {},
    args: [],
    startedAt,
    now: Date.now,
    enteredAt: options.enteredAt ?? Date.now,
    ...(options.enteredSince ? { enteredSince: options.enteredSince } : {}),
    onFact: happen,
    onProblem: (reason) => {
      problems.push(reason);
      session = stepSession(session, { type: 'source-problem', reason }, 0);
    },
  });
  stops.push(stop);
  const shown = (): string => {
    const { usedTokens, compactions, note } = footerView(session, 60_000); // small changes of the number are shown only after some seconds
    return `${note ?? usedTokens} ×${compactions}`;
  };
  const see = (view: View, isSame = false): void => {
    happen({ type: 'view', view, ...(isSame ? { isSame } : {}) });
    seeView(view, isSame);
  };
  return { events, problems, shown, stop, see };
};

describe('following a claude session', () => {
  const SESSION = '11111111-2222-4333-8444-555555555555';
  const SECOND = '22222222-2222-4333-8444-555555555555';
  const inSession = (sessionId: string) =>
    put(`.claude/sessions/${process.pid}.json`, JSON.stringify({ sessionId, cwd: CWD, startedAt }));
  const file = (sessionId: string, text: string) =>
    put(`.claude/projects/-proj-app/${sessionId}.jsonl`, text);
  const turn = (input_tokens: number) =>
    `${JSON.stringify({ type: 'assistant', timestamp: new Date().toISOString(), message: { model: 'claude-haiku-4-5', usage: { input_tokens } } })}\n`;
  const boundary = () =>
    `${JSON.stringify({ type: 'system', subtype: 'compact_boundary', timestamp: new Date().toISOString(), compactMetadata: { trigger: 'auto' } })}\n`;

  it('shows each turn, a compaction, and starts again after /clear', async () => {
    inSession(SESSION);
    const { shown, events } = follow(agents.claude);
    await vi.waitFor(
      () => expect(events).toEqual([{ type: 'session-changed', sessionId: SESSION, isCertain: true }]),
      WAIT,
    );
    const path = file(SESSION, turn(1_000));
    await expect.poll(shown, WAIT).toBe('1000 ×0');
    appendFileSync(path, turn(2_000) + boundary());
    await expect.poll(shown, WAIT).toBe('size pending ×1');
    appendFileSync(path, turn(500));
    await expect.poll(shown, WAIT).toBe('500 ×1');
    inSession(SECOND);
    await expect.poll(shown, WAIT).toBe('waiting for the first turn ×1');
    file(SECOND, turn(300));
    await expect.poll(shown, WAIT).toBe('300 ×1');
    appendFileSync(path, turn(9_999)); // the previous file is not followed any more
    inSession(SESSION); // resumed: its old compaction is not counted again
    await expect.poll(shown, WAIT).toBe('9999 ×1');
  });

  it('follows nothing while the list of agents is shown, and behind it the session that is in view', async () => {
    inSession(SESSION);
    const own = file(SESSION, turn(1_000));
    const job = { kind: 'bg', sessionId: SECOND, jobId: 'x', name: 'docs', pid: 1, cwd: CWD };
    put('.claude/sessions/1.json', JSON.stringify(job));
    const path = file(SECOND, turn(300));
    const { shown, see } = follow(agents.claude);
    await expect.poll(shown, WAIT).toBe('1000 ×0');
    const parked = { sessionId: SESSION, cwd: CWD, startedAt, parkedJobId: 'x' };
    put(`.claude/sessions/${process.pid}.json`, JSON.stringify(parked));
    see({ shows: 'list', name: 'the list of agents' });
    expect(shown()).toBe('the list of agents ×0');
    appendFileSync(own, turn(2_000));
    see({ shows: 'conversation', names: [], messages: [] });
    expect(shown()).toBe('looking for this conversation ×0');
    see({ shows: 'conversation', names: ['docs'], messages: [] }, true);
    await expect.poll(shown, WAIT).toBe('300 ×0');
    appendFileSync(path, turn(400));
    await expect.poll(shown, WAIT).toBe('400 ×0');
  });

  it('counts a compaction that is written after the wall clock was set back', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    inSession(SESSION);
    const { shown } = follow(agents.claude);
    const path = file(SESSION, turn(1_000));
    await expect.poll(shown, WAIT).toBe('1000 ×0');
    vi.setSystemTime(Date.now() - 3_600_000);
    appendFileSync(path, boundary() + turn(500));
    await expect.poll(shown, WAIT).toBe('500 ×1');
  });

  it('gives one reading for a resumed session and counts none of its old compactions', async () => {
    inSession(SESSION);
    file(SESSION, linesOf('claude', 'session-with-compaction.jsonl').join('\n') + '\n');
    const { shown, events } = follow(agents.claude);
    await expect.poll(shown, WAIT).toBe('131003 ×0');
    const types = events.map((event) => event.type);
    expect(types).toEqual(['session-changed', 'reading', 'cache', 'agent-version']);
  });

  it('says that there is no reading in a file of an unknown shape, and recovers', async () => {
    inSession(SESSION);
    const path = file(SESSION, '{"hello":"world"}\n');
    const { shown, problems } = follow(agents.claude);
    await expect.poll(shown, WAIT).toBe('no reading ×0');
    expect(problems).toEqual([`${path}: not a Claude record`]);
    appendFileSync(path, turn(700));
    await expect.poll(shown, WAIT).toBe('700 ×0');
  });

  it('ignores one broken line in a file it understands', async () => {
    inSession(SESSION);
    const path = file(SESSION, `${turn(1)}{"type":"assistant","mess\n${turn(2)}{"torn\n`);
    const { shown, problems } = follow(agents.claude);
    await expect.poll(shown, WAIT).toBe('2 ×0');
    appendFileSync(path, turn(3));
    await expect.poll(shown, WAIT).toBe('3 ×0');
    expect(problems).toEqual([]);
  });

  it('says that a file which vanished cannot be read', async () => {
    inSession(SESSION);
    const path = file(SESSION, turn(5));
    const { shown } = follow(agents.claude);
    await expect.poll(shown, WAIT).toBe('5 ×0');
    rmSync(path);
    await expect.poll(shown, WAIT).toBe('no reading ×0');
  });

  it('continues when a listener throws', async () => {
    inSession(SESSION);
    const path = file(SESSION, turn(5));
    const { problems, events } = follow(agents.claude, {
      onFact: () => {
        throw new Error('the caller is broken');
      },
    });
    const readings = () => events.filter(({ type }) => type === 'reading').length;
    await expect.poll(readings, WAIT).toBe(1);
    expect(problems.join()).toContain('the caller is broken');
    appendFileSync(path, turn(6));
    await expect.poll(readings, WAIT).toBe(2);
  });

  it('says nothing after it was stopped', async () => {
    inSession(SESSION);
    const path = file(SESSION, turn(5));
    const stopped = follow(agents.claude);
    await expect.poll(stopped.shown, WAIT).toBe('5 ×0');
    stopped.stop();
    const other = follow(agents.claude);
    appendFileSync(path, turn(6));
    await expect.poll(other.shown, WAIT).toBe('6 ×0');
    expect(stopped.shown()).toBe('5 ×0');
  });
});

describe('following a gemini session', () => {
  const lines = linesOf('gemini', 'manual-compaction.jsonl').map((line) => `${line}\n`);

  it('finds the chat made at the first turn and shows it as it grows', async () => {
    put('.gemini/projects.json', JSON.stringify({ projects: { [CWD]: 'app' } }));
    const { shown } = follow(agents.gemini);
    const begun = `"startTime":"${new Date().toISOString()}"`;
    const path = put(
      '.gemini/tmp/app/chats/session-2026-11-21T08-41-60f4dd20.jsonl',
      lines
        .slice(0, 6)
        .join('')
        .replace(/"startTime":"[^"]+"/, begun),
    );
    await expect.poll(shown, WAIT).toBe('300000 ×0');
    appendFileSync(path, lines.slice(6, 10).join(''));
    await expect.poll(shown, WAIT).toBe('310000 ×0');
    appendFileSync(path, lines.slice(10).join(''));
    // The recording is older than this start: its compaction voids the number and does not belong to this session.
    await expect.poll(shown, WAIT).toBe('size pending ×0');
  });

  it('reads the document of an old version again whenever it is written anew', async () => {
    put('.gemini/projects.json', JSON.stringify({ projects: { [CWD]: 'app' } }));
    const write = (...counts: readonly number[]): void => {
      const messages = counts.map((input) => ({ type: 'gemini', tokens: { input }, model: 'm' }));
      put(
        '.gemini/tmp/app/chats/session-2025-01-01T00-00-60f4dd20.json',
        JSON.stringify({ sessionId: 'x', messages }, null, 2),
      );
    };
    write(4_000);
    const { shown } = follow(agents.gemini);
    await expect.poll(shown, WAIT).toBe('4000 ×0');
    write(4_000, 5_000);
    await expect.poll(shown, WAIT).toBe('5000 ×0');
  });
});

describe('following a codex session', () => {
  it('of a background server finds the rollout in which Enter here began a turn, and shows its last number', async () => {
    const text = readFileSync(new URL('../fixtures/logs/codex/compactions.jsonl', import.meta.url), 'utf8');
    const day = new Date(startedAt).toISOString().slice(0, 10).replaceAll('-', '/');
    const enteredAt = Date.now() - 3_000;
    const timestamp = new Date(enteredAt + 30).toISOString();
    const begun = { timestamp, type: 'event_msg', payload: { type: 'task_started' } };
    put('.codex/app-server-control/app-server-control.sock', '');
    put(
      `.codex/sessions/${day}/rollout-x-01a1fd1c-f01b-7b00-a700-c9e1017aceb1.jsonl`,
      `${text}${JSON.stringify(begun)}\n`,
    );
    const { shown } = follow(agents.codex, { enteredAt: () => enteredAt });
    await expect.poll(shown, WAIT).toBe('15050 ×0');
  });
});

describe('following a guess', () => {
  const turn = (usedTokens: number): string =>
    `${JSON.stringify({ type: 'turn', usedTokens, windowTokens: 10_000 })}\n`;

  it('leaves its file only after Enter, or the session of another terminal would be shown', async () => {
    let found: Located = { sessionId: 'a', path: put('a', turn(1_000)), certain: false };
    let looks = 0;
    let enteredAt: number | undefined;
    const locate = async () => {
      looks++;
      return found;
    };
    const agent = { ...agents.generic, log: { locate, reader: demoReader } };
    const { shown } = follow(agent, { enteredAt: () => enteredAt });
    await expect.poll(shown, WAIT).toBe('1000 ×0');
    enteredAt = Date.now() - 60_000;
    found = { sessionId: 'b', path: put('b', turn(2_000)), certain: false, writtenAt: Date.now() };
    const before = looks;
    await expect.poll(() => looks, WAIT).toBeGreaterThan(before + 1);
    appendFileSync(join(home, 'a'), turn(1_500));
    await expect.poll(shown, WAIT).toBe('1500 ×0');
    enteredAt = Date.now() + 60_000; // a file written before the key is not the agent's work either
    const later = looks;
    await expect.poll(() => looks, WAIT).toBeGreaterThan(later + 1);
    expect(shown()).toBe('1500 ×0');
    enteredAt = Date.now();
    found = { ...found, writtenAt: enteredAt + 50 };
    await expect.poll(shown, WAIT).toBe('2000 ×0');
  });

  it('takes a session whose message came between two Enters that were pressed quickly', async () => {
    let found: Located = { sessionId: 'a', path: put('a', turn(1_000)), certain: false };
    let enters: readonly number[] = [];
    const agent = { ...agents.generic, log: { locate: async () => found, reader: demoReader } };
    const { shown } = follow(agent, { enteredAt: () => enters[1], enteredSince: () => enters[0] });
    await expect.poll(shown, WAIT).toBe('1000 ×0');
    const at = Date.now();
    enters = [at - 1_000, at];
    found = { sessionId: 'b', path: put('b', turn(2_000)), certain: false, writtenAt: at - 900 };
    await expect.poll(shown, WAIT).toBe('2000 ×0');
  });

  it('passes the time of the last Enter to the search', async () => {
    const seen: unknown[] = [];
    const locate = async (_: unknown, { enteredAt }: ChildPlace) => {
      seen.push(enteredAt);
      return undefined;
    };
    let enteredAt: number | undefined;
    follow({ ...agents.generic, log: { locate, reader: demoReader } }, { enteredAt: () => enteredAt });
    await expect.poll(() => seen.at(-1), WAIT).toBeUndefined();
    enteredAt = Date.now();
    await expect.poll(() => seen.at(-1), WAIT).toBe(enteredAt);
  });
});

describe('following others', () => {
  it('shows the demo agent as soon as its file is there', async () => {
    const path = join(home, 'demo.jsonl');
    const { shown } = follow(agents.demo, { env: { CTXWRAP_DEMO_LOG: path } });
    writeFileSync(path, '{"type":"turn","usedTokens":20000,"windowTokens":32000,"at":1}\n');
    await expect.poll(shown, WAIT).toBe('20000 ×0');
    const compaction = { type: 'compaction', trigger: 'user', at: startedAt + 1 };
    appendFileSync(path, `${JSON.stringify(compaction)}\n`);
    await expect.poll(shown, WAIT).toBe('size pending ×1');
  });

  it('does nothing for a command it knows nothing about', () => {
    const { events, stop } = follow(agents.generic);
    stop();
    expect(events).toEqual([]);
  });
});
