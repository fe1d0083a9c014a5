// The overview from the user's view: the built program around a script that imitates the demo agent.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { bin, programPath } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';

const HOTKEY = '\x1d';
const WAIT = { timeout: 60_000, interval: 20 };

interface Scene {
  readonly window: Window;
  /** everything written to the agent so far, by the user and by the wrapper */
  readonly keys: () => string;
  /** resolves when exactly this was written to the agent; the recording of it is written a little later */
  readonly expectKeys: (keys: string) => Promise<void>;
  /** of the wrapper */
  readonly log: () => string;
  /** the user's configuration */
  readonly config: () => string;
}

const onScene = (act: (scene: Scene) => Promise<void>, options: readonly string[] = []): Promise<void> =>
  inFolder(async (folder) => {
    const [cast = '', logFile = ''] = ['run.cast', 'log'].map((name) => join(folder, name));
    const program = [process.execPath, programPath('demo-like.js')];
    const records = ['--record', cast, '--record-input', '--log', logFile];
    const window = openWindow({
      file: process.execPath,
      args: [bin, '--runtime', 'demo', ...records, ...options, '--', ...program],
      cwd: folder,
      env: { ...plainEnv(folder), CTXWRAP_DEMO_LOG: join(folder, 'demo.jsonl') },
      columns: 100,
      rows: 32,
    });
    const keys = (): string =>
      readFileSync(cast, 'utf8')
        .split('\n')
        .slice(1)
        .filter((line) => line.endsWith(']'))
        .map((line) => JSON.parse(line) as [number, string, string])
        .flatMap(([, type, text]) => (type === 'i' ? [text] : []))
        .join('');
    const expectKeys = (expected: string): Promise<void> =>
      vi.waitFor(() => expect(keys()).toBe(expected), WAIT);
    const config = (): string => readFileSync(join(folder, '.config/ctxwrap/config.jsonc'), 'utf8');
    try {
      await act({ window, keys, expectKeys, log: () => readFileSync(logFile, 'utf8'), config });
    } finally {
      window.close();
    }
  });

const shows = (window: Window, text: string): Promise<void> => window.until(text);
const hasNumber = (window: Window): Promise<void> =>
  window.until(() => lastRow(window).includes('50k'), 'the footer with the number');
const open = async ({ window }: Scene): Promise<void> => {
  await hasNumber(window);
  window.type(HOTKEY);
  await shows(window, 'What fills it');
};
/** Opens and closes the overview: a key right after the hotkey closes it. */
const look = async (window: Window): Promise<void> => {
  window.type('d');
  await shows(window, 'Where the number comes from');
  window.type('d');
  await shows(window, 'What fills it');
};

