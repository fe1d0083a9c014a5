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

// Which of the settings hold: flag > environment > project > user > the agent's own > default.

/** What each source says. In one source the first setting of a key holds. */
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
    const origin: Origin = first?.origin ?? { layer: configKey(key).isTold ? 'agent' : 'default' };
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

// Whoever wrote the folder's files is not the user: they may only have less done than the user's own configuration would.
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

// Who says what: the values of one source, checked.

/** From the strongest to the weakest. `agent` stands for what the agent tells while it runs. */
export type LayerName = 'flag' | 'env' | 'project' | 'user' | 'agent' | 'default';

/** From 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where a value comes from. */
export interface Origin {
  readonly layer: LayerName;
  /** the option, the name in the environment, or the file */
  readonly place?: string;
  /** the dotenv file that holds the name */
  readonly file?: string;
  readonly at?: Position;
}

export interface Setting {
  readonly key: KeyName;
  /** as it is used */
  readonly value: unknown;
  readonly origin: Origin;
}

/** What is wrong with a configuration. An `error` has made a value void, a `warning` is only to be known. */
export type Problem = { readonly level: 'error' | 'warning'; readonly origin: Origin } & (
  | {
      readonly kind: 'wrong';
      readonly key: string;
      /** as JSON, cut short */
      readonly given: string;
      readonly rule: string;
      /** what is used for it; absent where it is passed over */
      readonly used?: string;
    }
  | { readonly kind: 'unknown'; readonly key: string }
  /** a project's file may not say that */
  | { readonly kind: 'refused'; readonly key: string; readonly allowed: readonly string[] }
  | { readonly kind: 'pending'; readonly key: string }
  /** a boundary is higher than the one above it */
  | {
      readonly kind: 'order';
      readonly key: string;
      readonly above: string;
      readonly given: string;
      /** what is used for it */
      readonly used: string;
    }
  /** a window that is larger than what the backend's models have; it holds all the same */
  | {
      readonly kind: 'capacity';
      readonly key: string;
      readonly given: string;
      readonly backend: string;
      /** tokens */
      readonly most: number;
    }
  /** where auto would be, agents compact by themselves already; their usual windows are meant */
  | {
      readonly kind: 'native';
      readonly key: string;
      readonly given: string;
      readonly agents: readonly {
        readonly agent: string;
        /** tokens, as are the others */
        readonly at: string;
        readonly usual: string;
        /** what auto is instead, where it gives way */
        readonly used?: string;
      }[];
    }
  /** the name stands more than once; the last one holds */
  | { readonly kind: 'repeated'; readonly key: string }
  /** the text of a file is no JSONC, or a line of a dotenv file no pair */
  | { readonly kind: 'syntax'; readonly reason: string }
  /** the file is not read */
  | { readonly kind: 'file'; readonly reason: string; readonly fix: string }
  /** an agent of the user's own */
  | { readonly kind: 'definition'; readonly key: string; readonly reason: string }
  /** so many more of one kind, which are not told one by one */
  | { readonly kind: 'more'; readonly of: Exclude<Problem['kind'], 'more'>; readonly count: number }
);

export interface ReadSettings {
  readonly settings: readonly Setting[];
  readonly problems: readonly Problem[];
}

/** The value of one key with its story. */
export interface EffectiveValue {
  readonly key: KeyName;
  /** undefined where nobody says anything and nothing holds by itself */
  readonly value: unknown;
  readonly origin: Origin;
  /** what it hides, the strongest first */
  readonly overrides: readonly Setting[];
}
