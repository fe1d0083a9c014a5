import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { elementsIn } from '../../src/core/terminal-input.js';
import { makeKeySink } from '../../src/wrap/keyboard.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

/** A sink, what the child got in one text, and how often the user typed. */
const makeSink = (onWrite: (sent: string) => void = () => undefined) => {
  const seen = { child: '', recorded: '', typed: 0 };
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
  const stage = { child, session: { recording } } as unknown as Parameters<typeof makeKeySink>[0];
  const sink = makeKeySink(stage, {
    onForward: () => undefined,
    onTyped: () => {
      seen.typed += 1;
    },
  });
  return { seen, sink };
};

describe('keys on their way to the child', () => {
  it('wait while they are held, and follow in their order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1 })), // printable
        fc.string(),
        fc.array(fc.string()),
        (held, ours, later) => {
          const { seen, sink } = makeSink();
          const { release } = sink.hold();
          for (const text of held) sink.forward(elementsIn(text));
          sink.type(bytes(ours));
          release();
          release();
          for (const text of later) sink.forward(elementsIn(text));
          const sent = bytes(ours + held.join('') + later.join('')).toString('latin1');
          expect(seen.child).toBe(sent);
          expect(seen.recorded).toBe(sent);
        },
      ),
    );
  });

  it('are one write for each read, and a lone Escape is not joined with the key after it', async () => {
    const writes: string[] = [];
    const { sink, seen } = makeSink((sent) => writes.push(sent));
    const { release } = sink.hold();
    for (const text of ['\x1bb', 'a\x1bOA', '\x1b']) sink.forward(elementsIn(text));
    release();
    sink.forward(elementsIn('b'));
    expect(writes).toEqual(['\x1bb', 'a\x1bOA', '\x1b', 'b']);
    const { release: again } = sink.hold();
    for (const text of ['\x1b', 'c', 'd']) sink.forward(elementsIn(text));
    again();
    sink.forward(elementsIn('e'));
    expect(writes.slice(4)).toEqual(['\x1b']);
    await vi.waitFor(() => expect(writes.slice(4)).toEqual(['\x1b', 'c', 'd', 'e']));
    expect(seen.child).toBe('\x1bba\x1bOA\x1bb\x1bcde');
  });

  it('go one by one, also past those that wait on', () => {
    const { sink, seen } = makeSink();
    const hold = sink.hold();
    for (const text of ['a', 'b', 'c']) sink.forward(elementsIn(text));
    hold.releaseOne(2);
    hold.releaseOne(0);
    expect([seen.child, hold.waiting()]).toEqual(['ca', 1]);
    hold.release();
    expect(seen.child).toBe('cab');
  });

  it('wait on when they are held again before all of them have gone', async () => {
    const { sink, seen } = makeSink();
    const { release } = sink.hold();
    for (const text of ['\x1b', 'b']) sink.forward(elementsIn(text));
    release();
    const { release: again } = sink.hold();
    sink.type(bytes('/compact'));
    again();
    expect(seen.child).toBe('\x1b/compactb');
  });

  it('tell when Enter went, which ours never do', () => {
    const { sink } = makeSink();
    sink.type(bytes('/compact\r'));
    expect(sink.enteredAt()).toBeUndefined();
    sink.forward(elementsIn('\r'));
    expect(sink.enteredAt()).toBeDefined();
  });

  it('count as typing, and ours do not', () => {
    const { seen, sink } = makeSink();
    sink.type(bytes('/compact'));
    expect(seen.typed).toBe(0);
    sink.forward(elementsIn('a'));
    expect(seen.typed).toBe(1);
  });
});