describe.concurrent('the overview', () => {
  it('shows what is known, and closes without a trace; no key of it reaches the agent', async () => {
    await onScene(async (scene) => {
      const { window, keys, expectKeys } = scene;
      await open(scene);
      const text = window.rows().join('\n');
      expect(text).toContain('Compacts at 167,000 tokens (117,000 to go).');
      expect(text).toContain('50,000 tokens (session file');
      window.type('d');
      await shows(window, 'Where the number comes from');
      window.type('?xyz\x1b[B\x1b[200~rm -r /\r\x1b[201~');
      await shows(window, 'Esc back');
      window.type('q');
      await window.until(() => lastRow(window).includes('50k'), 'the footer again');
      expect(window.rows().join('\n')).toContain('a long answer');
      expect(keys()).toBe('');
      window.type('hello');
      await expectKeys('hello');
    });
  });

  it('opens although it was asked for before it could be drawn; no key of that reaches the agent', async () => {
    await onScene(async ({ window, expectKeys }) => {
      await window.until(() => window.rows().some((row) => row.trim() !== ''), 'the agent’s first output');
      window.type(`${HOTKEY}y`);
      await shows(window, 'What fills it');
      window.type('q');
      await hasNumber(window);
      window.type('x');
      await expectKeys('x');
    });
  });

  it('changes the mode, and puts compacting off', async () => {
    await onScene(
      async (scene) => {
        const { window, log } = scene;
        await open(scene);
        await shows(window, 'Compacts in');
        window.type('p');
        await shows(window, 'Postponed until your next turn.');
        window.type('a');
        await shows(window, 'ask');
        window.type('a');
        await shows(window, 'Nothing happens automatically in mode warn; c compacts.');
        expect(log()).not.toContain('typing');
      },
      ['--warn', '20k', '--auto', '30k', '--hard', '190k'],
    );
  });

  it('chooses a limit, for this session or always, and no key of that reaches the agent', async () => {
    await onScene(async (scene) => {
      const { window, keys, config } = scene;
      await open(scene);
      window.type('l');
      await shows(window, 'Limit (now none)');
      window.type('\r');
      await window.until(() => lastRow(window).includes('limit 200k for this session'), 'the answer');
      window.type(HOTKEY);
      await shows(window, 'What fills it');
      window.type('l2\t');
      await shows(window, '[always]');
      window.type('\r');
      await window.until(
        () => lastRow(window).includes('limit 300k saved in ~/.config/ctxwrap/'),
        'the answer',
      );
      expect(config()).toBe('{\n  "auto": "300k"\n}\n');
      expect(keys()).toBe('');
    });
  });

  it('is hinted at in the footer until it was opened three times', async () => {
    await onScene(async (scene) => {
      const { window } = scene;
      for (const isHinted of [true, true, true, false]) {
        await window.until(
          () => lastRow(window).includes('Ctrl-] overview') === isHinted,
          'the hint, or none',
        );
        await open(scene);
        window.type('q');
        await hasNumber(window);
      }
      expect(lastRow(window)).not.toContain('overview');
    });
  });

  it('switches proactive off and on', async () => {
    await onScene(async (scene) => {
      const { window } = scene;
      await open(scene);
      await shows(window, 'proactive on: at warn, also counts text since the last number');
      window.type('n');
      await shows(window, 'proactive off');
      window.type('n');
      await shows(window, 'proactive on');
      expect(scene.keys()).toBe('');
    });
  });

  it('counts down on its first page, and not where another page hides it', async () => {
    await onScene(
      async (scene) => {
        const { window, log, keys, expectKeys } = scene;
        await open(scene);
        await shows(window, 'Compacts in');
        window.type('?');
        await vi.waitFor(
          () => expect(log()).toContain('waiting: this page does not show the countdown'),
          WAIT,
        );
        expect(keys()).toBe('');
        window.type('?');
        await shows(window, 'Compacts in');
        await expectKeys('/compact\r');
      },
      ['--warn', '20k', '--auto', '30k', '--hard', '190k'],
    );
  });

  it('compacts while it is open, and tells how that went', async () => {
    await onScene(async (scene) => {
      const { window, expectKeys } = scene;
      await open(scene);
      await look(window);
      window.type('c');
      await shows(window, '✓ compacted 50k → ');
      window.type('\x1b[F'); // End: the list is below the chart
      await shows(window, 'Compactions: 1');
      await expectKeys('/compact\r');
    });
  });

  it('is not there when the hotkey and c come as one, which compacts', async () => {
    await onScene(async ({ window, expectKeys }) => {
      await hasNumber(window);
      window.type(`${HOTKEY}c`);
      await window.until(() => lastRow(window).includes('compacted 50k'), 'the footer with the outcome');
      window.type('next');
      await expectKeys('/compact\rnext');
    });
  });

  it('is not there when the hotkey and u come as one, whose answer is in the footer', async () => {
    await onScene(async ({ window, expectKeys }) => {
      await hasNumber(window);
      window.type(`${HOTKEY}u`);
      await window.until(() => lastRow(window).includes('not undone: '), 'the footer with the answer');
      window.type('next');
      await expectKeys('next');
    });
  });

  it('shows the recap when the hotkey and b come as one, and gives the keys back with Esc', async () => {
    await onScene(async ({ window, expectKeys }) => {
      await hasNumber(window);
      window.type(`${HOTKEY}b`);
      await window.until(() => window.rows().some((row) => row.includes('Recap')), 'the recap');
      window.type('\x1b');
      await window.until(
        () => !window.rows().some((row) => row.includes('Recap')),
        'the screen of the agent',
      );
      window.type('next');
      await expectKeys('next');
    });
  });

  it('says why a compaction that was asked for waits, and takes it back with the same key', async () => {
    await onScene(async (scene) => {
      const { window, expectKeys } = scene;
      await hasNumber(window);
      window.type('a draft');
      await shows(window, 'a draft');
      await open(scene);
      await look(window);
      window.type('c');
      await shows(window, 'Compaction requested, waiting: unsent text in the prompt.');
      window.type('c');
      await shows(window, 'Compacts at 167,000');
      await expectKeys('a draft');
    });
  });
});
