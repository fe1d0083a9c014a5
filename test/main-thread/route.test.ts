// Who reacts to what happens in a session, and in which order.
import { describe, expect, it } from 'vitest';
import { makeEnding } from '../../src/main-thread/ending.js';
import { makeEvents } from '../../src/main-thread/route.js';
import type { TerminalEvent } from '../../src/main-thread/terminal-event.js';
import type { Parts } from '../../src/main-thread/session-parts.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { quirksFromEnv } from '../../src/terminal/filter/quirks.js';
import { nullLog } from '../../src/storage/log-file.js';

/** Parts that note what is called, as `part.function argument`. */
const makeRecorder = () => {
  const calls: string[] = [];
  const partOf = (name: string, own: object = {}): object =>
    new Proxy(own, {
      get: (_, key) =>
        Reflect.get(own, key) ??
        ((...given: readonly unknown[]) => {
          const [first] = given;
          const what = typeof first === 'object' && first !== null && 'type' in first ? first.type : first;
          calls.push(
            [
              `${name}.${String(key)}`,
              ...(typeof what === 'string' && /^[\w-]+$/.test(what) ? [what] : []),
            ].join(' '),
          );
        }),
    });
  const terminal = partOf('terminal', {
    session: { log: nullLog, values: { footer: true }, agent: {} },
    filter: makeStreamFilter(makeGrid(80, 23, 24, quirksFromEnv({}))),
    tty: partOf('tty', { size: () => ({ columns: 80, rows: 24 }) }),
    worker: partOf('worker'),
    counters: partOf('counters'),
    sttyProcess: { arm: () => calls.push('stty.arm'), armSoon: () => calls.push('stty.arm') },
    child: partOf('child'),
    stateProxy: partOf('proxy'),
    overviewOutput: false,
    isCursorKnown: false,
    isPassthrough: false,
  });
  const others = ['output', 'resize', 'suspend', 'overview', 'overviewTour', 'hint', 'footer', 'keyboard'];
  const parts = Object.fromEntries([
    ...[...others, 'titleAnimation', 'protection', 'cursorQuery'].map((name) => [name, partOf(name)]),
    ['terminal', terminal],
    ['ending', makeEnding()],
  ]) as unknown as Parts;
  const { emit, connect } = makeEvents();
  connect(parts);
  return { calls, parts, emit };
};

const callsAfter = (event: TerminalEvent): readonly string[] => {
  const { calls, emit } = makeRecorder();
  emit(event);
  return calls;
};

describe('in a session', () => {
  it('footer, overview, title, job control and the stty process hear of output that is written, in this order', () => {
    expect(callsAfter({ type: 'output-written', bytes: Buffer.from('a') })).toEqual([
      'footer.noteOutput',
      'overview.noteOutput',
      'titleAnimation.noteOutput',
      'suspend.noteOutput',
      'stty.arm', // with the modes that are set now
    ]);
  });

  it('the overview gives way to a change of size, and comes back when the footer and the stty process know the size', () => {
    expect(callsAfter({ type: 'resizing' })).toEqual(['overview.pause']);
    expect(callsAfter({ type: 'resized' })).toEqual(['footer.refresh', 'stty.arm', 'overview.resume']);
  });

  it('"not now" is counted as a key before the worker hears of it', () => {
    expect(callsAfter({ type: 'not-now' })).toEqual([
      'counters.add typed',
      'worker.handle postpone',
      'worker.handle user-keys',
    ]);
  });

  it.each([
    { signal: 'SIGTERM', calls: ['overview.close', 'child.signal SIGTERM'], isTerminating: true },
    { signal: 'SIGHUP', calls: ['overview.close', 'child.signal SIGHUP'], isTerminating: true },
    { signal: 'SIGINT', calls: ['overview.close', 'child.signal SIGINT'], isTerminating: false },
    { signal: 'SIGUSR1', calls: ['child.signal SIGUSR1'], isTerminating: false },
  ] as const)('$signal reaches the child as $calls', ({ signal, calls, isTerminating }) => {
    const recorder = makeRecorder();
    recorder.emit({ type: 'signal', signal });
    expect(recorder.calls).toEqual(calls);
    expect(recorder.parts.ending.isTerminating).toBe(isTerminating);
  });

  it.each([
    [{ type: 'terminal-gone' }, { type: 'signal', signal: 'SIGHUP' }],
    [{ type: 'signal', signal: 'SIGHUP' }, { type: 'terminal-gone' }],
  ] as const)('the child gets one SIGHUP for a hang-up, told by %o and %o', (...events) => {
    const { calls, emit } = makeRecorder();
    for (const event of events) emit(event);
    expect(calls.filter((call) => call.startsWith('child.'))).toEqual(['child.signal SIGHUP']);
  });

  it('a failure closes the overview and stops footer and reading before the child gets the whole screen, once', () => {
    const { calls, emit } = makeRecorder();
    emit({ type: 'failure' });
    emit({ type: 'uncaught-error', error: new Error('broken') });
    expect(calls).toEqual([
      'overview.stop',
      'footer.stop',
      'worker.post stop-reading',
      'proxy.stop',
      'tty.write',
      'tty.write',
      'child.resize',
      'overview.stop',
    ]);
  });

  it('what happens before all parts are there has no effect', () => {
    const { emit, connect } = makeEvents();
    const { calls, parts } = makeRecorder();
    emit({ type: 'terminal-drained' });
    connect(parts);
    expect(calls).toEqual([]);
    emit({ type: 'terminal-drained' });
    expect(calls).toEqual(['output.onDrained']);
  });
});
