// Which version of a program is installed, told by the files around it: the program is not started for it.
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openRegular, readAtMost } from './regular-file.js';

const PACKAGE_BYTES = 256 * 1024;
const MOST_FOLDERS = 4; // from the program up to its package: `dist/bin/cli.js` is the deepest that is known

/** What to look for: the command's own name, and the npm package that brings it. */
export interface ProgramNames {
  readonly command?: string;
  readonly npmPackage?: string;
}

/**
 * The version that npm's `package.json` says, or the path behind all links, where other installers keep each version in a place of its
 * own: `claude/versions/2.1.330`, `Caskroom/claude-code/2.1.330/claude`. Undefined for a start script and for a program in no such place.
 */
export const installedVersion = async (file: string, names: ProgramNames): Promise<string | undefined> => {
  const real = await realpath(file).catch(() => undefined);
  if (real === undefined) return undefined;
  return (await packageVersion(dirname(real), names, MOST_FOLDERS)) ?? versionInPath(real, names);
};

const packageVersion = async (
  folder: string,
  names: ProgramNames,
  folders: number,
): Promise<string | undefined> => {
  const found = await packageIn(folder);
  if (isOf(found?.name, names)) return found?.version;
  const above = dirname(folder);
  return folders <= 1 || above === folder ? undefined : packageVersion(above, names, folders - 1);
};

/** A native program can be in a package of its own beside the one that was asked for: `claude-code-linux-x64`. */
const isOf = (name: unknown, { npmPackage }: ProgramNames): boolean =>
  npmPackage !== undefined &&
  typeof name === 'string' &&
  (name === npmPackage || name.startsWith(`${npmPackage}-`));

const packageIn = async (
  folder: string,
): Promise<{ readonly name: unknown; readonly version: string | undefined } | undefined> => {
  try {
    const file = await openRegular(join(folder, 'package.json'));
    try {
      const { name, version }: Readonly<Record<string, unknown>> = JSON.parse(
        (await readAtMost(file, PACKAGE_BYTES)) ?? '',
      );
      return { name, version: typeof version === 'string' ? version : undefined };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
};

const VERSION_PLACE = /\/([^/]+?)(?:\/versions\/|[-/])(\d+\.\d+\.\d+)(?=\/|$)/g;

const versionInPath = (path: string, { command }: ProgramNames): string | undefined =>
  [...path.matchAll(VERSION_PLACE)].findLast(
    ([, owner = '']) => command !== undefined && owner.split('-').includes(command),
  )?.[2];
