import { stat } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import type { Event } from '../../src/core/event.js';
import type { ToWorker } from '../../src/session/thread-messages.js';
import '../../src/main-thread/lost-record.js'; // loaded by a session that has failed, otherwise perhaps after the tests
import { makeLateKeys, type LateKeys } from '../../src/main-thread/late-keys.js';
import { makeOverviewHarness } from '../support/overview-harness.js';
import { eventually } from '../support/eventually.js';

/** The keyboard of a session with a footer, and each write to its child. */
const withKeys = async (
  act: (run: { type: (text: string) => void; writes: readonly string[] }) => Promise<void>,
): Promise<void> => {
  const run = makeOverviewHarness(80, 24);
  try {
    await act({ type: run.type, writes: run.writes });
  } finally {
    run.stop();
  }
};

const hotkeys = ['\x1b[93;5u', '\x1b[93;133:1u', '\x1b[27;5;93~'];
const cuts = hotkeys.flatMap((key) => [
  ...Array.from({ length: key.length - 1 }, (_, at) => [key.slice(0, at + 1), key.slice(at + 1)]),
  [...key],
]);

describe('the hotkey', () => {
  it.each(cuts)('in the pieces %j %j does not reach the child', async (...pieces) => {
    await withKeys(async ({ type, writes }) => {
      for (const piece of pieces) type(piece);
      type('q'); // closes the overview
      type('x');
      await eventually(() => expect(writes).toEqual(['x']), { interval: 2 });
    });
  });

  it('is one key, too, when a busy machine has kept the wrapper from reading its rest in time', async () => {
    await withKeys(async ({ type, writes }) => {
      type('\x1b[93');
      const read = new Promise<void>((resolve) => {
        stat('/', () => {
          type(';5u');
          resolve();
        });
      });
      const until = performance.now() + 100;
      while (performance.now() < until); // now the timer is due, and the rest waits behind it
      await read;
      type('q');
      type('x');
      await eventually(() => expect(writes).toEqual(['x']), { interval: 2 });
    });
  });
});

describe('a key right behind the hotkey, where no overview can open', () => {
  const press = async (
    agent: Partial<Agent>,
    keys: string,
  ): Promise<{ readonly acted: readonly string[]; readonly writes: readonly string[] }> => {
    const run = makeOverviewHarness(80, 24, { isAvailable: () => false }, agent);
    const acted: string[] = [];
    Object.assign(run.stage.worker, {
      post: (message: ToWorker) => void (message.type === 'overview-action' && acted.push(message.action)),
      handle: (event: Event) => void (event.type === 'compact-requested' && acted.push('compact')),
    });
    try {
      run.type(keys);
      return { acted, writes: run.writes };
    } finally {
      run.stop();
    }
  };

  it.each([
    ['c', 'compact'],
    ['u', 'undo'],
    ['b', 'recall'],
  ])('%s does what it does in the overview: %s', async (key, action) => {
    expect(await press(agents.claude, `\x1d${key}`)).toEqual({ acted: [action], writes: [] });
  });

  it('compacts also where the overview turned out not to open only after the hotkey', async () => {
    let isAvailable = true;
    const load = async (): Promise<never> => {
      isAvailable = false;
      throw new Error('Ink is gone');
    };
    const run = makeOverviewHarness(80, 24, { isAvailable: () => isAvailable, load }, agents.claude);
    const asked: string[] = [];
    Object.assign(run.stage.worker, {
      handle: ({ type }: Event) => void (type === 'compact-requested' && asked.push(type)),
    });
    run.type('\x1d');
    await eventually(() => expect(run.overview.isOpen()).toBe(false), { interval: 2 });
    run.type('c');
    expect({ asked, writes: run.writes }).toEqual({ asked: ['compact-requested'], writes: [] });
    run.stop();
  });

  it.each(['a', 'x', 'U'])('%s has no meaning, and reaches the child', async (key) => {
    expect(await press(agents.claude, `\x1d${key}`)).toEqual({ acted: [], writes: [key] });
  });

  it('l, which could only choose a limit there, does not reach the child', async () => {
    expect(await press(agents.claude, '\x1dl')).toEqual({ acted: [], writes: [] });
    expect(await press({}, '\x1dl')).toEqual({ acted: [], writes: [] });
  });

  it.each(['q', '\x1b'])(
    '%j, a way out of the overview, reaches the child while ctxwrap has not failed',
    async (key) => {
      const run = makeOverviewHarness(80, 24, { isAvailable: () => false });
      run.type(`\x1d${key}`);
      await eventually(() => expect(run.writes).toEqual([key]), { interval: 2 });
      run.stop();
    },
  );

  it.each(['q', '\x1b', '\x1b[113u'])('%j hides the row that says that ctxwrap has failed', async (key) => {
    const run = makeOverviewHarness(80, 24, { isAvailable: () => false });
    run.parts.protection.lose({ pid: 1, startedAt: 0 });
    run.type(`\x1d${key}`);
    await eventually(() => expect(run.stage.isFooterWanted).toBe(false), { interval: 2 });
    run.type('\x1d');
    expect(run.stage.isFooterWanted).toBe(true);
    run.type('x');
    await eventually(() => expect(run.writes).toEqual(['x']), { interval: 2 });
    run.stop();
  });

  it('reaches a child to which ctxwrap types nothing', async () => {
    expect(await press({}, '\x1du')).toEqual({ acted: [], writes: ['u'] });
  });
});

