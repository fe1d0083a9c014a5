// A running agent goes on with another session by its own command, typed only where nothing else can be meant by the keys.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Agent, Switching } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import type { Event } from '../../src/core/event.js';
import type { Activity } from '../../src/core/reading.js';
import { SESSION_ENDED } from '../../src/core/compaction/requests.js';
import { makeGoBack, makeSwitcher, type SwitchResult } from '../../src/typing/switcher.js';
import { makeUndo } from '../../src/typing/undo.js';
import { actionContext, type GivenContext } from '../support/action-context.js';
import { linesOf } from '../support/read-log.js';
import { openSessionLoop, type RestingSession } from '../support/session-loop.js';
import { inSession } from '../support/sessions.js';
import { makeAgent, typed } from '../support/typed-agent.js';
import type { SessionLoop } from '../../src/session/ports.js';

const WAIT = { timeout: 30_000, interval: 20 };
const byId: Switching = { command: (id) => `/resume ${id}` };

let loop: RestingSession;
let folder: string;
let audit: unknown[];
let events: Event[];
let entered: number[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-switcher-'));
  [audit, events, entered] = [[], [], []];
  loop = openSessionLoop('the-old');
});
afterEach(() => {
  loop.stop();
  rmSync(folder, { recursive: true });
});

const becomes = (activity: Activity): Event => loop.becomes(activity);

interface Opened extends Partial<GivenContext> {
  readonly switching?: Switching | undefined;
}

const open = ({ switching = byId, ...more }: Opened = {}, start: Parameters<typeof makeAgent>[0] = {}) => {
  const agent = makeAgent(start);
  const { newSessions } = agents.claude;
  const end = new AbortController();
  const switchTo = makeSwitcher(
    actionContext({
      ended: end.signal,
      session: {
        agent: {
          ...agents.claude,
          recipe: () => typed,
          ...(newSessions && { newSessions: { ...newSessions, switching } }),
        },
      },
      port: agent.port,
      flow: loop.flow,
      onEntered: (at) => entered.push(at),
      take: (event) => events.push(event),
      publisher: {
        beginAction: () => audit.push('begin'),
        endSwitch: (name, result) => audit.push([name, result?.kind]),
      },
      ...more,
    }),
  );
  return { agent, switchTo, stop: () => end.abort(SESSION_ENDED) };
};

const never = { signal: new AbortController().signal };

