// A message of the user at hard, with `--at-hard hold`: the built program around a script that imitates the demo agent.
import { describe, expect, it, vi } from 'vitest';
import {
  COMPACT_KEYS,
  type CompactSession,
  says,
  WAIT,
  withCompactSession,
} from '../support/compact-session.js';

const HARD = ['--hard', '45k'];
const HOLD = [...HARD, '--at-hard', 'hold'];
const REAL = { hasRealTimes: true };
const QUESTION = 'hard: Enter sends anyway';

/** A message is in the prompt, and the footer knows it. */
const withMessage = async ({ window }: CompactSession, message: string): Promise<void> => {
  await says(window, 'compacting in');
  window.type(message);
  await says(window, 'waiting: unsent text in the prompt');
};
const isDraft = ({ log }: CompactSession): Promise<void> =>
  vi.waitFor(() => expect(log()).toContain('activity draft'), WAIT);

describe.concurrent('Enter at hard', () => {
  it('is held once with a question, and the next one sends the message', async () => {
    await withCompactSession(
      [],
      async (scene) => {
        const { window, expectKeys } = scene;
        await withMessage(scene, 'go on');
        window.type('\r');
        await says(window, QUESTION);
        await expectKeys('go on');
        window.type('\r');
        await expectKeys('go on\r');
        await window.until('● a long answer');
      },
      HOLD,
      REAL,
    );
  });

  it('is not held by default', async () => {
    await withCompactSession(
      [],
      async (scene) => {
        const { window, expectKeys } = scene;
        await withMessage(scene, 'go on');
        window.type('\r');
        await expectKeys('go on\r');
        expect(window.rows().join('\n')).not.toContain(QUESTION);
      },
      HARD,
      REAL,
    );
  });

  it('goes to the agent where the footer is hidden', async () => {
    await withCompactSession(
      [],
      async (scene) => {
        scene.window.type('go on');
        await isDraft(scene);
        scene.window.type('\r');
        await scene.expectKeys('go on\r');
      },
      [...HOLD, '--no-footer'],
    );
  });

  it('goes to the agent in a dialog', async () => {
    await withCompactSession(
      ['--ask', 'rm -r /'],
      async ({ window, expectKeys, log }) => {
        await vi.waitFor(() => expect(log()).toContain('activity dialog'), WAIT);
        window.type('\r');
        await expectKeys('\r');
      },
      HOLD,
      REAL,
    );
  });

  it('sends a command of the agent at once', async () => {
    await withCompactSession(
      [],
      async (scene) => {
        const { window, expectKeys } = scene;
        await withMessage(scene, '/compact');
        window.type('\r');
        await expectKeys('/compact\r');
      },
      HOLD,
      REAL,
    );
  });

  it('gives way to a compaction that the user asks for in its place', async () => {
    await withCompactSession(
      [],
      async (scene) => {
        const { window, expectKeys, ended } = scene;
        await withMessage(scene, 'x');
        window.type('\r');
        await says(window, 'Ctrl-] c compacts once the prompt is empty');
        window.type(COMPACT_KEYS);
        await says(window, 'waiting: unsent text in the prompt');
        window.type('\x7f');
        await ended('verified');
        await expectKeys('x\x7f/compact\r');
      },
      HOLD,
      REAL,
    );
  });
});
