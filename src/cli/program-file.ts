import { readSync } from 'node:fs';
import { dirname } from 'node:path';

// The file that holds all parts of the built program. A session opens it once, before anything else, and never closes it: an update that
// deletes it takes nothing away, and what is loaded an hour later is of the same build. Its threads read it by the same descriptor.

/** Where a text is in the file: its first byte and its length. */
export type Place = readonly [at: number, bytes: number];

export interface ProgramFile {
  /** open for reading; threads share its position, so nobody reads from there */
  readonly descriptor: number;
  /** what starts the program, to be started again in a thread, and the path that it had */
  readonly launcher: { readonly place: Place; readonly path: string };
  /** this is not the main thread */
  readonly isThread?: boolean;
}

const KEY = 'ctxwrap program'; // of a symbol, because the launcher and the program are bundles of their own
const shared = globalThis as { [key: symbol]: ProgramFile | undefined };

/** Tells the program. Not through node:worker_threads, which takes 3 ms to load, before the child runs. */
export const shareProgramFile = (file: ProgramFile): void => {
  shared[Symbol.for(KEY)] = file;
};

/** As the launcher of this thread has shared it; undefined where the program runs without its launcher, as in tests. */
export const sharedProgramFile = (): ProgramFile | undefined => shared[Symbol.for(KEY)];

/** A text of ASCII. Throws where the file ends before it. */
export const readText = (descriptor: number, [at, bytes]: Place): string => {
  const text = Buffer.allocUnsafeSlow(bytes);
  if (readSync(descriptor, text, 0, bytes, at) < bytes) throw new Error('the program file is cut off');
  return text.toString('latin1');
};

/** The launcher as a script that a thread evaluates. */
export const threadScript = (file: ProgramFile): string => {
  const { descriptor, launcher } = file;
  const { place, path } = launcher;
  return (
    `globalThis[Symbol.for(${JSON.stringify(KEY)})]=${JSON.stringify({ ...file, isThread: true })};` +
    `(function(__filename,__dirname){${readText(descriptor, place)}\n})(${JSON.stringify(path)},${JSON.stringify(dirname(path))})`
  );
};
