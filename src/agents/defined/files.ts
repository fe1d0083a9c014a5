import { posix } from 'node:path';
import type { FileEntry, FilePort, ChildPlace, Locate, Located } from '../agent.js';

// Session files by a path pattern. Links are never followed, and a limited number of folders is read.

/** The path split at slashes; the first part is its root: '' for /, `{home}` or `{cwd}`. */
export type Glob = readonly string[];

const MOST_FOLDERS = 64; // read per look; a look is due every second
const MOST_DEPTH = 4; // levels that `**` may stand for

export const globForms =
  'a path that begins with ~/, {home}/, {cwd}/ or /, with * in names, ** for up to 4 folders, {slug} for the working folder';

export const parseGlob = (text: string): Glob | undefined => {
  const [start = '', ...parts] = text.replace(/^~\//, '{home}/').split('/');
  const isRooted = start === '' || start === '{home}' || start === '{cwd}';
  const isPart = (part: string): boolean =>
    !['', '.', '..'].includes(part) &&
    (part === '**' || !part.includes('**')) &&
    !/[{}]/.test(part.replaceAll('{slug}', ''));
  const isPath = parts.length > 0 && parts.every(isPart) && parts.at(-1) !== '**';
  return text.length <= 500 && isRooted && isPath ? [start, ...parts] : undefined;
};

/** A matching file, and the part of its path that distinguishes it from the others. */
export interface FoundFile {
  readonly file: FileEntry;
  readonly id: string;
}

/** The files that match now, in no order. */
const filesOf = async (
  port: FilePort,
  place: ChildPlace,
  [start = '', ...parts]: Glob,
): Promise<readonly FoundFile[]> => {
  const roots = { '{home}': place.home, '{cwd}': place.cwd, '': '/' };
  const names = parts.map((part) => part.replaceAll('{slug}', slugOf(place.cwd)));
  const name = names.pop() ?? '';
  const budget = { left: MOST_FOLDERS };
  const folders = await foldersOf(
    port,
    { folder: roots[start as keyof typeof roots] ?? '/', parts: names },
    budget,
  );
  const wanted = nameTest(name);
  const found = await Promise.all(folders.map((folder) => port.list(folder, wanted)));
  return found.flat().map((file) => ({ file, id: idOf(file, name) }));
};

/** Claude Code and others name a project's folder this way. */
const slugOf = (cwd: string): string => cwd.replace(/[^a-zA-Z0-9]/g, '-');

interface Walk {
  readonly folder: string;
  readonly parts: readonly string[];
  /** how deep a `**` has descended */
  readonly depth?: number;
}

const foldersOf = async (
  port: FilePort,
  { folder, parts, depth = 0 }: Walk,
  budget: { left: number },
): Promise<readonly string[]> => {
  const [part, ...rest] = parts;
  if (part === undefined) return [folder];
  if (!part.includes('*')) return foldersOf(port, { folder: posix.join(folder, part), parts: rest }, budget);
  const here = part === '**' ? await foldersOf(port, { folder, parts: rest }, budget) : [];
  if (budget.left <= 0 || (part === '**' && depth >= MOST_DEPTH)) return here;
  budget.left -= 1;
  const all = await port.folders(folder);
  const names = part === '**' ? all : all.filter(nameTest(part));
  const next = part === '**' ? { parts, depth: depth + 1 } : { parts: rest };
  const found: string[] = [...here];
  // Names that begin with a date sort the newest last, so in a crowded tree those are the ones found.
  for (const name of names.toSorted().toReversed().slice(0, MOST_FOLDERS))
    found.push(...(await foldersOf(port, { folder: posix.join(folder, name), ...next }, budget)));
  return found.slice(0, MOST_FOLDERS);
};

/** `*` matches any characters of a name; hidden names must be spelled out. */
const nameTest = (part: string): ((name: string) => boolean) => {
  const pieces = part.split('*');
  const first = pieces.shift() ?? '';
  const last = pieces.pop();
  return (name) => {
    if (last === undefined) return name === first;
    if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
      return false;
    if (name.startsWith('.') && !first.startsWith('.')) return false;
    let at = first.length;
    for (const piece of pieces) {
      const found = name.indexOf(piece, at);
      if (found < 0) return false;
      at = found + piece.length;
    }
    return at <= name.length - last.length;
  };
};

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Files with the same name are distinguished by their folder. */
const idOf = ({ path, name }: FileEntry, part: string): string => {
  const stem = part.includes('*') ? name.replace(/\.[^.]*$/, '') : posix.basename(posix.dirname(path));
  return ID.test(stem) ? stem : stem.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 64) || 'session';
};

/** The newest file that has grown since the start. Nothing proves that it is this child's, so it is never certain. */
export const makeLocate =
  (globs: readonly Glob[]): Locate =>
  async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
    const found = (await Promise.all(globs.map((glob) => filesOf(port, place, glob)))).flat();
    const [newest] = found
      .filter(({ file }) => file.modifiedAt >= place.startedAt)
      .toSorted((a, b) => b.file.modifiedAt - a.file.modifiedAt);
    return (
      newest && {
        sessionId: newest.id,
        path: newest.file.path,
        certain: false,
        writtenAt: newest.file.modifiedAt,
      }
    );
  };
