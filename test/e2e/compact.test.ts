// Compacting from the user's view: the built program around a script that imitates the demo agent and can misbehave.
import { describe, expect, it, vi } from 'vitest';
import { COMPACT_KEYS, withCompactSession, says, WAIT } from '../support/compact-session.js';

describe.concurrent('a full window', () => {
  it('is compacted after a countdown, without the user, and the footer says from how much to how much', async () => {
    await withCompactSession([], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      await ended('verified');
      await says(window, 'compacted 50k →');
      expect(keys()).toBe('/compact\r');
    });
  }, 60_000);

  it('is not compacted while the user types, and the draft is kept', async () => {
    await withCompactSession([], async ({ window, keys, outcomes }) => {
      await says(window, 'compacting in');
      window.type('half a thought');
      await says(window, 'waiting: unsent text in the prompt');
      expect(keys()).toBe('half a thought');
      expect(window.rows().join('\n')).toContain('half a thought');
      expect(outcomes()).toEqual([]);
    });
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
      async ({ window, keys, ended }) => {
        await says(window, 'full · Ctrl-] c compacts now');
        expect(keys()).toBe('');
        window.type(COMPACT_KEYS);
        await ended('verified');
        expect(keys()).toBe('/compact\r');
      },
      ['--mode', 'ask'],
    );
  });
});

describe.concurrent('a compaction that the user asks for by a key', () => {
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
    await withCompactSession(agent, async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended(kind);
      await vi.waitFor(() => expect(keys()).toBe(expected), WAIT);
    });
  });

  it('is not reported as failed at once when the agent swallows it: an agent can begin late', async () => {
    await withCompactSession(['--compact', 'swallow'], async ({ window, outcomes, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await says(window, 'command sent, waiting for it to start');
      expect(outcomes()).toEqual([]);
      expect(keys()).toBe('/compact\r');
    });
  });

  it('is not submitted when a dialog opens between the command and Enter', async () => {
    await withCompactSession(['--ask-at-command', 'rm -r /'], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended('not-delivered');
      expect(keys()).toBe('/compact');
      expect(window.rows().join('\n')).toContain('Do you want to run rm -r /?');
    });
  });

  it('is retracted when the command does not arrive', async () => {
    await withCompactSession(['--deaf', 'text'], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended('not-delivered');
      expect(keys()).toBe(`/compact${'\x7f'.repeat(8)}`);
    });
  });

  it('is interrupted by the end of the agent', async () => {
    await withCompactSession(['--compact', 'hang'], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await window.until('Compacting conversation');
      window.type('\x03\x03');
      await ended('interrupted');
      expect(keys()).toBe('/compact\r\x03\x03');
    });
  });

  it('is not verified by the words on the screen alone', async () => {
    await withCompactSession(['--compact', 'lie'], async ({ window, ended, outcomes }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await says(window, 'compacted, waiting for the new size');
      expect(outcomes()).toEqual([]);
      window.type('go on\r');
      await ended('unverified');
    });
  });

  it('sends the keys that the user types meanwhile after it, in order', async () => {
    await withCompactSession([], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await vi.waitFor(() => expect(keys()).toContain('/compact'), { timeout: 10_000, interval: 1 });
      window.type('next');
      await ended('verified');
      expect(keys()).toBe('/compact\rnext');
      expect(window.rows().join('\n')).toContain('next');
    });
  });
});
