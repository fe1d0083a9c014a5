// What may never happen while the wrapper, the agent or both stand still or go away: keys of the user's and ours in one line.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { COMPACT_KEYS, onScene, says, WAIT, type Scene } from '../support/compact-scene.js';

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
const launched = (after: string) => ({ launcher: ['sh', '-c', `exec 2>/dev/null; "$@"; ${after}`, 'sh'] });
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

/** What the agent got beside the message and the command, when it has got the message. */
const otherLines = async ({ keys }: Scene): Promise<readonly string[]> => {
  await vi.waitFor(() => expect(linesOf(keys())).toContain('hello'), WAIT);
  return linesOf(keys()).filter((line) => !ownLines.includes(line));
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
    await onScene([], async (scene) => {
      await whileStopped(scene, { pids: () => [scene.window.pid], from, pauseMs });
      expect(await otherLines(scene)).toEqual([]);
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
      expect(await otherLines(scene)).toEqual([]);
    };
    await onScene([], stall, [], launched('true'));
  });

  it.runIf(hasProc)(
    'is never glued to the command when the agent stalls before it has read the text',
    async () => {
      const stall = async (scene: Scene): Promise<void> => {
        await whileAllStops(scene);
        expect(await otherLines(scene)).toEqual([]);
      };
      await onScene([], stall, [], launched('true'));
    },
  );

  it.runIf(hasProc)('is never glued to the command when both stop, as with a closed lid', async () => {
    const stop = async (scene: Scene): Promise<void> => {
      await whileAllStops(scene, scene.window.pid);
      expect(await otherLines(scene)).toEqual([]);
    };
    await onScene([], stop, [], launched('true'));
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
      await onScene([], kill, [], launched('cat >/dev/null'));
    },
  );
});
