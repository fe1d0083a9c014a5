import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { isTyped, makeKeySink } from '../../src/wrap/keyboard.js';

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
          for (const text of held) sink.forward(bytes(text));
          sink.type(bytes(ours));
          release();
          release();
          for (const text of later) sink.forward(bytes(text));
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
    for (const text of ['\x1bb', 'a\x1bOA', '\x1b']) sink.forward(bytes(text));
    release();
    sink.forward(bytes('b'));
    expect(writes).toEqual(['\x1bb', 'a\x1bOA', '\x1b', 'b']);
    const { release: again } = sink.hold();
    for (const text of ['\x1b', 'c', 'd']) sink.forward(bytes(text));
    again();
    sink.forward(bytes('e'));
    expect(writes.slice(4)).toEqual(['\x1b']);
    await vi.waitFor(() => expect(writes.slice(4)).toEqual(['\x1b', 'c', 'd', 'e']));
    expect(seen.child).toBe('\x1bba\x1bOA\x1bb\x1bcde');
  });

  it('go one by one, also past those that wait on', () => {
    const { sink, seen } = makeSink();
    const hold = sink.hold();
    for (const text of ['a', 'b', 'c']) sink.forward(bytes(text));
    hold.releaseOne(2);
    hold.releaseOne(0);
    expect([seen.child, hold.waiting()]).toEqual(['ca', 1]);
    hold.release();
    expect(seen.child).toBe('cab');
  });

  it('wait on when they are held again before all of them have gone', async () => {
    const { sink, seen } = makeSink();
    const { release } = sink.hold();
    for (const text of ['\x1b', 'b']) sink.forward(bytes(text));
    release();
    const { release: again } = sink.hold();
    sink.type(bytes('/compact'));
    again();
    expect(seen.child).toBe('\x1b/compactb');
  });

  it('are not changed by what becomes of the buffer they came in', () => {
    const { seen, sink } = makeSink();
    const { release } = sink.hold();
    const buffer = bytes('abc');
    sink.forward(buffer);
    buffer.fill(0x78);
    release();
    expect(seen.child).toBe('abc');
  });

  it('tell when Enter went, which ours never do', () => {
    const { sink } = makeSink();
    sink.type(bytes('/compact\r'));
    expect(sink.enteredAt()).toBeUndefined();
    sink.forward(bytes('\r'));
    expect(sink.enteredAt()).toBeDefined();
  });

  it('count as typing, and ours do not', () => {
    const { seen, sink } = makeSink();
    sink.type(bytes('/compact'));
    expect(seen.typed).toBe(0);
    sink.forward(bytes('a'));
    expect(seen.typed).toBe(1);
  });
});

describe('typing', () => {
  it.each([
    ['a letter', 'a'],
    ['Escape', '\x1b'],
    ['an arrow', '\x1b[A'],
    ['a function key', '\x1b[15~'],
    ['a key of the kitty protocol', '\x1b[99;5u'],
    ['a paste', '\x1b[200~text\x1b[201~'],
    ['a letter behind an answer', '\x1b[12;40Ra'],
  ])('is %s', (_, text) => expect(isTyped(bytes(text))).toBe(true));

  it.each([
    ['a cursor report', '\x1b[12;40R'],
    ['device attributes', '\x1b[?62;22c'],
    ['a mode report', '\x1b[?2026;2$y'],
    ['keyboard flags', '\x1b[?1u'],
    ['the focus', '\x1b[I\x1b[O'],
    ['the mouse', '\x1b[<35;10;5M\x1b[<0;10;5m'],
    ['the mouse in the old form', '\x1b[M !!'],
    ['a colour', '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\'],
    ['a version', '\x1bP>|xterm(380)\x1b\\'],
  ])('is not %s', (_, text) => expect(isTyped(bytes(text))).toBe(false));
});
