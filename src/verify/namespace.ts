// A place without a network: agents that are started there can reach nothing but the loopback device.
import { spawnSync } from 'node:child_process';
import { getuid } from 'node:process';

type Words = readonly [string, ...string[]];

/** Where an agent is started. */
export interface Place {
  /** the words that run a command there */
  readonly words: (words: readonly string[]) => Words;
  /** why it has a network all the same; absent where it has none */
  readonly openFor?: string;
}

// When the first process of the place ends, the kernel ends all others: nothing of an agent can be left.
const WITH_PROCESSES = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const WITHOUT_NETWORK = ['--net'];
const AS_USER = ['--user', '--map-root-user'];
const UP =
  '{ ip link set lo up || ifconfig lo up; } 2>/dev/null || { echo "no ip and no ifconfig" >&2; exit 1; }; "$@"';

const wordsWith =
  (flags: readonly string[]) =>
  (words: readonly string[]): Words => {
    const all = getuid?.() === 0 ? flags : [...AS_USER, ...flags];
    return ['unshare', ...all, 'sh', '-c', UP, 'sh', ...words];
  };

/** The words that run a command in such a place. */
export const isolated = wordsWith(WITH_PROCESSES);

const obstacleTo = ([file, ...args]: Words): string | undefined => {
  const { status, stderr, error } = spawnSync(file, args, { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error ? error.message : (stderr.trim().split('\n').at(-1) ?? '');
};

/** Why there is no such place here; undefined when there is one. */
export const whyNotIsolated = (): string | undefined => {
  const reason = obstacleTo(isolated(['true']));
  if (reason === undefined) return undefined;
  return `the lab needs the right to make namespaces (unshare and ip of Linux): ${reason}`;
};

/** The best place that can be had here: Linux lets some users make one, and its containers few. */
export const bestPlace = (): Place => {
  const places = [WITH_PROCESSES, WITHOUT_NETWORK].map(wordsWith);
  let openFor = '';
  for (const words of places) {
    const reason = obstacleTo(words(['true']));
    if (reason === undefined) return { words };
    openFor = reason;
  }
  return { words: ([file = '', ...args]) => [file, ...args], openFor };
};
