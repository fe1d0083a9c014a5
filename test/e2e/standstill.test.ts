// What must never happen while the wrapper, the agent or both are stopped or killed: keys of the user and of the wrapper joined in one
// line.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import {
  COMPACT_KEYS,
  withCompactSession,
  isOffered,
  says,
  WAIT,
  type CompactSession,
} from '../support/compact-session.js';
import { eventually } from '../support/eventually.js';

/** The effect of keys on an agent that reads them one by one: submitted lines, and the draft. */
const linesOf = (keys: string): readonly string[] =>
  [...keys].reduce<string[]>(
    (lines, key) => {
      const draft = lines.pop() ?? '';
      if (key === '\r') return [...lines, draft, ''];
      return [...lines, key === '\x7f' ? draft.slice(0, -1) : draft + key];
    },
    [''],
  );

const STOPPED_MS = 6_000; // longer than the wrapper ever waits for the agent to show the typed text

interface Stop {
  /** the processes, in the order in which they are continued */
  readonly pids: () => readonly number[];
  /** the wrapper's keys that are written when the processes stop, and milliseconds after that */
  readonly from: string;
  readonly pauseMs: number;
}

const written = ({ keys }: CompactSession, text: string): Promise<void> =>
  vi.waitFor(() => expect(keys()).toContain(text), { timeout: 60_000, interval: 1 });

const signalAll = (pids: readonly number[], signal: NodeJS.Signals): void =>
  pids.forEach((pid) => process.kill(pid, signal));

/** Stops processes; the user types a message meanwhile. */
const whileStopped = async (scene: CompactSession, { pids, from, pauseMs }: Stop): Promise<void> => {
  await isOffered(scene.window);
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

// The wrapper's own child is a shell: when that stops, the wrapper releases the terminal, as for Ctrl-Z. This is not about a killed agent.
const launched = (after: string) => ({ launcher: ['sh', '-c', `exec 2>/dev/null; "$@"; ${after}`, 'sh'] });
const agentOf = ({ agentPid }: CompactSession): number => childrenOf(agentPid())[0] ?? 0;
const hasProc = existsSync('/proc/self/task');

/** The agent stalls before the command; both processes are stopped when the command is written and the user has typed a message. */
const whileAllStops = async (scene: CompactSession, wrapper?: number): Promise<void> => {
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

/** What the agent received besides the message and the command, once it has the message. */
const otherLines = async ({ keys }: CompactSession): Promise<readonly string[]> => {
  await vi.waitFor(() => expect(linesOf(keys())).toContain('hello'), WAIT);
  return linesOf(keys()).filter((line) => !ownLines.includes(line));
};

describe.concurrent('a message that the user types while all processes are stopped', () => {
  it.each([
    ['before the text', '', 0],
    ['just before the text', '', 25],
    ['behind the text', '/compact', 0],
    ['between the text and Enter', '/compact', 40],
    ['at Enter', '/compact', 120],
    ['behind Enter', '/compact\r', 0],
    ['while it compacts', '/compact\r', 60],
  ] as const)('is never glued to the command when the wrapper stops %s', async (_, from, pauseMs) => {
    const stop = async (scene: CompactSession): Promise<void> => {
      await whileStopped(scene, { pids: () => [scene.window.pid], from, pauseMs });
      expect(await otherLines(scene)).toEqual([]);
    };
    await withCompactSession([], stop, ['--mode', 'ask']);
  });

  it.runIf(hasProc).each([
    ['when it has read the text', '/compact', 0],
    ['between the text and Enter', '/compact', 60],
    ['behind Enter', '/compact\r', 0],
    ['while it compacts', '/compact\r', 60],
  ] as const)('is never glued to the command when the agent stalls %s', async (_, from, pauseMs) => {
    const stall = async (scene: CompactSession): Promise<void> => {
      await whileStopped(scene, { pids: () => [agentOf(scene)], from, pauseMs });
      expect(await otherLines(scene)).toEqual([]);
    };
    await withCompactSession([], stall, ['--mode', 'ask'], launched('true'));
  });

  it.runIf(hasProc)(
    'is never glued to the command when the agent stalls before it has read the text',
    async () => {
      const stall = async (scene: CompactSession): Promise<void> => {
        await whileAllStops(scene);
        expect(await otherLines(scene)).toEqual([]);
      };
      await withCompactSession([], stall, [], { ...launched('true'), hasRealTimes: true });
    },
  );

  it.runIf(hasProc)('is never glued to the command when both stop, as with a closed lid', async () => {
    const stop = async (scene: CompactSession): Promise<void> => {
      await whileAllStops(scene, scene.window.pid);
      expect(await otherLines(scene)).toEqual([]);
    };
    await withCompactSession([], stop, [], { ...launched('true'), hasRealTimes: true });
  });
});

describe.concurrent('an agent that is killed under a launcher', () => {
  it.runIf(hasProc)(
    'leaves its last frame, and nothing is typed into the program that reads next',
    async () => {
      const kill = async (scene: CompactSession): Promise<void> => {
        await says(scene.window, 'compacting in');
        const agentItself = agentOf(scene);
        process.kill(agentItself, 'SIGKILL');
        await eventually(() => expect(agentOf(scene)).not.toBe(agentItself));
        scene.window.type(COMPACT_KEYS);
        await pause(6_000); // the countdown is over, and anything to be typed has been typed
        expect(scene.keys()).toBe('');
        expect(scene.outcomes().filter((line) => line.includes('verified'))).toEqual([]);
      };
      await withCompactSession([], kill, [], { ...launched('cat >/dev/null'), hasRealTimes: true });
    },
  );
});
