// A countdown that the user could not see: the built program around the demo agent, in terminals and with options that leave no footer.
import { describe, expect, it, vi } from 'vitest';
import {
  COMPACT_KEYS,
  withCompactSession,
  says,
  WAIT,
  type CompactSession,
} from '../support/compact-session.js';
import { lastRow } from '../support/wrapped.js';

/** Waits for the reason in the log. */
const logged = ({ log }: CompactSession, words: string): Promise<void> =>
  vi.waitFor(() => expect(log()).toContain(words), WAIT);

const FAR_MS = 13_000; // longer than a countdown and the waits before it
const FAST_FAR_MS = 6_000; // the same where they take a fifth of the time

/** Nothing is typed although there was time for it. A fixed wait, because nothing marks the absence of an action. */
const nothingTyped = async ({ keys }: CompactSession, farMs = FAST_FAR_MS): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, farMs));
  expect(keys()).toBe('');
};

describe.concurrent('without a footer', () => {
  it('nothing is typed by itself, and a request is carried out', async () => {
    await withCompactSession(
      [],
      async (scene) => {
        await logged(scene, 'waiting: no footer for the countdown (--mode auto compacts without it)');
        await nothingTyped(scene);
        scene.window.type(COMPACT_KEYS);
        await scene.ended('verified');
        await scene.expectKeys('/compact\r');
      },
      ['--no-footer'],
    );
  });

  it('a mode that was set explicitly compacts all the same', async () => {
    await withCompactSession(
      [],
      async ({ ended, expectKeys }) => {
        await ended('verified');
        await expectKeys('/compact\r');
      },
      ['--no-footer', '--mode', 'auto'],
    );
  });
});

describe.concurrent('in a terminal', () => {
  it('of seven rows the footer is there as long as a compaction is due', async () => {
    await withCompactSession(
      [],
      async ({ window, ended, expectKeys }) => {
        expect(lastRow(window)).not.toContain('demo');
        await says(window, 'compacting in');
        await ended('verified');
        await expectKeys('/compact\r');
        await window.until(() => !lastRow(window).includes('50k'), 'a screen without the footer');
      },
      [],
      { rows: 7 },
    );
  });

  it('that is too narrow nothing is typed, until there is room', async () => {
    await withCompactSession(
      [],
      async (scene) => {
        await logged(scene, 'waiting: the terminal is too small for the countdown');
        await nothingTyped(scene);
        scene.window.resize(80, 24);
        await says(scene.window, 'compacting in');
        await scene.ended('verified');
        await scene.expectKeys('/compact\r');
      },
      [],
      { columns: 19 },
    );
  });

  it('that becomes too small during the countdown nothing is typed', async () => {
    const shrink = async (scene: CompactSession): Promise<void> => {
      await says(scene.window, 'compacting in 5 s');
      scene.window.resize(110, 3);
      await logged(scene, 'waiting: the terminal is too small for the countdown');
      await nothingTyped(scene, FAR_MS);
      scene.window.resize(110, 30);
      await says(scene.window, 'compacting in 9 s');
      expect(scene.keys()).toBe('');
    };
    await withCompactSession([], shrink, [], { hasRealTimes: true });
  });
});
