// What the wrapper does about the end of an attempt that went by the agent's control channel.
import { describe, expect, it } from 'vitest';
import type { EndedCompaction } from '../../src/core/compaction/outcome.js';
import type { Event } from '../../src/core/event.js';
import { nullLog } from '../../src/storage/log-file.js';
import type { ChannelResult } from '../../src/typing/channel.js';
import { makeCompactor, type CompactorOptions } from '../../src/typing/compactor.js';
import { makeAgent, typed } from '../support/typed-agent.js';

const channel = { via: 'server', name: "opencode's server" } as const;
const ask = { type: 'type-compact', isQueued: false, channel } as const;

const ended = (outcome: EndedCompaction['outcome']): { type: 'ended'; ended: EndedCompaction } => ({
  type: 'ended',
  ended: { initiator: 'ctxwrap', via: 'server', startedAt: 0, endedAt: 1, outcome, evidence: [] },
});

/** The signals that the channel was asked with, and the events of the compactor. */
const start = (
  answer: Promise<ChannelResult>,
  begin?: () => Promise<string | undefined>,
  shorten: CompactorOptions['shorten'] = () => Promise.reject(new Error('unused')),
) => {
  const [signals, events]: [AbortSignal[], Event[]] = [[], []];
  const compactor = makeCompactor({
    recipe: typed,
    port: makeAgent().port,
    copy: () => Promise.reject(new Error('unused')),
    findFocus: () => Promise.reject(new Error('unused')),
    channel: {
      name: channel.name,
      ask: (signal) => {
        signals.push(signal);
        return answer;
      },
    },
    begin,
    shorten,
    log: nullLog,
    onEvent: (event) => events.push(event),
  });
  return { compactor, signals, events };
};

const settled = (): Promise<unknown> => new Promise(setImmediate);
const NEVER = new Promise<ChannelResult>(() => undefined);

describe('an attempt by the control channel', () => {
  it('that has ended by its time limit is not asked for later', async () => {
    const { compactor, signals } = start(NEVER);
    compactor.run(ask);
    await settled();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    compactor.run(ended({ kind: 'not-delivered', reason: 'typing did not end' }));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('that the agent has taken without doing anything is the last one', async () => {
    const { compactor, events } = start(Promise.resolve({ kind: 'sent', evidence: 'asked' }));
    compactor.run(ask);
    await settled();
    compactor.run(ended({ kind: 'not-started' }));
    await settled();
    const text = "opencode's server was asked, and nothing began; the command is typed from now on";
    expect(events).toMatchObject([{ type: 'typed' }, { type: 'notice', text }, { type: 'channel-closed' }]);
  });

  it('that worked, or failed for another reason, is not the last one', async () => {
    const { compactor, events } = start(Promise.resolve({ kind: 'sent', evidence: 'asked' }));
    compactor.run(ask);
    await settled();
    compactor.run(ended({ kind: 'verified', after: undefined }));
    compactor.run(ended({ kind: 'failed', failure: 'error', text: 'overloaded' }));
    await settled();
    expect(events).toMatchObject([{ type: 'typed' }]);
  });
});

describe('an attempt that somebody has asked for', () => {
  it('waits until that is answered, and is skipped where it was withdrawn', async () => {
    let refuse: (reason: string) => void = () => undefined;
    const begin = () => new Promise<string>((resolve) => (refuse = resolve));
    const { compactor, signals, events } = start(NEVER, begin);
    compactor.run(ask);
    await settled();
    expect(signals).toEqual([]);
    refuse('withdrawn');
    await settled();
    expect(signals).toEqual([]);
    expect(events).toEqual([
      { type: 'typed', result: { kind: 'skipped', reason: 'withdrawn', evidence: [] } },
    ]);
  });

  it('is not carried out where it has ended by then', async () => {
    let begins: () => void = () => undefined;
    const begin = () => new Promise<undefined>((resolve) => (begins = () => resolve(undefined)));
    const { compactor, signals, events } = start(NEVER, begin);
    compactor.run(ask);
    await settled();
    compactor.run(ended({ kind: 'not-delivered', reason: 'typing did not end' }));
    begins();
    await settled();
    expect([signals, events]).toEqual([[], []]);
  });
});

describe('an attempt by a strategy', () => {
  it('is given up when the next one begins, and only the next one tells', async () => {
    const attempts: { readonly signal: AbortSignal; readonly end: (reason: string) => void }[] = [];
    const { compactor, events } = start(
      NEVER,
      undefined,
      (_, signal) =>
        new Promise((resolve) => {
          attempts.push({ signal, end: (reason) => resolve({ kind: 'refused', reason }) });
        }),
    );
    for (let times = 0; times < 2; times += 1) {
      compactor.run({ type: 'type-compact', isQueued: false, strategy: 'truncate' });
      await settled();
    }
    expect(attempts.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    for (const [index, { end }] of attempts.entries()) end(`end ${index}`);
    await settled();
    expect(events).toMatchObject([{ type: 'typed', result: { kind: 'withdrawn', reason: 'end 1' } }]);
  });

  it('without a strategy that can be used says that the command takes its place', async () => {
    const reason = 'the module of the strategy "mine" cannot be loaded: no idea';
    const { compactor, events } = start(NEVER, undefined, async () => ({
      kind: 'refused',
      reason,
      why: 'no-strategy',
    }));
    compactor.run({ type: 'type-compact', isQueued: false, strategy: 'mine' });
    await settled();
    expect(events).toMatchObject([
      { type: 'typed', result: { kind: 'skipped', reason, isStrategyLost: true } },
      { type: 'notice', text: `${reason}; the agent's own command is used from now on` },
    ]);
  });
});