describe('what the user types', () => {
  it.each([
    '\x1b\r',
    '\x1bb',
    '\x1bOA',
    '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\',
    '\x1bP>|kitty(0.26)\x1b\\',
    'a\x1b[Ab',
  ])('in one go, like %j, reaches the child in one write', async (keys) => {
    await withKeys(async ({ type, writes }) => {
      for (let count = 0; count < 20; count += 1) type(keys);
      expect(writes).toEqual(Array.from({ length: 20 }, () => keys));
    });
  });

  it('reaches it whole and in one write, whatever it is', async () => {
    const keys = fc
      .array(
        fc.oneof(
          fc.string({ minLength: 1 }),
          fc
            .uint8Array({ minLength: 1, maxLength: 12 })
            .map((bytes) => Buffer.from(bytes).toString('latin1')),
          fc.constantFrom(
            '\x1b',
            '\x1b[',
            '\x1bx',
            '\x1b\x1b[A',
            '\x1bO',
            '\x1b[200~',
            '\x1b]11;rgb:1/1/1\x07',
          ),
        ),
        {
          minLength: 1,
        },
      )
      .map((parts) => parts.join(''))
      .filter((text) => !text.includes('\x1d'));
    await fc.assert(
      fc.asyncProperty(keys, (text) =>
        withKeys(async ({ type, writes }) => {
          type(text);
          await eventually(() => expect(writes.length).toBeGreaterThan(0), { interval: 2 });
          expect(writes).toEqual([text]);
        }),
      ),
      { numRuns: 50, seed: 20261122 },
    );
  });

  it('is sent with what comes next where keys come without a pause', async () => {
    await withKeys(async ({ type, writes }) => {
      for (let count = 0; count < 100; count += 1) type('b\x1b');
      expect(writes.join('').length).toBeGreaterThan(190);
    });
  });

  it('together with an answer to us is still one write', async () => {
    const run = makeOverviewHarness(80, 24);
    run.stage.filter.modeTracker.queries.addOwn('cursor');
    run.type('a\x1b\x1b[5;1Rb');
    expect(run.writes).toEqual(['a\x1bb']);
    run.stop();
  });
});

describe('a key that was meant for the choice of a limit', () => {
  const withLate = (note: (late: LateKeys) => void, columns = 80) => {
    const late = makeLateKeys();
    const run = makeOverviewHarness(columns, 24, { late });
    note(late);
    return run;
  };

  it.each(['\r', '\r\r\r'])(
    '%j does not reach the child right behind the Enter that took it',
    async (keys) => {
      const run = withLate((late) => late.noteTaken());
      run.type(keys);
      run.type('\r');
      run.type('x');
      run.type('\r');
      await eventually(() => expect(run.writes).toEqual(['x', '\r']), { interval: 2 });
      run.stop();
    },
  );

  it.each(['2', '4', '\r', '\t', '\x1b[B', '\x1b[A', '\x1b[C', '\x1b[D'])(
    '%j does not reach the child right after the choice was lost, and what is typed then does',
    async (key) => {
      const run = withLate((late) => late.noteLost());
      run.type(key);
      run.type('yes 2');
      await eventually(() => expect(run.writes.join('')).toBe('yes 2'), { interval: 2 });
      run.stop();
    },
  );

  it('does not reach the child where the terminal is too small for the choice', async () => {
    const run = withLate(() => undefined, 30);
    run.type('\x1dl');
    run.type('2');
    run.type('x');
    await eventually(() => expect(run.writes).toEqual(['x']), { interval: 2 });
    run.stop();
  });
});