describe.sequential('a switch', () => {
  it('types the command once the agent is at rest, and counts when the agent has the other conversation', async () => {
    const { agent, switchTo } = open();
    agent.state.onWrite = (keys) => {
      if (keys === '\r') loop.take(inSession('the-new'));
    };
    expect(await switchTo('the-new', never)).toEqual({ kind: 'switched' });
    expect(agent.state.submitted).toEqual(['/resume the-new']);
    expect(entered).toHaveLength(1);
    expect(audit).toEqual(['begin', ['the-new', 'switched']]);
    expect(events).toEqual([{ type: 'postpone' }]); // the window is full again
  });

  it.each(['dialog', 'busy', 'draft', 'compacting', 'unknown'] as const)(
    'types nothing while the agent is %s, and can be withdrawn',
    async (activity) => {
      const { agent, switchTo } = open();
      becomes(activity);
      const withdrawal = new AbortController();
      const switching = switchTo('the-new', withdrawal);
      expect(await switchTo('another', never)).toEqual({
        kind: 'refused',
        reason: 'another change of the session is already waiting',
      });
      withdrawal.abort();
      expect(await switching).toEqual({ kind: 'refused', reason: 'withdrawn' });
      expect(agent.state.written).toEqual([]);
      expect(audit).toEqual([]);
    },
  );

  it('waits until another command is typed, and keeps the compact command waiting meanwhile', async () => {
    const { agent } = open();
    const endTurn = agent.port.takeTurn();
    let looked = 0;
    const flow = (): ReturnType<SessionLoop['flow']> => {
      looked += 1;
      return loop.flow();
    };
    const waiting = open({ flow, port: agent.port });
    const switching = waiting.switchTo('the-new', never);
    await vi.waitFor(
      () => expect(loop.flow().now - loop.flow().session.activitySince).toBeGreaterThan(2_500),
      WAIT,
    );
    const before = looked;
    await vi.waitFor(() => expect(looked).toBeGreaterThan(before + 2), WAIT);
    expect(agent.state.written).toEqual([]);
    agent.state.onWrite = (keys) => {
      expect(agent.port.takeTurn()).toBeUndefined();
      if (keys === '\r') loop.take(inSession('the-new'));
    };
    endTurn?.();
    expect(await switching).toEqual({ kind: 'switched' });
    expect(agent.port.takeTurn()).toBeDefined();
  });

  it('of which only a part arrives is taken back, and told as refused', async () => {
    const { agent, switchTo } = open();
    agent.state.most = 4;
    expect(await switchTo('the-new', never)).toMatchObject({ kind: 'refused' });
    expect(agent.state.text).toBe('');
    expect(audit).toEqual(['begin', ['the-new', 'refused']]);
  });

  it('is not known where a dialog opens before Enter: the command may still stand in the prompt behind it', async () => {
    const { agent, switchTo } = open();
    agent.state.onWrite = () => {
      agent.state.activity = 'dialog';
      agent.state.hasPrompt = false;
      agent.state.outputBytes += 1;
    };
    expect(await switchTo('the-new', never)).toEqual({
      kind: 'unknown',
      reason: 'the prompt went away while the command was typed',
    });
    expect(agent.state.submitted).toEqual([]);
    expect(audit).toEqual(['begin', ['the-new', 'unknown']]);
    expect(events).toEqual([]);
  });

  it('of an agent that keeps its id counts when its session file says so, not by what was in it before', async () => {
    const path = join(folder, 'session.jsonl');
    const taken = '{"$set":{"messages":[]}}\n';
    writeFileSync(path, `{"id":"the-old"}\n${taken}`);
    const switching: Switching = { ...byId, restores: (line) => line.startsWith('{"$set":{"messages":') };
    const { agent, switchTo } = open({ switching, sessionFile: () => path });
    agent.state.onWrite = (keys) => {
      if (keys === '\r') appendFileSync(path, taken);
    };
    expect(await switchTo('a-name', never)).toEqual({ kind: 'switched' });
  });

  it('that the agent does not confirm is told as such when the session ends, and types nothing more', async () => {
    const { agent, switchTo, stop } = open();
    agent.state.onWrite = (keys) => {
      if (keys === '\r') setImmediate(stop);
    };
    expect(await switchTo('the-new', never)).toEqual({
      kind: 'unknown',
      reason: 'the session has ended',
    });
    expect(agent.state.written).toEqual(['/resume the-new', '\r']);
  });

  it('whose effect nobody looks at any more is never told as refused', async () => {
    let isSent = false;
    const { agent, switchTo } = open({
      flow: () => {
        if (isSent) throw new Error('gone');
        return loop.flow();
      },
    });
    agent.state.onWrite = (keys) => {
      isSent ||= keys === '\r';
    };
    expect(await switchTo('the-new', never)).toEqual({ kind: 'unknown', reason: 'gone' });
  });

  it('begins before its first key, types nothing where it must not, and rests when the moment has passed', async () => {
    const { agent, switchTo } = open();
    const steps: string[] = [];
    const begins: (string | undefined)[] = [undefined, 'withdrawn'];
    agent.state.onHold = () => {
      steps.push('held');
      agent.state.activity = 'dialog'; // the moment passes before the first key
      setTimeout(() => (agent.state.activity = undefined));
    };
    const gate = {
      begin: async () => {
        steps.push('begins');
        return begins.shift();
      },
      rest: () => void steps.push('rests'),
    };
    expect(await switchTo('the-new', { ...never, gate })).toEqual({
      kind: 'refused',
      reason: 'withdrawn',
    });
    expect(steps).toEqual(['rests', 'begins', 'held', 'rests', 'begins']);
    expect(agent.state.written).toEqual([]);
    expect(agent.port.takeTurn()).toBeDefined();
  });

  it('that still waits when the child ends is refused for that reason', async () => {
    const { agent, switchTo, stop } = open();
    becomes('busy');
    const switching = switchTo('the-new', never);
    stop();
    expect(await switching).toEqual({ kind: 'refused', reason: 'the session has ended' });
    expect(agent.state.written).toEqual([]);
  });

  it('types nothing into a conversation that has begun while it waited', async () => {
    const { agent, switchTo } = open();
    becomes('busy');
    const switching = switchTo('the-new', never);
    loop.take(inSession('another'));
    becomes('ready');
    expect(await switching).toEqual({
      kind: 'refused',
      reason: 'the agent is in another conversation',
    });
    expect([agent.state.written, audit]).toEqual([[], []]);
  });

  it('is refused for an agent that cannot be told', async () => {
    const switchTo = makeSwitcher(actionContext({ session: { agent: agents.kimi }, flow: loop.flow }));
    expect(await switchTo('the-new', never)).toMatchObject({ kind: 'refused' });
  });
});

