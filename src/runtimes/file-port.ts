import type { Millis } from '../core/reading.js';

/** A regular file; links and folders are never one. */
export interface FileEntry {
  readonly path: string;
  readonly name: string;
  readonly modifiedAt: Millis;
}

/** What finding a file may ask of the machine. Nothing here throws: what cannot be read is empty or undefined. */
export interface FilePort {
  /** regular files directly in a folder whose name passes */
  readonly list: (folder: string, wanted: (name: string) => boolean) => Promise<readonly FileEntry[]>;
  /** names of the folders directly in a folder, without links; not more than a few hundred, the last by name */
  readonly folders: (folder: string) => Promise<readonly string[]>;
  readonly entry: (path: string) => Promise<FileEntry | undefined>;
  /** whether there is anything at all, also a socket or a link */
  readonly exists: (path: string) => Promise<boolean>;
  /** the first line, if it is complete and of a sane length */
  readonly firstLine: (path: string) => Promise<string | undefined>;
  /** the last 64 KB, which may begin inside a line */
  readonly lastPart: (path: string) => Promise<string | undefined>;
  /** the content of a small text file */
  readonly smallText: (path: string) => Promise<string | undefined>;
  /** the process and all below it, itself first */
  readonly family: (pid: number) => Promise<readonly number[]>;
  /** paths of the regular files a process has open; undefined where the system does not tell */
  readonly openFiles: (pid: number) => Promise<readonly string[] | undefined>;
  /** in hexadecimal digits */
  readonly sha256: (text: string) => Promise<string>;
}
