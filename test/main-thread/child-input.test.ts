import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitElements } from '../../src/core/terminal-input.js';
import { makeChildInput } from '../../src/main-thread/keyboard.js';
import { makeCounters } from '../../src/session/thread-messages.js';
import { eventually } from '../support/eventually.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

/** A child input, everything the child received as one text, and the typed count. */
const makeSink = (onWrite: (sent: string) => void = () => undefined) => {
  const seen = { child: '', recorded: '', typed: 0, entered: 0 };
  const child = {
    write: (sent: Uint8Array): void => {
      const text = Buffer.from(sent).toString('latin1');
      seen.child += text;
      onWrite(text);
    },
  };
  const recording = {
    input: (sent: Uint8Array) => void (seen.recorded += Buffer.from(sent).toString('latin1')),
  };
  const counters = makeCounters();
  const terminal = { child, session: { recording }, counters } as unknown as Parameters<
    typeof makeChildInput
  >[0];
  const childInput = makeChildInput(terminal, ({ type }) => {
    if (type === 'typed' || type === 'entered') seen[type] += 1;
  });
  return { seen, sink: childInput, counters };
};

describe('keys on their way to the child', () => {
  it('wait while they are held, and follow in their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 })), // printable
        fc.string(),
        fc.array(fc.string()),
        (held, ours, later) => {
          const { seen, sink: childInput } = makeSink();
          const { release } = childInput.hold();
          for (const text of held) childInput.forward(splitElements(text));
          childInput.type(bytes(ours));
          release();
          release();
          for (const text of later) childInput.forward(splitElements(text));
          const sent = bytes(ours + held.join('') + later.join('')).toString('latin1');
          expect(seen.child).toBe(sent);
          expect(seen.recorded).toBe(sent);
        },
      ),
    );
  });

  it('are counted and recorded, and wait while keys are held, also those that need no parsing', () => {
    const { seen, sink: childInput, counters } = makeSink();
    childInput.forwardText(bytes('a'));
    const hold = childInput.hold();
    childInput.forwardText(bytes('b'));
    expect(counters.get('held')).toBe(1);
    expect(seen).toEqual({ child: 'a', recorded: 'a', typed: 1, entered: 0 });
    hold.release();
    childInput.forwardText(bytes('c'));
    expect(seen).toEqual({ child: 'abc', recorded: 'abc', typed: 3, entered: 0 });
    expect(counters.get('typed')).toBe(3);
  });

  it('are one write for each read, and a lone Escape is not joined with the key after it', async () => {
    const writes: string[] = [];
    const { sink: childInput, seen } = makeSink((sent) => writes.push(sent));
    const { release } = childInput.hold();
    for (const text of ['\x1bb', 'a\x1bOA', '\x1b']) childInput.forward(splitElements(text));
    release();
    childInput.forward(splitElements('b'));
    expect(writes).toEqual(['\x1bb', 'a\x1bOA', '\x1b', 'b']);
    const { release: again } = childInput.hold();
    for (const text of ['\x1b', 'c', 'd']) childInput.forward(splitElements(text));
    again();
    childInput.forward(splitElements('e'));
    expect(writes.slice(4)).toEqual(['\x1b']);
    await eventually(() => expect(writes.slice(4)).toEqual(['\x1b', 'c', 'd', 'e']));
    expect(seen.child).toBe('\x1bba\x1bOA\x1bb\x1bcde');
  });

  it('are released one by one, also after some that stay held', () => {
    const { sink: childInput, seen } = makeSink();
    const hold = childInput.hold();
    for (const text of ['a', 'b', 'c']) childInput.forward(splitElements(text));
    hold.releaseOne(2);
    hold.releaseOne(0);
    expect([seen.child, hold.waitingCount()]).toEqual(['ca', 1]);
    hold.release();
    expect(seen.child).toBe('cab');
  });

  it('stay held when they are held again before all are released', async () => {
    const { sink: childInput, seen } = makeSink();
    const { release } = childInput.hold();
    for (const text of ['\x1b', 'b']) childInput.forward(splitElements(text));
    release();
    const { release: again } = childInput.hold();
    childInput.type(bytes('/compact'));
    again();
    expect(seen.child).toBe('\x1b/compactb');
  });

  it('say when Enter was sent, which the wrapper’s keys never do', () => {
    const { sink: childInput, seen } = makeSink();
    childInput.type(bytes('/compact\r'));
    expect(seen.entered).toBe(0);
    childInput.forward(splitElements('\r'));
    expect(seen.entered).toBe(1);
  });

  it('count as typing, and the wrapper’s do not', () => {
    const { seen, sink: childInput } = makeSink();
    childInput.type(bytes('/compact'));
    expect(seen.typed).toBe(0);
    childInput.forward(splitElements('a'));
    expect(seen.typed).toBe(1);
  });
});
