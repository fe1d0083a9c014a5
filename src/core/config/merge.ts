import { findContradictions, withUsableNotNow } from './check.js';
import {
  defaultValueOf,
  keyNames,
  configKey,
  type KeyName,
  type Values,
  toValues,
  toWritten,
} from './keys.js';
import { editCommand, problemAt, type Origin, type Problem } from './problem.js';
import { withUsableStrategy, type ReadModule } from './strategy.js';

// Merges settings by precedence: flag > environment > project > user > the agent's own > default.

/** The settings of each source. If a source sets a key more than once, the first one counts. */
export interface Sources {
  readonly flags: readonly Setting[];
  readonly env: ReadSettings;
  readonly project: ReadSettings;
  readonly user: ReadSettings;
  readonly readModule: ReadModule;
}

export interface Settings {
  readonly effective: readonly EffectiveValue[];
  readonly values: Values;
  readonly problems: readonly Problem[];
}

export const mergeSources = ({ flags, env, project, user, readModule }: Sources): Settings => {
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
  const given = withoutOutranked(merged.map((each) => each.effective));
  const usable = withUsableStrategy(given, valuesOf(given), readModule);
  const { effective, problems } = withUsableNotNow(usable.effective);
  return {
    effective,
    values: valuesOf(effective),
    problems: [
      ...env.problems,
      ...project.problems,
      ...merged.flatMap(({ problems }) => problems),
      ...user.problems,
      ...usable.problems,
      ...problems,
      ...findContradictions(effective),
    ],
  };
};

const valuesOf = (effective: readonly EffectiveValue[]): Values =>
  toValues(effective.map(({ key, value }) => [key, value]));

const precedence: readonly Origin['layer'][] = ['flag', 'env', 'project', 'user', 'agent', 'default'];

/** A key has no value where the one that counts in its place is set with a higher precedence. */
const withoutOutranked = (effective: readonly EffectiveValue[]): readonly EffectiveValue[] =>
  effective.map((each) => {
    const { key, value, origin, overrides } = each;
    const other = effective.find(({ key: name }) => name === configKey(key).outrankedBy);
    if (value === undefined || other?.value === undefined) return each;
    return precedence.indexOf(other.origin.layer) < precedence.indexOf(origin.layer)
      ? { key, value: undefined, origin: other.origin, overrides: [{ key, value, origin }, ...overrides] }
      : each;
  });

const settingsOf = (settings: readonly Setting[], key: KeyName): readonly Setting[] =>
  settings.filter((each) => each.key === key);

const byItself = (key: KeyName): readonly Setting[] => {
  const value = defaultValueOf(key);
  return value === undefined ? [] : [{ key, value, origin: { layer: 'default' } }];
};

// A project's file may come from someone else, so it can only reduce what the user's configuration allows.
const tightened = (key: KeyName, given: readonly Setting[], below: unknown): ReadSettings => {
  const order = (configKey(key).project ?? []).map((each) => JSON.stringify(each));
  const rank = (value: unknown): number => order.indexOf(JSON.stringify(toWritten(key, value)));
  const least = Math.max(0, rank(below ?? defaultValueOf(key)));
  const settings = given.filter(({ value }) => rank(value) >= least && rank(value) >= 0);
  const problems = given
    .filter((each) => !settings.includes(each))
    .map(({ origin }) => refusedProblem(key, origin, order.slice(least)));
  return { settings, problems };
};

const refusedProblem = (key: KeyName, origin: Origin, allowed: readonly string[]): Problem => {
  const can = allowed.length > 0 ? `; here it can only be ${allowed.join(' or ')}` : '';
  return problemAt(origin, {
    kind: 'refused',
    level: 'warning',
    key,
    what: `${key} is ignored`,
    why: `a project file can only restrict what ctxwrap does${can}`,
    fix: `set it in your own configuration: ${editCommand()}`,
  });
};

// Settings of one source with their origin, after checking.

export interface Setting {
  readonly key: KeyName;
  /** as used by the program */
  readonly value: unknown;
  readonly origin: Origin;
}

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
