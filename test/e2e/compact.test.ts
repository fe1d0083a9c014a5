// Compacting from the user's view: the built program around a script that imitates the demo agent and can misbehave.
import { describe, expect, it, vi } from 'vitest';
import {
  COMPACT_KEYS,
  type CompactSession,
  withCompactSession,
  isOffered,
  says,
  WAIT,
} from '../support/compact-session.js';

describe.concurrent('a full window', () => {
  it('is compacted after a countdown, without the user, and the footer says from how much to how much', async () => {
    await withCompactSession(
      [],
      async ({ window, ended, expectKeys }) => {
        await says(window, 'compacting in');
        await ended('verified');
        await says(window, 'compacted 50k →');
        await expectKeys('/compact\r');
      },
      [],
      { hasRealTimes: true },
    );
  });

  it('is not compacted while the user types, and the draft is kept', async () => {
    await withCompactSession(
      [],
      async ({ window, expectKeys, outcomes }) => {
        await says(window, 'compacting in');
        window.type('half a thought');
        await says(window, 'waiting: unsent text in the prompt');
        await expectKeys('half a thought');
        expect(window.rows().join('\n')).toContain('half a thought');
        expect(outcomes()).toEqual([]);
      },
      [],
      { hasRealTimes: true },
    );
  });

  it.each([
    { form: 'a lone Escape', key: '\x1b' },
    { form: 'Escape with its release, as the kitty protocol sends them', key: '\x1b[27;1:1u\x1b[27;1:3u' },
  ])('is not compacted before the next turn after $form, which does not reach the agent', async ({ key }) => {
    await withCompactSession(
      ['--work', '1500'],
      async ({ window, keys, expectKeys, outcomes, ended }) => {
        await says(window, 'compacting in');
        window.type(key);
        await says(window, 'postponed until your next turn');
        expect(keys()).toBe('');
        expect(outcomes()).toEqual([]);
        window.type('next\r');
        await ended('verified');
        await expectKeys('next\r/compact\r');
      },
      [],
      { hasRealTimes: true },
    );
  });

  it('is not compacted after another key of your choice, and Escape reaches the agent, as in vim', async () => {
    await withCompactSession(
      [],
      async ({ window, expectKeys, outcomes }) => {
        await says(window, 'Ctrl-G: not now');
        window.type('\x1b');
        await expectKeys('\x1b');
        await says(window, 'you just typed'); // the countdown begins again, and until then the other key is the agent's, too
        await says(window, 'Ctrl-G: not now');
        window.type('\x07');
        await says(window, 'postponed until your next turn');
        await expectKeys('\x1b');
        expect(outcomes()).toEqual([]);
      },
      ['--not-now', 'Ctrl-G'],
      { hasRealTimes: true },
    );
  });

  it('leaves Escape to the agent where nothing is counted down', async () => {
    await withCompactSession(
      [],
      async ({ window, expectKeys }) => {
        await isOffered(window);
        window.type('\x1b');
        await expectKeys('\x1b');
      },
      ['--mode', 'ask'],
    );
  });

  it('is not compacted while the agent never becomes idle', async () => {
    await withCompactSession(['--busy'], async ({ window, keys }) => {
      await says(window, 'waiting: the agent is busy');
      expect(keys()).toBe('');
    });
  });

  it('is only offered in mode ask, and compacted on request', async () => {
    await withCompactSession(
      [],
      async ({ window, keys, expectKeys, ended }) => {
        await isOffered(window);
        expect(keys()).toBe('');
        window.type(COMPACT_KEYS);
        await ended('verified');
        await expectKeys('/compact\r');
      },
      ['--mode', 'ask'],
    );
  });
});

