import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { getuid } from 'node:process';
import { errorCode } from '../core/json.js';
import { readAtMost } from './files.js';

// Where the wrapper keeps what it must remember, and how files are written there: nobody else can read them, no link is
// followed, and no reader ever finds half a file.

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const OTHERS = 0o077;
const SMALL_BYTES = 1024 * 1024;

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** The one folder of ours, which may not exist yet. A relative XDG_STATE_HOME counts as none, as its specification says. */
export const stateFolder = (env: Readonly<Record<string, string | undefined>>, home: string): string => {
  const given = env['XDG_STATE_HOME'];
  const base = given !== undefined && isAbsolute(given) ? given : join(home, '.local', 'state');
  return join(base, 'ctxwrap');
};

/** Makes the folder, or a folder inside it, for the user alone; gives its path. Rejects when it is a link or somebody else's. */
export const ensureFolder = async (folder: string, name?: string): Promise<string> => {
  // links above our own folder are the user's affair: many keep their dot folders elsewhere
  await makeFolder(folder);
  await makePrivate(folder);
  if (name === undefined) return folder;
  const inner = join(folder, name);
  await makeFolder(inner);
  await makePrivate(inner);
  return inner;
};

/** With the folders above it. Node's own way of making those never ends where the system says that a new folder's parent is not there. */
const makeFolder = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder, FOLDER_MODE);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return;
    const parent = dirname(folder);
    if (code !== 'ENOENT' || parent === folder || (await exists(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(folder);
  }
};

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const makePrivate = async (folder: string): Promise<void> => {
  if ((await lstat(folder)).isSymbolicLink()) throw new Error(`${folder} is a symbolic link`);
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const { uid, mode } = await handle.stat();
    if (uid !== getuid?.()) throw new Error(`${folder} belongs to another user`);
    if ((mode & OTHERS) !== 0) await handle.chmod(FOLDER_MODE);
  } finally {
    await handle.close();
  }
};

/** Puts a whole new file in the place of an old one. Rejects when something that is no regular file is there. */
export const writeAtomic = async (path: string, text: string, mode = FILE_MODE): Promise<void> => {
  const before = await lstat(path).catch(() => undefined);
  if (before && !before.isFile()) throw new Error(`${path} is not a regular file`);
  const draft = `${path}.${crypto.randomUUID().replaceAll('-', '')}.tmp`;
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
};

/** The text of a regular file of at most `mostBytes`; undefined for everything else, and for what cannot be read. */
export const readSmall = (path: string, mostBytes = SMALL_BYTES): Promise<string | undefined> =>
  readWhere(path, mostBytes, () => true);

/** The same for a file that asks us to do something: only one that this user has written. */
export const readOwn = (path: string, mostBytes = SMALL_BYTES): Promise<string | undefined> =>
  readWhere(path, mostBytes, ({ uid }) => uid === getuid?.());

const readWhere = async (
  path: string,
  mostBytes: number,
  isWanted: (stats: Stats) => boolean,
): Promise<string | undefined> => {
  try {
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stats = await handle.stat();
      return stats.isFile() && isWanted(stats) ? await readAtMost(handle, mostBytes) : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
};

/** The user's own folder: what HOME says, unless that is nothing or would mean another folder wherever we are started. */
export const homeFolder = (env: Readonly<Record<string, string | undefined>>): string => {
  const given = env['HOME'];
  return given !== undefined && isAbsolute(given) ? given : registeredHome();
};

/** As the system knows the user; a container may run as one that it does not know. */
const registeredHome = (): string => {
  try {
    return userInfo().homedir;
  } catch {
    return '/';
  }
};
