// What a key of the configuration is. The keys themselves are in keys.ts.
import type { ControlKey } from '../control-key.js';
import type { JsonRecord } from '../json.js';
import type { Bound } from '../rung.js';

/** What may stand there, as data: the check, the JSON Schema and the documentation follow from it. */
export type ValueType =
  | { readonly kind: 'choice'; readonly choices: readonly string[]; readonly otherwise?: string }
  | { readonly kind: 'flag' }
  /** a number of tokens, also as `200k` or `1M` */
  | { readonly kind: 'tokens'; readonly least: number; readonly most: number }
  /** a boundary of a tier: `80%` of the window, or tokens */
  | { readonly kind: 'bound' }
  /** a percentage, which becomes a boundary */
  | { readonly kind: 'percent'; readonly least: number; readonly most: number }
  | { readonly kind: 'text'; readonly longest: number }
  /** what a prompt may be given */
  | { readonly kind: 'focus' }
  /** the absolute path of a file, or one below `~/` */
  | { readonly kind: 'path' }
  | { readonly kind: 'hotkey' }
  /** several of these, each once */
  | { readonly kind: 'list'; readonly choices: readonly string[] }
  /** agents by name; what they may hold is the affair of the runtimes */
  | { readonly kind: 'definitions' };

/** A value as it is used. */
export type ValueOf<T extends ValueType> = T extends {
  kind: 'choice' | 'list';
  choices: readonly (infer C)[];
}
  ? T extends { kind: 'list' }
    ? readonly C[]
    : C
  : T extends { kind: 'flag' }
    ? boolean
    : T extends { kind: 'tokens' }
      ? number
      : T extends { kind: 'bound' | 'percent' }
        ? Bound
        : T extends { kind: 'hotkey' }
          ? ControlKey
          : T extends { kind: 'definitions' }
            ? Readonly<Record<string, JsonRecord>>
            : string;

/** A value as it is written in a file. */
export type Written = boolean | number | string | readonly string[];

/** Another name in the environment, as other programs and the documents before this one use it. */
export interface Alias {
  readonly name: string;
  /** how it is written there, where that is not as for the key */
  readonly type?: ValueType;
  /** what its values mean for the key */
  readonly means?: Readonly<Record<string, Written>>;
  /** what a wrong value counts as; the name is passed over when absent */
  readonly otherwise?: Written;
}

export interface Key {
  readonly type: ValueType;
  /** what holds when nobody says anything; absent where the agent itself tells, or there is nothing */
  readonly fallback?: Written;
  /** what a wrong value counts as, where the fallback would do more than the user may have wanted; otherwise it is passed over */
  readonly careful?: Written;
  /** one sentence for the user */
  readonly doc: string;
  /** a value that shows what is meant, where the fallback does not */
  readonly example?: Written;
  /** as on the command line; absent where there is none */
  readonly flag?: string;
  readonly aliases?: readonly Alias[];
  /** false where a text cannot hold it */
  readonly env?: false;
  /** what a project's file may set, from the value that does most to the one that does least; it can only go towards the end */
  readonly project?: readonly Written[];
  /** the agent tells while it runs, when nobody sets it */
  readonly isTold?: true;
  /** a change in the user's file holds for sessions that run, too */
  readonly isLive?: true;
  /** known and checked, but nothing uses it yet */
  readonly isPending?: true;
}

/** A key that is not used any more. */
export interface DeprecatedKey {
  /** what to write now; absent where nothing takes its place */
  readonly instead?: string;
  /** one sentence: since when, and what holds now */
  readonly doc: string;
}