describe.concurrent('after a session with a compaction', () => {
  const SUMMARY = /^ctxwrap: 1 compaction \(50k → 13k\), \d+ (?:s|min), ended at ~7%/;
  const withEnded = (
    options: readonly string[],
    act: (scene: CompactSession) => Promise<void>,
  ): Promise<void> =>
    withCompactSession(
      [],
      async (scene) => {
        await scene.ended('verified');
        scene.window.type('\x03\x03');
        await act(scene);
      },
      options,
    );

  it('one line on the normal screen says what happened', async () => {
    await withEnded([], async ({ window }) => {
      await window.until('ended at');
      expect(window.rows().filter((row) => row.includes('ended at'))).toEqual([
        expect.stringMatching(SUMMARY),
      ]);
    });
  });

  it.each(['--no-summary', '--quiet'])('%s leaves that line out', async (option) => {
    await withEnded([option], async ({ window }) => {
      await vi.waitFor(() => expect(window.isOpen()).toBe(false), WAIT);
      await window.emulator.write(''); // everything received so far is drawn
      expect(window.rows().join('\n')).not.toContain('1 compaction (');
    });
  });
});

describe.concurrent('a compaction that the user asks for by a key', () => {
  const withOffer = (
    agent: readonly string[],
    act: (scene: CompactSession) => Promise<void>,
  ): Promise<void> => withCompactSession(agent, act, ['--mode', 'ask']);

  it.each([
    { what: 'fails', agent: ['--compact', 'fail'], kind: 'failed' },
    { what: 'has nothing to do', agent: ['--compact', 'noop'], kind: 'noop' },
    {
      what: 'gets no Enter',
      agent: ['--deaf', 'enter'],
      kind: 'not-started',
      keys: `/compact\r${'\x7f'.repeat(8)}`,
    },
  ])('and that $what is told as $kind', async ({ agent, kind, keys: expected = '/compact\r' }) => {
    await withOffer(agent, async ({ window, ended, expectKeys }) => {
      await isOffered(window);
      window.type(COMPACT_KEYS);
      await ended(kind);
      await expectKeys(expected);
    });
  });

  it('is not reported as failed at once when the agent swallows it: an agent can begin late', async () => {
    await withOffer(['--compact', 'swallow'], async ({ window, outcomes, expectKeys }) => {
      await isOffered(window);
      window.type(COMPACT_KEYS);
      await says(window, 'command sent, waiting for it to start');
      expect(outcomes()).toEqual([]);
      await expectKeys('/compact\r');
    });
  });

  it('is not submitted when a dialog opens between the command and Enter', async () => {
    await withOffer(['--ask-at-command', 'rm -r /'], async ({ window, ended, expectKeys }) => {
      await isOffered(window);
      window.type(COMPACT_KEYS);
      await ended('not-delivered');
      await expectKeys('/compact');
      expect(window.rows().join('\n')).toContain('Do you want to run rm -r /?');
    });
  });

  it('is retracted when the command does not arrive', async () => {
    await withOffer(['--deaf', 'text'], async ({ window, ended, expectKeys }) => {
      await isOffered(window);
      window.type(COMPACT_KEYS);
      await ended('not-delivered');
      await expectKeys(`/compact${'\x7f'.repeat(8)}`);
    });
  });

  it('is interrupted by the end of the agent', async () => {
    await withOffer(['--compact', 'hang'], async ({ window, ended, expectKeys }) => {
      await isOffered(window);
      window.type(COMPACT_KEYS);
      await window.until('Compacting conversation');
      window.type('\x03\x03');
      await ended('interrupted');
      await expectKeys('/compact\r\x03\x03');
    });
  });

  it('is not verified by the words on the screen alone', async () => {
    await withOffer(['--compact', 'lie'], async ({ window, ended, outcomes }) => {
      await isOffered(window);
      window.type(COMPACT_KEYS);
      await says(window, 'compacted, waiting for the new size');
      expect(outcomes()).toEqual([]);
      window.type('go on\r');
      await ended('unverified');
    });
  });

  it('sends the keys that the user types meanwhile after it, in order, also where the key ends a countdown', async () => {
    await withCompactSession(
      [],
      async ({ window, ended, keys, expectKeys }) => {
        await says(window, 'compacting in');
        window.type(COMPACT_KEYS);
        await vi.waitFor(() => expect(keys()).toContain('/compact'), { timeout: 60_000, interval: 1 });
        window.type('next');
        await ended('verified');
        await expectKeys('/compact\rnext');
        expect(window.rows().join('\n')).toContain('next');
      },
      [],
      { hasRealTimes: true },
    );
  });
});