describe('going back to the session before a shortening', () => {
  const OLD = '0a0a0a0a-0000-4000-8000-000000000001';
  const NAME = `rollout-2026-11-25T03-25-51-${OLD}.jsonl`;
  const timestamp = '2026-11-25T03:25:51.000Z';
  const said = { role: 'user', content: 'what I said' };
  const records: Readonly<Record<string, readonly object[]>> = {
    claude: [{ type: 'user', uuid: OLD, sessionId: OLD, cwd: '/proj', timestamp, message: said }],
    codex: [
      { timestamp, type: 'session_meta', payload: { id: OLD, session_id: OLD, cwd: '/proj' } },
      {
        timestamp,
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: said.content }] },
      },
    ],
  };
  const textFor = ({ name }: Agent): string =>
    (records[name] ?? []).map((line) => `${JSON.stringify(line)}\n`).join('');

  const goBack = async (agent: Agent, result: SwitchResult) => {
    const path = join(folder, NAME);
    writeFileSync(path, textFor(agent));
    const names: string[] = [];
    const switchTo = async (name: string): Promise<SwitchResult> => {
      names.push(name);
      return result;
    };
    const sessionFile = (): string => join(folder, 'the-short.jsonl');
    const take = (event: Event): unknown => events.push(event);
    const context = actionContext({ session: { agent }, flow: loop.flow, sessionFile, take });
    await makeUndo(context, { switchTo, previous: () => ({ id: OLD, path }) }).undo(never);
    expect(readFileSync(path, 'utf8')).toBe(textFor(agent));
    const told = events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])).at(-1);
    return { names, told };
  };

  it('takes the session itself', async () => {
    const { names, told } = await goBack(agents.claude, { kind: 'switched' });
    expect(names).toEqual([OLD]);
    expect(told).toBe('the whole conversation is back');
    expect(readdirSync(folder)).toEqual([NAME]);
  });

  it('takes a copy in an agent that keeps sessions open and does not show that it is back in one', async () => {
    const { names, told } = await goBack(agents.codex, { kind: 'switched' });
    expect(names).toHaveLength(1);
    expect(told).toBe('the whole conversation is back');
    const copy = readdirSync(folder).find((name) => name !== NAME) ?? '';
    expect(readFileSync(join(folder, copy), 'utf8')).toBe(
      textFor(agents.codex).replaceAll(OLD, names[0] ?? ''),
    );
  });

  it.each([
    ['claude', { type: 'undone', isOtherSession: true }],
    ['gemini', { type: 'undone' }], // it stays in the same conversation
  ] as const)(
    'is told to the session before %s is, and once more when it has gone back',
    async (agent, undone) => {
      const context = actionContext({
        session: { agent: agents[agent] },
        flow: loop.flow,
        take: (event) => events.push(event),
      });
      const goBack = makeGoBack(context, async () => ({ kind: 'switched' }));
      expect(await goBack(OLD, never)).toEqual({ kind: 'switched' });
      expect(events).toEqual([{ type: 'going-back', sessionId: OLD }, undone]);
    },
  );

  it('keeps the copy, and names the command, where nobody knows whether the agent has it', async () => {
    const { told, names } = await goBack(agents.codex, { kind: 'unknown', reason: 'it does not show it' });
    expect(told).toBe(`undo not confirmed · by hand: /resume ${names[0]}`);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('leaves no copy, and says why, where nothing was typed', async () => {
    const { told } = await goBack(agents.codex, { kind: 'refused', reason: 'a dialog is open' });
    expect(told).toBe('not undone: a dialog is open');
    expect(readdirSync(folder)).toEqual([NAME]);
  });
});

it('says how to go on where the running agent takes no other session, and writes none', async () => {
  const path = join(folder, 'wire.jsonl');
  writeFileSync(path, linesOf('kimi', 'turns.jsonl').join('\n'));
  const switchTo = (): never => {
    throw new Error('nothing to switch to');
  };
  const context = actionContext({
    session: { agent: agents.kimi },
    flow: loop.flow,
    sessionFile: () => path,
    take: (event) => events.push(event),
  });
  await makeUndo(context, { switchTo, previous: () => undefined }).undo(never);
  expect(events).toMatchObject([
    {
      text: 'not undone: ctxwrap does not know how to tell this agent · for a new session: ctxwrap undo',
    },
  ]);
  expect(readdirSync(folder)).toEqual(['wire.jsonl']);
});
