import { readdirSync, readlinkSync } from 'node:fs';
import { errorCode } from '../core/errors.js';
import { readHead } from './files.js';
import { withDescendants } from './processes.js';

// Whose a TCP port of this machine is, by the kernel's tables (proc_pid_net(5)): each socket has an inode, and the processes that have it open
// are those with a link to it among their descriptors. The numbers of ports are enough: on the way to a secret a port that somebody else has
// at any address is one too many.

/**
 * `own`: the process or its descendants have all sockets that were looked for; `waiting`: they listen, and have not taken the connection, or
 * have no descriptor for it yet; `foreign`: another process listens, too; `hidden`: this system does not say, or there is no such socket.
 */
export type PortOwner = 'own' | 'waiting' | 'foreign' | 'hidden';

interface TcpSocket {
  readonly port: number;
  /** at the other end; 0 while it listens */
  readonly peerPort: number;
  readonly isListening: boolean;
  /** `0` until a connection is accepted */
  readonly inode: string;
}

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const MOST_BYTES = 4 * 1024 * 1024; // of a table: 28,000 sockets
const LISTENING = '0A'; // TCP_LISTEN (include/net/tcp_states.h)

/**
 * Whether this process and its descendants are all that listens on the port, and with `from`, the port of this end of a connection to it,
 * whether the other end is theirs.
 */
export const portOwner = (pid: number, port: number, from?: number): PortOwner => {
  const sockets = tcpSockets()?.filter((each) => each.port === port);
  const listening = sockets?.filter(({ isListening }) => isListening) ?? [];
  const taken = sockets?.filter(({ isListening, peerPort }) => !isListening && peerPort === from) ?? [];
  if (listening.length === 0 || (from !== undefined && taken.length === 0)) return 'hidden';
  const { isComplete, inodes } = socketsOf(pid);
  const isOwn = ({ inode }: TcpSocket): boolean => inodes.has(inode);
  if (!listening.every(isOwn)) return isComplete ? 'foreign' : 'hidden';
  return taken.every(isOwn) ? 'own' : 'waiting';
};

/** Undefined where a table cannot be read, or not as a whole. */
const tcpSockets = (): readonly TcpSocket[] | undefined => {
  const texts = TABLES.map(tableText);
  if (texts.includes(undefined) || texts.every((text) => text === '')) return undefined;
  return texts.flatMap((text = '') => text.split('\n').slice(1).flatMap(readRow));
};

/** Empty where there is no such table, as in a kernel without IPv6. */
const tableText = (path: string): string | undefined => {
  try {
    const bytes = readHead(path, MOST_BYTES);
    return bytes.length < MOST_BYTES ? bytes.toString('latin1') : undefined;
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? '' : undefined;
  }
};

/** `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode …`, addresses as `0100007F:1F90`. */
const readRow = (row: string): readonly TcpSocket[] => {
  const [, local = '', remote = '', state, , , , , , inode] = row.trim().split(/\s+/);
  if (inode === undefined) return [];
  return [{ port: portIn(local), peerPort: portIn(remote), isListening: state === LISTENING, inode }];
};

const portIn = (address: string): number => Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);

/** The sockets that a process and its descendants have open. */
const socketsOf = (pid: number): { readonly inodes: ReadonlySet<string>; readonly isComplete: boolean } => {
  const inodes = new Set<string>();
  let isComplete = true;
  for (const each of withDescendants(pid)) {
    const targets = descriptorsOf(each);
    if (!targets) isComplete = false;
    for (const target of targets ?? []) {
      const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
      if (inode !== undefined) inodes.add(inode);
    }
  }
  return { inodes, isComplete };
};

/** What the descriptors of a process lead to; undefined where that is hidden, as for a process of another user. */
const descriptorsOf = (pid: number): readonly string[] | undefined => {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((number) => linkTarget(`${folder}/${number}`));
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? [] : undefined;
  }
};

const linkTarget = (path: string): readonly string[] => {
  try {
    return [readlinkSync(path)];
  } catch {
    return []; // closed meanwhile
  }
};
