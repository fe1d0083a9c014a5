// Compacting as a user meets it: the built program around the demo agent, which does as it is told, also wrong.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { bin } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';

const agent = fileURLToPath(new URL('../../dist/demo-agent.js', import.meta.url));
const COMPACT_KEYS = '\x1dc';
const WAIT = { timeout: 30_000, interval: 20 };

interface Scene {
  readonly window: Window;
  /** lines of the wrapper's log about attempts that are over */
  readonly outcomes: () => readonly string[];
  /** resolves when an attempt has ended so */
  readonly ended: (kind: string) => Promise<void>;
  /** what was written to the agent so far, the user's keys and ours */
  readonly keys: () => string;
  /** the agent's process */
  readonly agentPid: () => number;
}

/** The demo agent with a window that is full from the first turn on, doing what the script says. */
const onScene = (
  script: readonly object[],
  act: (scene: Scene) => Promise<void>,
  options: readonly string[] = [],
  launcher: readonly string[] = [],
): Promise<void> =>
  inFolder(async (folder) => {
    const [scriptFile, logFile, castFile] = ['script.json', 'log', 'run.cast'].map((name) =>
      join(folder, name),
    );
    writeFileSync(scriptFile ?? '', JSON.stringify([{ step: 'wait', until: 'idle' }, ...script]));
    const bounds = ['--warn', '20k', '--auto', '30k', '--hard', '190k'];
    const program = [...launcher, process.execPath, agent, '--pace', '20', '--script'];
    const records = ['--log', logFile ?? '', '--record', castFile ?? '', '--record-input'];
    const window = openWindow({
      file: process.execPath,
      args: [bin, '--runtime', 'demo', ...bounds, ...records, ...options, '--', ...program, scriptFile ?? ''],
      cwd: folder,
      env: { ...plainEnv(folder), CTXWRAP_DEMO_LOG: join(folder, 'demo.jsonl') },
      columns: 110,
      rows: 30,
    });
    const read = (file: string | undefined): string =>
      existsSync(file ?? '') ? readFileSync(file ?? '', 'utf8') : '';
    const outcomes = (): readonly string[] => read(logFile).match(/compaction by .*/g) ?? [];
    const keys = (): string =>
      read(castFile)
        .split('\n')
        .slice(1)
        .filter((line) => line.endsWith(']'))
        .map((line) => JSON.parse(line) as [number, string, string])
        .filter(([, type]) => type === 'i')
        .map(([, , text]) => text)
        .join('');
    const ended = (kind: string): Promise<void> =>
      vi.waitFor(() => expect(outcomes().join('\n')).toContain(`compaction by us: ${kind}`), WAIT);
    try {
      const agentPid = (): number => Number(/as process (\d+)/.exec(read(logFile))?.[1]);
      await act({ window, outcomes, ended, keys, agentPid });
    } finally {
      window.close();
    }
  });

const full = [
  { step: 'fill', usedTokens: 50_000 },
  { step: 'say', text: 'a long answer' },
];

const turn = JSON.stringify({
  type: 'turn',
  usedTokens: 50_000,
  windowTokens: 200_000,
  model: 'demo-1',
  at: 1,
});

const says = (window: Window, words: string): Promise<void> =>
  window.until(() => lastRow(window).includes(words), `the footer with ${words}`);

