// A place without a network: agents that are started there can reach nothing but the loopback device.
import { spawnSync } from 'node:child_process';
import { getuid } from 'node:process';

// When the first process of the place ends, the kernel ends all others: nothing of an agent can be left.
const OWN = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const AS_USER = ['--user', '--map-root-user'];
const UP = 'ip link set lo up && "$@"';

/** The words that run a command in such a place. */
export const isolated = (words: readonly string[]): readonly [string, ...string[]] => {
  const flags = getuid?.() === 0 ? OWN : [...AS_USER, ...OWN];
  return ['unshare', ...flags, 'sh', '-c', UP, 'sh', ...words];
};

/** Why there is no such place here; undefined when there is one. */
export const whyNotIsolated = (): string | undefined => {
  const [file, ...args] = isolated(['true']);
  const { status, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  const reason = error ? error.message : stderr.trim().split('\n').at(-1);
  return `the lab needs the right to make namespaces (unshare and ip of Linux): ${reason}`;
};
