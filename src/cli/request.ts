// What a command line asks for.
import type { Preset } from '../core/ladder.js';
import type { Bound } from '../core/rung.js';
import type { StatusLineWish } from '../runtimes/official-source.js';
import type { Mode } from '../wrap/wrap-session.js';
import type { RuntimeName } from './values.js';

export interface Options {
  readonly mode: Mode;
  /** tokens */
  readonly window?: number;
  readonly ladder?: Preset;
  readonly warn?: Bound;
  readonly auto?: Bound;
  readonly hard?: Bound;
  readonly runtime?: RuntimeName;
  readonly claudeStatusLine: StatusLineWish;
  readonly footer: boolean;
  readonly record?: string;
  readonly recordInput?: boolean;
  /** control byte */
  readonly hotkey: number | 'none';
  readonly log?: string;
  readonly quiet?: boolean;
}

export interface RunRequest {
  readonly kind: 'run';
  readonly word: string;
  readonly args: readonly string[];
  /** after `--` the word is any command, otherwise it must be an agent */
  readonly anyCommand: boolean;
  readonly options: Options;
}

export interface DemoRequest {
  readonly kind: 'demo';
  readonly interactive: boolean;
  readonly options: Options;
}

export interface ReplayRequest {
  readonly kind: 'replay';
  readonly path: string;
  /** session files that belong to the recording */
  readonly logs: readonly string[];
  readonly format: 'text' | 'json' | 'ndjson';
  readonly options: Options;
}

export type Request =
  | RunRequest
  | DemoRequest
  | ReplayRequest
  | { readonly kind: 'print'; readonly text: string };
