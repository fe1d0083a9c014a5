// A session file of an agent, and the black box that keeps it.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { CheckpointReason } from '../../src/core/conversation/checkpoint.js';
import { listKept, readCopy, type KeptCopy, type KeptSession } from '../../src/storage/blackbox/blackbox.js';
import { keepCopy, linkFile, type CopyRequest, type KeepPlace } from '../../src/storage/blackbox/keep.js';

export const SESSION = '0f3a2b1c-aaaa-4bbb-8ccc-1234567890ab';

/** Lines as agents write them, each with its number; they hardly compress less than real ones. */
export const linesFrom = (from: number, count: number, width = 60): string =>
  Array.from({ length: count }, (_, i) => {
    const text = `${(from + i) * 2_654_435_761}`.padEnd(width, '.');
    return `${JSON.stringify({ type: 'user', n: from + i, text })}\n`;
  }).join('');

export interface Box {
  readonly root: string;
  readonly stateFolder: string;
  readonly path: string;
  readonly place: KeepPlace;
  readonly link: (now?: number) => ReturnType<typeof linkFile>;
  readonly keep: (why?: CheckpointReason, more?: Partial<CopyRequest>) => ReturnType<typeof keepCopy>;
  readonly session: () => Promise<KeptSession>;
  readonly text: (copy: KeptCopy) => Promise<string>;
  readonly remove: () => void;
}

/** `root`: where everything is; a new temporary folder when absent. */
export const makeBox = (root = mkdtempSync(join(tmpdir(), 'ctxwrap-box-'))): Box => {
  const stateFolder = join(root, 'state');
  const agentFolder = join(root, 'agent');
  mkdirSync(agentFolder, { recursive: true });
  const path = join(agentFolder, `${SESSION}.jsonl`);
  const place: KeepPlace = { stateFolder, runtime: 'claude', session: SESSION, cwd: '/proj', path };
  let clock = 1_800_000_000_000;
  const session = async (): Promise<KeptSession> => {
    const [found, ...others] = await listKept(stateFolder);
    if (!found || others.length > 0) throw new Error(`${others.length + (found ? 1 : 0)} sessions are kept`);
    return found;
  };
  return {
    root,
    stateFolder,
    path,
    place,
    link: (now = (clock += 1_000)) => linkFile(place, now),
    keep: (why = 'before', more = {}) =>
      keepCopy({ ...place, why, source: path, now: (clock += 1_000), mostBytes: 1e9, ...more }),
    session,
    text: async (copy) => {
      const pieces: Buffer[] = [];
      for await (const piece of readCopy(stateFolder, await session(), copy)) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
};

/** All files below a folder, as paths from there. */
export const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted();

/** Bundles the program that keeps copies of a file until it is killed; returns its path. */
export const buildKeeper = async (folder: string): Promise<string> => {
  const outfile = join(folder, 'keeper.mjs');
  const entry = fileURLToPath(new URL('../fixtures/programs/keeper.ts', import.meta.url));
  const common = { bundle: true, format: 'esm', platform: 'node', target: 'node20' } as const;
  await build({ ...common, entryPoints: [entry], outfile, logLevel: 'warning' });
  return outfile;
};