describe.concurrent('a full window', () => {
  it('is compacted after a countdown, without the user, and the footer says from how much to how much', async () => {
    await onScene(full, async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      await ended('verified');
      await says(window, 'compacted 50k →');
      expect(keys()).toBe('/compact\r');
    });
  }, 60_000);

  it('is left alone while the user types, whose draft is kept', async () => {
    await onScene(full, async ({ window, keys, outcomes }) => {
      await says(window, 'compacting in');
      window.type('half a thought');
      await says(window, 'holding: you have a draft');
      expect(keys()).toBe('half a thought');
      expect(window.rows().join('\n')).toContain('half a thought');
      expect(outcomes()).toEqual([]);
    });
  });

  it('is left alone while the agent never comes to rest', async () => {
    await onScene([{ step: 'log', line: turn }, { step: 'never-idle' }], async ({ window, keys }) => {
      await says(window, 'waiting: agent is busy');
      expect(keys()).toBe('');
    });
  });

  it('is only spoken of where the user wants to be asked', async () => {
    await onScene(
      full,
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
    { what: 'fails', script: [{ step: 'on-compact', how: 'fail' }], kind: 'failed' },
    { what: 'has nothing to do', script: [{ step: 'on-compact', how: 'noop' }], kind: 'noop' },
    { what: 'is swallowed', script: [{ step: 'on-compact', how: 'swallow' }], kind: 'not-started' },
    {
      what: 'gets no Enter',
      script: [{ step: 'ignore-keys', keys: ['enter'] }],
      kind: 'not-started',
      keys: `/compact\r${'\x7f'.repeat(8)}`,
    },
  ])('and that $what is told as $kind', async ({ script, kind, keys: expected = '/compact\r' }) => {
    await onScene([...script, ...full], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended(kind);
      await vi.waitFor(() => expect(keys()).toBe(expected), WAIT);
    });
  });

  it('is not submitted when a dialog opens between the command and Enter', async () => {
    await onScene(
      [{ step: 'dialog-behind', command: 'rm -r /' }, ...full],
      async ({ window, ended, keys }) => {
        await says(window, 'compacting in');
        window.type(COMPACT_KEYS);
        await ended('not-delivered');
        expect(keys()).toBe('/compact');
        expect(window.rows().join('\n')).toContain('Do you want to run rm -r /?');
      },
    );
  });

  it('is taken back when the command does not arrive', async () => {
    await onScene([{ step: 'ignore-keys', keys: ['text'] }, ...full], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await ended('not-delivered');
      expect(keys()).toBe(`/compact${'\x7f'.repeat(8)}`);
    });
  });

  it('is interrupted by the end of the agent', async () => {
    await onScene([{ step: 'on-compact', how: 'hang' }, ...full], async ({ window, ended, keys }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await window.until('Compacting conversation');
      window.type('\x03\x03');
      await ended('interrupted');
      expect(keys()).toBe('/compact\r\x03\x03');
    });
  });

  it('is not proved by words alone', async () => {
    await onScene([{ step: 'on-compact', how: 'lie' }, ...full], async ({ window, ended, outcomes }) => {
      await says(window, 'compacting in');
      window.type(COMPACT_KEYS);
      await says(window, 'compacted, size not told yet');
      expect(outcomes()).toEqual([]);
      window.type('go on\r');
      await ended('unverified');
    });
  });

  it('sends what the user types meanwhile behind it, in its order', async () => {
    await onScene(full, async ({ window, ended, keys }) => {
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

/** What an agent makes of keys that it reads one by one: what was submitted, and the draft. */
const linesOf = (keys: string): readonly string[] =>
  [...keys].reduce<string[]>(
    (lines, key) => {
      const draft = lines.pop() ?? '';
      if (key === '\r') return [...lines, draft, ''];
      return [...lines, key === '\x7f' ? draft.slice(0, -1) : draft + key];
    },
    [''],
  );

const STOPPED_MS = 6_000; // longer than anything of ours waits for the agent to show what was typed

interface Stop {
  /** processes, in the order in which they go on */
  readonly pids: () => readonly number[];
  /** keys of ours that have been written when they stop, and milliseconds more */
  readonly from: string;
  readonly pauseMs: number;
}

const written = ({ keys }: Scene, text: string): Promise<void> =>
  vi.waitFor(() => expect(keys()).toContain(text), { timeout: 20_000, interval: 1 });

const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void =>
  pids.forEach((pid) => process.kill(pid, signal));

/** Processes stop; the user types a message meanwhile. */
const whileStopped = async (scene: Scene, { pids, from, pauseMs }: Stop): Promise<void> => {
  await says(scene.window, 'compacting in');
  scene.window.type(COMPACT_KEYS);
  await written(scene, from);
  await pause(pauseMs);
  signalAll(pids(), 'SIGSTOP');
  scene.window.type('hello\r');
  await pause(STOPPED_MS);
  signalAll(pids(), 'SIGCONT');
};

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number);

// The wrapper's own child is a shell: where that stops, the wrapper gives the terminal back, as for Ctrl-Z. It says nothing of a death.
const launched = (after: string): readonly string[] => ['sh', '-c', `exec 2>/dev/null; "$@"; ${after}`, 'sh'];
const agentOf = ({ agentPid }: Scene): number => childrenOf(agentPid())[0] ?? 0;
const hasProc = existsSync('/proc/self/task');

/** The agent stalls before our text; both stand still when that has been written, and the user has typed a message. */
const whileAllStops = async (scene: Scene, wrapper?: number): Promise<void> => {
  await says(scene.window, 'compacting in');
  scene.window.type(COMPACT_KEYS);
  await pause(1_000);
  const agentItself = agentOf(scene);
  process.kill(agentItself, 'SIGSTOP');
  await written(scene, '/compact');
  if (wrapper !== undefined) process.kill(wrapper, 'SIGSTOP');
  scene.window.type('hello\r');
  await pause(STOPPED_MS);
  process.kill(agentItself, 'SIGCONT');
  if (wrapper === undefined) return;
  await pause(500);
  process.kill(wrapper, 'SIGCONT');
};

const ownLines = ['', 'hello', '/compact'];

const expectApart = async ({ keys }: Scene): Promise<void> => {
  await vi.waitFor(() => expect(linesOf(keys())).toContain('hello'), WAIT);
  expect(linesOf(keys()).filter((line) => !ownLines.includes(line))).toEqual([]);
};

describe.concurrent('a message that the user types while everything stands still', () => {
  it.each([
    ['before the text', '', 0],
    ['just before the text', '', 25],
    ['behind the text', '/compact', 0],
    ['between the text and Enter', '/compact', 40],
    ['at Enter', '/compact', 120],
    ['behind Enter', '/compact\r', 0],
    ['while it compacts', '/compact\r', 60],
  ] as const)('is never glued to the command when the wrapper stops %s', async (_, from, pauseMs) => {
    await onScene(full, async (scene) => {
      await whileStopped(scene, { pids: () => [scene.window.pid], from, pauseMs });
      await expectApart(scene);
    });
  });

  it.runIf(hasProc).each([
    ['when it has read the text', '/compact', 0],
    ['between the text and Enter', '/compact', 60],
    ['behind Enter', '/compact\r', 0],
    ['while it compacts', '/compact\r', 60],
  ] as const)('is never glued to the command when the agent stalls %s', async (_, from, pauseMs) => {
    const stall = async (scene: Scene): Promise<void> => {
      await whileStopped(scene, { pids: () => [agentOf(scene)], from, pauseMs });
      await expectApart(scene);
    };
    await onScene(full, stall, [], launched('true'));
  });

  it.runIf(hasProc)(
    'is never glued to the command when the agent stalls before it has read the text',
    async () => {
      const stall = async (scene: Scene): Promise<void> => {
        await whileAllStops(scene);
        await expectApart(scene);
      };
      await onScene(full, stall, [], launched('true'));
    },
  );

  it.runIf(hasProc)('is never glued to the command when both stop, as with a closed lid', async () => {
    const stop = async (scene: Scene): Promise<void> => {
      await whileAllStops(scene, scene.window.pid);
      await expectApart(scene);
    };
    await onScene(full, stop, [], launched('true'));
  });
});

describe.concurrent('an agent that is killed under a launcher', () => {
  it.runIf(hasProc)(
    'leaves its last frame, and nothing is typed for the program that reads next',
    async () => {
      const kill = async (scene: Scene): Promise<void> => {
        await says(scene.window, 'compacting in');
        const agentItself = agentOf(scene);
        process.kill(agentItself, 'SIGKILL');
        await vi.waitFor(() => expect(agentOf(scene)).not.toBe(agentItself));
        scene.window.type(COMPACT_KEYS);
        await pause(6_000); // the countdown is over, and whatever was to be typed has been
        expect(scene.keys()).toBe('');
        expect(scene.outcomes().filter((line) => line.includes('verified'))).toEqual([]);
      };
      await onScene(full, kill, [], launched('cat >/dev/null'));
    },
  );
});
