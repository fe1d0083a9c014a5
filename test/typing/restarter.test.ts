// An agent is ended by its own command so that it can be started again: typed only where nothing else can be meant by the keys, and planned no
// longer than the command stands.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Activity } from '../../src/core/reading.js';
import type { Event } from '../../src/core/event.js';
import { confirmRestart, makeRestarter } from '../../src/typing/restarter.js';
import { actionContext, type GivenContext } from '../support/action-context.js';
import { openSessionLoop, type RestingSession } from '../support/session-loop.js';
import { makeAgent, typed } from '../support/typed-agent.js';
import type { RestartPlan } from '../../src/session/options.js';
import { inSession, tokens } from '../support/sessions.js';

const plan: RestartPlan = {
  session: { id: 'the-new', path: '/x/the-new.jsonl' },
  before: { id: 'the-old', path: '/x/the-old.jsonl' },
  preTokens: 100_000,
  postTokens: 20_000,
  shortening: { strategy: 'truncate', isManual: true },
  writtenAt: 1,
  mode: 'auto',
  times: [],
};

let loop: RestingSession;
let audit: unknown[];
let plans: (string | undefined)[];
beforeEach(() => {
  [audit, plans] = [[], []];
  loop = openSessionLoop('the-old');
});
afterEach(() => loop.stop());

const open = (more: Partial<GivenContext> = {}, exitMs = 50) => {
  const agent = makeAgent();
  const end = new AbortController();
  const { session, ...rest } = more;
  const context = actionContext({
    session: { agent: { ...agents.claude, recipe: () => typed }, args: ['--model', 'opus'], ...session },
    port: agent.port,
    ended: end.signal,
    flow: loop.flow,
    onRestart: (next) => plans.push(next?.session.id),
    publisher: {
      beginAction: () => audit.push('begin'),
      endSwitch: (name, result) => audit.push([name, result?.kind]),
    },
    ...rest,
  });
  return { agent, restarter: makeRestarter(context, exitMs), stop: () => end.abort() };
};

const never = { signal: new AbortController().signal };

describe.sequential('ending the agent to start it again', () => {
  it('types its command, and has it planned before the first key', async () => {
    const { agent, restarter, stop } = open({}, 30_000);
    agent.state.onWrite = (keys) => {
      expect(plans).toEqual(['the-new']);
      if (keys === '\r') stop(); // the child has ended
    };
    expect(await restarter.restartWith(plan, never)).toEqual({ kind: 'restarting' });
    expect(agent.state.submitted).toEqual(['/exit']);
    expect(audit).toEqual(['begin', ['the-new', 'restarting']]);
    expect(plans).toEqual(['the-new']);
  });

  it('plans nothing any more where the agent does not end, and says so', async () => {
    const { agent, restarter } = open();
    agent.state.onWrite = (keys) => {
      if (keys === '\r') agent.state.typedCount += 1; // nothing is looked for in the prompt of a user who types
    };
    expect(await restarter.restartWith(plan, never)).toEqual({
      kind: 'unknown',
      reason: 'the agent has not ended',
    });
    expect(plans).toEqual(['the-new', undefined]);
  });

  it('plans nothing any more where the command was taken back', async () => {
    const { agent, restarter } = open();
    agent.state.most = 3; // only a part of it arrives
    const result = await restarter.restartWith(plan, never);
    expect(result.kind).toBe('refused');
    expect(agent.state.submitted).toEqual([]);
    expect(agent.state.text).toBe('');
    expect(plans).toEqual(['the-new', undefined]);
  });

  it('is not known where nobody can look any more after the command was sent', async () => {
    let isSent = false;
    const { agent, restarter } = open({
      onRestart: () => {
        if (isSent) throw new Error('gone');
      },
    });
    agent.state.onWrite = (keys) => {
      isSent ||= keys === '\r';
    };
    expect(await restarter.restartWith(plan, never)).toEqual({ kind: 'unknown', reason: 'gone' });
  });

  it.each<Activity>(['dialog', 'busy', 'draft', 'compacting', 'unknown'])(
    'types and plans nothing while the agent is %s, and can be withdrawn',
    async (activity) => {
      const { agent, restarter } = open();
      loop.becomes(activity);
      const withdrawal = new AbortController();
      const restarting = restarter.restartWith(plan, withdrawal);
      withdrawal.abort();
      expect(await restarting).toEqual({ kind: 'refused', reason: 'withdrawn' });
      expect(agent.state.written).toEqual([]);
      expect(plans).toEqual([]);
    },
  );

  it.each([
    [{ file: '/usr/bin/npx' }, 'ctxwrap does not know how to start this program again'],
    [{ args: ['--worktree', 'fix'] }, 'the agent cannot be started again with its arguments'],
    [
      { agent: agents.generic, file: '/usr/bin/vim' },
      'ctxwrap does not know how to start this program again',
    ],
    [{}, undefined],
  ])('says of %o whether it could be started again', (more, obstacle) => {
    expect(open({ session: more }).restarter.obstacle()).toBe(obstacle);
  });
});

describe('an agent that was started again', () => {
  const follow = () => {
    const events: Event[] = [];
    const { stop } = confirmRestart({
      plan,
      flow: loop.flow,
      take: (event) => events.push(event),
      publisher: actionContext({
        flow: loop.flow,
        publisher: { endEarlierSwitch: (name, { kind }) => audit.push([name, kind]) },
      }).publisher,
      onTaken: () => audit.push('taken'),
    });
    return { events, stop };
  };

  it('and ends before it shows the session leaves the record of the attempt, at once', () => {
    const { events, stop } = follow();
    stop();
    expect(events).toEqual([
      {
        type: 'restart-failed',
        reason: 'the agent ended before it showed that it has the shorter session',
        preTokens: plan.preTokens,
        shortening: plan.shortening,
      },
    ]);
    expect(audit).toEqual([['the-new', 'unknown']]);
  });

  it('and shows the session is told of as of a compaction, and not again at its end', async () => {
    const { events, stop } = follow();
    loop.take(inSession('the-new'));
    await vi.waitFor(() => expect(events.map(({ type }) => type)).toEqual(['postpone', 'boundary']), {
      timeout: 20_000,
    });
    stop();
    expect(events).toHaveLength(2);
    expect(audit).toEqual(['taken', ['the-new', 'switched']]);
  });

  it('and whose window is as full as before says so', async () => {
    const { events } = follow();
    loop.take(inSession('the-new'));
    loop.take(tokens('log', plan.preTokens));
    await vi.waitFor(
      () => expect(events[1]).toMatchObject({ type: 'restart-failed', reason: /still at 100k$/ }),
      {
        timeout: 20_000,
      },
    );
    expect(audit.at(-1)).toEqual(['the-new', 'unknown']);
  });
});
