// The other process of `ctxwrap verify`: it plays in a place of its own, and when it goes, all that it has started goes with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Place } from '../../verify/namespace.js';
import { parseTold } from '../../verify/player.js';
import type { Order, Told } from '../../verify/player.js';
import { endLeftovers } from './leftovers.js';

const LONGEST_MS = 240_000;
const SECOND_MS = 1_000;
const FILE_MODE = 0o600;

/** Plays an order; resolves when nothing of it runs any more, to `whole` or to what has ended it before. */
export const playApart = async (
  order: Order,
  place: Place,
  { signal, onTold }: { readonly signal: AbortSignal; readonly onTold: (told: Told) => Promise<void> },
): Promise<string> => {
  const [node, program] = order.ctxwrap;
  const [file, ...args] = place.words([node, program, 'verify', '--order', JSON.stringify(order)]);
  // with a session of its own no key of the user's terminal ends it before we know
  const child = spawn(file, args, {
    cwd: order.folder,
    env: { PATH: order.programs.join(':'), HOME: order.folder, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  child.stderr.pipe(createWriteStream(join(order.folder, 'verify.log'), { mode: FILE_MODE }));
  let ending = 'whole';
  const stop = (): void => {
    ending = `not over after ${LONGEST_MS / SECOND_MS} s`;
    endGroup(child.pid);
  };
  const timer = setTimeout(stop, LONGEST_MS);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    const closed = once(child, 'close');
    for await (const line of createInterface(child.stdout)) {
      const told = parseTold(line);
      if (told) await onTold(told);
    }
    const [code, by] = await closed;
    if (ending === 'whole' && code !== 0) ending = `ended with ${by ?? `status ${code}`}, see verify.log`;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    endGroup(child.pid);
    await endLeftovers(order.folder);
  }
  return ending;
};

const endGroup = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended meanwhile
  }
};
