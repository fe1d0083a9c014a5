// A running agent goes on with another session by its own command, typed only where nothing else can be meant by the keys.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Switching } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { Event } from '../../src/core/event.js';
import type { Activity } from '../../src/core/reading.js';
import { nullLog } from '../../src/storage/log-file.js';
import type { WrapSession } from '../../src/wrap/options.js';
import { makeSessionLoop, type SessionLoop } from '../../src/wrap/session.js';
import { makeSwitcher, type SwitcherOptions } from '../../src/wrap/switcher.js';
import { inSession } from '../support/sessions.js';
import { makeAgent, typed } from '../support/typed-agent.js';

const WAIT = { timeout: 30_000, interval: 20 };
const byId: Switching = { command: (id) => `/resume ${id}` };

let loop: SessionLoop;
let folder: string;
let audit: unknown[];
let events: Event[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-switcher-'));
  [audit, events] = [[], []];
  const session = { agent: agents.claude, env: {}, log: nullLog, values: defaultValues };
  loop = makeSessionLoop(
    session as unknown as WrapSession,
    { mode: 'auto', command: '/compact', startMs: 5_000, finishMs: 120_000, isProactive: false },
    { onView: () => undefined },
  );
  becomes('ready');
  loop.take(inSession('the-old'));
});
afterEach(() => {
  loop.stop();
  rmSync(folder, { recursive: true });
});

const becomes = (activity: Activity): void =>
  loop.take({ type: 'activity', report: { activity, witnesses: [] } });

const open = (more: Partial<SwitcherOptions> = {}, start: Parameters<typeof makeAgent>[0] = {}) => {
  const agent = makeAgent(start);
  const switcher = makeSwitcher({
    recipe: typed,
    switching: byId,
    port: agent.port,
    flow: loop.flow,
    sessionFile: () => undefined,
    log: nullLog,
    onEvent: (event) => events.push(event),
    audit: {
      beginSwitch: () => audit.push('begin'),
      endSwitch: (name, result) => audit.push([name, result?.kind]),
    },
    ...more,
  });
  return { agent, switcher };
};

const never = { signal: new AbortController().signal };

describe.sequential('a switch', () => {
  it('types the command once the agent is at rest, and counts when the agent has the other conversation', async () => {
    const { agent, switcher } = open();
    agent.state.onWrite = (keys) => {
      if (keys === '\r') loop.take(inSession('the-new'));
    };
    expect(await switcher.switchTo('the-new', never)).toEqual({ kind: 'switched' });
    expect(agent.state.submitted).toEqual(['/resume the-new']);
    expect(audit).toEqual(['begin', ['the-new', 'switched']]);
    expect(events).toEqual([{ type: 'postpone' }]); // the window is full again
  });

  it.each(['dialog', 'busy', 'draft', 'compacting', 'unknown'] as const)(
    'types nothing while the agent is %s, and can be withdrawn',
    async (activity) => {
      const { agent, switcher } = open();
      becomes(activity);
      const withdrawal = new AbortController();
      const switching = switcher.switchTo('the-new', withdrawal);
      expect(await switcher.switchTo('another', never)).toEqual({
        kind: 'refused',
        reason: 'another undo is waiting already',
      });
      withdrawal.abort();
      expect(await switching).toEqual({ kind: 'refused', reason: 'withdrawn' });
      expect(agent.state.written).toEqual([]);
      expect(audit).toEqual([]);
    },
  );

  it('waits until another command is typed, and keeps the compact command waiting meanwhile', async () => {
    const { agent, switcher } = open();
    const endTurn = agent.port.takeTurn();
    let looked = 0;
    const flow = (): ReturnType<SessionLoop['flow']> => {
      looked += 1;
      return loop.flow();
    };
    const waiting = open({ flow, port: agent.port });
    const switching = waiting.switcher.switchTo('the-new', never);
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
    switcher.stop();
  });

  it('is taken back where a dialog opens before Enter, which would answer it', async () => {
    const { agent, switcher } = open();
    agent.state.onWrite = () => {
      agent.state.activity = 'dialog';
      agent.state.hasPrompt = false;
      agent.state.outputBytes += 1;
    };
    expect(await switcher.switchTo('the-new', never)).toMatchObject({ kind: 'refused' });
    expect(agent.state.submitted).toEqual([]);
    expect(audit).toEqual(['begin', ['the-new', 'refused']]);
    expect(events).toEqual([]);
  });

  it('of an agent that keeps its id counts when its session file says so, not by what was in it before', async () => {
    const path = join(folder, 'session.jsonl');
    const taken = '{"$set":{"messages":[]}}\n';
    writeFileSync(path, `{"id":"the-old"}\n${taken}`);
    const switching: Switching = { ...byId, restores: (line) => line.startsWith('{"$set":{"messages":') };
    const { agent, switcher } = open({ switching, sessionFile: () => path });
    agent.state.onWrite = (keys) => {
      if (keys === '\r') appendFileSync(path, taken);
    };
    expect(await switcher.switchTo('a-name', never)).toEqual({ kind: 'switched' });
  });

  it('that the agent does not confirm is told as such when the session ends, and types nothing more', async () => {
    const { agent, switcher } = open();
    agent.state.onWrite = (keys) => {
      if (keys === '\r') setImmediate(switcher.stop);
    };
    expect(await switcher.switchTo('the-new', never)).toEqual({
      kind: 'unknown',
      reason: 'the session has ended',
    });
    expect(agent.state.written).toEqual(['/resume the-new', '\r']);
  });

  it('whose effect nobody looks at any more is never told as refused', async () => {
    let isSent = false;
    const { agent, switcher } = open({
      flow: () => {
        if (isSent) throw new Error('gone');
        return loop.flow();
      },
    });
    agent.state.onWrite = (keys) => {
      isSent ||= keys === '\r';
    };
    expect(await switcher.switchTo('the-new', never)).toEqual({ kind: 'unknown', reason: 'gone' });
  });

  it('is refused for an agent that cannot be told', async () => {
    const { switcher } = open({ switching: undefined });
    expect(await switcher.switchTo('the-new', never)).toMatchObject({ kind: 'refused' });
  });
});
