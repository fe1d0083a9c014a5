import type { ValueType } from './value-types.js';
import { isRecord } from '../json.js';

// What the table of configuration keys says about each of them.

/** A value as written in a file. */
export type WrittenValue = boolean | number | string | readonly string[] | Readonly<Record<string, string>>;

/** A value as text for the environment and the command line. */
export const toText = (value: WrittenValue): string =>
  isRecord(value)
    ? Object.entries(value)
        .map(([name, each]) => `${name}=${String(each)}`)
        .join(',')
    : String(value);

/** Another environment variable for a key, as other programs use it. */
export interface EnvAlias {
  readonly name: string;
  /** its format, if it differs from the key's */
  readonly type?: ValueType;
}

/** The command line option of a key. */
export interface KeyOption {
  /** `--no-NAME` sets false */
  readonly flag: string;
  readonly short?: string;
  /** name of its argument; absent for an option without one */
  readonly takes?: string;
  /** text for --help */
  readonly help: string;
}

export interface Key {
  readonly type: ValueType;
  /** the default value; absent if the agent reports the value, or if there is none */
  readonly fallback?: WrittenValue;
  /**
   * used in place of an invalid value if the default would do more than the user may have intended; otherwise an invalid value is ignored
   */
  readonly careful?: WrittenValue;
  /** used in place of any other text, with a warning only */
  readonly otherwise?: WrittenValue;
  /** one sentence for the user */
  readonly doc: string;
  /** a value for the example, if the default does not show the format */
  readonly example?: WrittenValue;
  readonly option?: KeyOption;
  readonly aliases?: readonly EnvAlias[];
  /** false if it cannot be set in the environment */
  readonly env?: false;
  /** values that a project's file may set, from the one that does most to the one that does least; it can only move towards the end */
  readonly project?: readonly WrittenValue[];
  /** what sets it if nobody does: the running agent, the ladder that is chosen, or the backend */
  readonly setBy?: 'agent' | 'ladder' | 'backend';
  /** another key that counts in its place where it is set with a higher precedence */
  readonly outrankedBy?: string;
  /** a change in the user's file takes effect in running sessions */
  readonly isLive?: true;
}
