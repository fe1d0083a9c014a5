import { findContradictions } from './check.js';
import {
  defaultValueOf,
  keyNames,
  configKey,
  type KeyName,
  type Values,
  toValues,
  toWritten,
} from './keys.js';

// Merges settings by precedence: flag > environment > project > user > the agent's own > default.

/** The settings of each source. If a source sets a key more than once, the first one counts. */
export interface Sources {
  readonly flags: readonly Setting[];
  readonly env: ReadSettings;
  readonly project: ReadSettings;
  readonly user: ReadSettings;
}

export interface Settings {
  readonly effective: readonly EffectiveValue[];
  readonly values: Values;
  readonly problems: readonly Problem[];
}

export const mergeSources = ({ flags, env, project, user }: Sources): Settings => {
  const merged = keyNames.map((key) => {
    const below = settingsOf(user.settings, key);
    const theirs = tightened(key, settingsOf(project.settings, key), below[0]?.value);
    const all = [
      ...settingsOf(flags, key),
      ...settingsOf(env.settings, key),
      ...theirs.settings,
      ...below,
      ...byItself(key),
    ];
    const [first, ...overrides] = all;
    const origin: Origin = first?.origin ?? { layer: configKey(key).setBy === 'agent' ? 'agent' : 'default' };
    return { effective: { key, value: first?.value, origin, overrides }, problems: theirs.problems };
  });
  const effective = merged.map((each) => each.effective);
  return {
    effective,
    values: toValues(effective.map(({ key, value }) => [key, value])),
    problems: [
      ...env.problems,
      ...project.problems,
      ...merged.flatMap(({ problems }) => problems),
      ...user.problems,
      ...findContradictions(effective),
    ],
  };
};

const settingsOf = (settings: readonly Setting[], key: KeyName): readonly Setting[] =>
  settings.filter((each) => each.key === key);

const byItself = (key: KeyName): readonly Setting[] => {
  const value = defaultValueOf(key);
  return value === undefined ? [] : [{ key, value, origin: { layer: 'default' } }];
};

// A project's file may come from someone else, so it can only reduce what the user's configuration allows.
const tightened = (key: KeyName, said: readonly Setting[], below: unknown): ReadSettings => {
  const order = (configKey(key).project ?? []).map((each) => JSON.stringify(each));
  const rank = (value: unknown): number => order.indexOf(JSON.stringify(toWritten(key, value)));
  const least = Math.max(0, rank(below ?? defaultValueOf(key)));
  const settings = said.filter(({ value }) => rank(value) >= least && rank(value) >= 0);
  const problems = said
    .filter((each) => !settings.includes(each))
    .map(({ origin }): Problem => ({
      kind: 'refused',
      level: 'warning',
      key,
      origin,
      allowed: order.slice(least),
    }));
  return { settings, problems };
};

// Settings of one source with their origin, after checking.

/** By precedence, highest first. `agent` is the value that the running agent reports. */
export type LayerName = 'flag' | 'env' | 'project' | 'user' | 'agent' | 'default';

/** Line and column, from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The origin of a value. */
export interface Origin {
  readonly layer: LayerName;
  /** the option, the environment variable, or the file */
  readonly place?: string;
  /** the dotenv file that sets the variable */
  readonly file?: string;
  readonly at?: Position;
}

export interface Setting {
  readonly key: KeyName;
  /** as used by the program */
  readonly value: unknown;
  readonly origin: Origin;
}

/** A problem in a configuration. An `error` means that a value is ignored, a `warning` is for information. */
export type Problem = { readonly level: 'error' | 'warning'; readonly origin: Origin } & (
  | {
      readonly kind: 'wrong';
      readonly key: string;
      /** as JSON, shortened */
      readonly given: string;
      readonly rule: string;
      /** the value used instead; absent if the value is ignored */
      readonly used?: string;
    }
  | { readonly kind: 'unknown'; readonly key: string }
  /** a project's file may not set this value */
  | { readonly kind: 'refused'; readonly key: string; readonly allowed: readonly string[] }
  /** a boundary is higher than the one above it */
  | {
      readonly kind: 'order';
      readonly key: string;
      readonly above: string;
      readonly given: string;
      /** the value used instead */
      readonly used: string;
    }
  /** a window larger than those of the backend's models; it is used nevertheless */
  | {
      readonly kind: 'capacity';
      readonly key: string;
      readonly given: string;
      readonly backend: string;
      /** tokens */
      readonly most: number;
    }
  /** auto lies above the point where agents compact by themselves, assuming their usual windows */
  | {
      readonly kind: 'native';
      readonly key: string;
      readonly given: string;
      readonly agents: readonly {
        readonly agent: string;
        /** tokens, like the other fields */
        readonly at: string;
        readonly usual: string;
        /** the value of auto instead, if it is lowered */
        readonly used?: string;
      }[];
    }
  /** another setting keeps this one from being used */
  | { readonly kind: 'unusable'; readonly key: string; readonly reason: string; readonly fix: string }
  /** the name occurs more than once; the last one counts */
  | { readonly kind: 'repeated'; readonly key: string }
  /** a file's text is not JSONC, or a line of a dotenv file is not a pair */
  | { readonly kind: 'syntax'; readonly reason: string }
  /** the file is not read */
  | { readonly kind: 'file'; readonly reason: string; readonly fix: string }
  /** an agent defined by the user */
  | { readonly kind: 'definition'; readonly key: string; readonly reason: string }
  /** the number of further problems of one kind */
  | { readonly kind: 'more'; readonly of: Exclude<Problem['kind'], 'more'>; readonly count: number }
);

export interface ReadSettings {
  readonly settings: readonly Setting[];
  readonly problems: readonly Problem[];
}

/** The effective value of a key, and where it comes from. */
export interface EffectiveValue {
  readonly key: KeyName;
  /** undefined if nobody sets it and it has no default */
  readonly value: unknown;
  readonly origin: Origin;
  /** the settings that it overrides, highest precedence first */
  readonly overrides: readonly Setting[];
}
