// Compacting as a user meets it: the built program around what looks like the demo agent, and does as it is told, also wrong.
import { describe, expect, it, vi } from 'vitest';
import { COMPACT_KEYS, onScene, says, WAIT } from '../support/compact-scene.js';

describe.concurrent('a full window', () => {
  it('is compacted after a countdown, without the user, and the footer says from how much to how much', async () => {
    await onScene([], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      await ended('verified');
      await says(window, 'compacted 50k →');
      expect(keys()).toBe('/compact\r');
    });
  }, 60_000);

  it('is left alone while the user types, whose draft is kept', async () => {
    await onScene([], async ({ window, keys, outcomes }) => {
      await says(window, 'compacting in');
      window.type('half a thought');
      await says(window, 'holding: you have a draft');
      expect(keys()).toBe('half a thought');
      expect(window.rows().join('\n')).toContain('half a thought');
      expect(outcomes()).toEqual([]);
    });
  });

  it('is left alone while the agent never comes to rest', async () => {
    await onScene(['--busy'], async ({ window, keys }) => {
      await says(window, 'waiting: agent is busy');
      expect(keys()).toBe('');
    });
  });

  it('is only spoken of where the user wants to be asked', async () => {
    await onScene(
      [],
      async ({ window, keys, ended }) => {
        await says(window, 'full: compact with Ctrl-] c');
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
    await onScene(agent, async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended(kind);
      await vi.waitFor(() => expect(keys()).toBe(expected), WAIT);
    });
  });

  it('and that is swallowed is not told to have failed at once: an agent can begin late', async () => {
    await onScene(['--compact', 'swallow'], async ({ window, outcomes, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await says(window, 'command sent, not seen to start yet');
      expect(outcomes()).toEqual([]);
      expect(keys()).toBe('/compact\r');
    });
  });

  it('is not submitted when a dialog opens between the command and Enter', async () => {
    await onScene(['--ask-at-command', 'rm -r /'], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended('not-delivered');
      expect(keys()).toBe('/compact');
      expect(window.rows().join('\n')).toContain('Do you want to run rm -r /?');
    });
  });

  it('is taken back when the command does not arrive', async () => {
    await onScene(['--deaf', 'text'], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended('not-delivered');
      expect(keys()).toBe(`/compact${'\x7f'.repeat(8)}`);
    });
  });

  it('is interrupted by the end of the agent', async () => {
    await onScene(['--compact', 'hang'], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await window.until('Compacting conversation');
      window.type('\x03\x03');
      await ended('interrupted');
      expect(keys()).toBe('/compact\r\x03\x03');
    });
  });

  it('is not proved by words alone', async () => {
    await onScene(['--compact', 'lie'], async ({ window, ended, outcomes }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await says(window, 'compacted, size not told yet');
      expect(outcomes()).toEqual([]);
      window.type('go on\r');
      await ended('unverified');
    });
  });

  it('sends what the user types meanwhile behind it, in its order', async () => {
    await onScene([], async ({ window, ended, keys }) => {
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
