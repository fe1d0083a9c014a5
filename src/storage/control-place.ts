import { fstatSync, lstatSync, type Stats } from 'node:fs';
import { chmod, unlink } from 'node:fs/promises';
import { createConnection, type Server } from 'node:net';
import { dirname } from 'node:path';
import { getuid } from 'node:process';
import { errorCode, UserError } from '../core/errors.js';
import { systemReason } from './errors.js';
import { OTHERS } from './file-modes.js';
import { makeFolder } from './state-folder.js';

// Where a parent steers a session from (`--control`): a descriptor that it has handed down, or a socket in a folder of the user's alone. Node
// cannot ask a socket who is at its other end, so the permissions of folder and socket are what keeps others out.

export type ControlPlace =
  /** a descriptor of this process, one end of a socket pair */
  | { readonly fd: number }
  /** absolute path of the socket to listen on */
  | { readonly path: string };

const LEAST_FD = 3;
const MOST_FD = 15; // Node hides these from the agent that it starts
const LONGEST_PATH = 100; // bytes; the limit of the system is 104 or 108
const SOCKET_MODE = 0o600;
const usage = 2;

const refused = (what: string, hint: string): UserError =>
  new UserError(`--control: ${what}`, { exitCode: usage, hint });

/** Throws a UserError that says what to change. Creates nothing but a missing folder of the socket. */
export const checkControlPlace = async (place: ControlPlace): Promise<void> => {
  if ('fd' in place) return checkDescriptor(place.fd);
  const { path } = place;
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw refused(`the path of a socket has at most ${LONGEST_PATH} bytes`, 'choose a shorter one');
  const folder = dirname(path);
  await makeFolder(folder).catch((error: unknown) => {
    throw refused(`cannot make the folder ${folder}: ${systemReason(error)}`, 'choose a folder that you own');
  });
  const inside = statsOf(folder);
  if (inside?.isSymbolicLink() === true)
    throw refused(`${folder} is a symbolic link`, 'name the folder that it leads to');
  if (inside?.isDirectory() !== true)
    throw refused(`${folder} is not a folder`, 'choose a folder that you own');
  const { uid, mode } = inside;
  if (uid !== getuid?.() || (mode & OTHERS) !== 0)
    throw refused(
      `other users can enter ${folder}, so they could control the session`,
      'use a private folder: mkdir -m 700 FOLDER',
    );
  const there = statsOf(path);
  if (!there) return;
  if (!there.isSocket()) throw refused(`${path} is not a socket`, 'choose a name that is not taken');
  if (await answers(path)) throw refused(`${path} is in use`, 'choose another name for each session');
};

const checkDescriptor = (fd: number): void => {
  const stats = orNothing(() => fstatSync(fd));
  if (fd < LEAST_FD || fd > MOST_FD)
    throw refused(`a descriptor is from ${LEAST_FD} to ${MOST_FD}, got ${fd}`, 'or name a socket, as a path');
  if (!stats) throw refused(`descriptor ${fd} is not open`, 'the parent process must pass it on');
  // a pipe goes one way, or back to who writes; and Node has pipes of its own among these numbers
  if (!stats.isSocket())
    throw refused(`descriptor ${fd} is not a socket`, 'pass on one end of a socket pair');
};

const orNothing = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

const statsOf = (path: string): Stats | undefined =>
  orNothing(() => lstatSync(path, { throwIfNoEntry: false }));

/** Whether a program listens on the socket, or may: one that is stopped or busy does not answer. */
const answers = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(path);
    const end = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    const isLeft = (error: unknown): boolean => ['ECONNREFUSED', 'ENOENT'].includes(String(errorCode(error)));
    socket.once('connect', () => end(true)).once('error', (error) => end(!isLeft(error)));
  });

/** Listens, in place of a socket that a killed session has left. Rejects if it cannot. */
export const listenOn = async (server: Server, path: string): Promise<void> => {
  await checkControlPlace({ path });
  if (statsOf(path)?.isSocket() === true) await unlink(path);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
  await chmod(path, SOCKET_MODE); // nobody else can enter the folder meanwhile
};
