// Which of the settings hold: flag > environment > project > user > the agent's own > default.
import { checkValue } from './check-value.js';
import { contradictions } from './contradictions.js';
import { keyNames, keyOf } from './keys.js';
import type { KeyName, Values } from './keys.js';
import type { Effective, Origin, Problem, Read, Setting } from './setting.js';
import { writtenOf } from './written.js';

/** What each source says. In one source the first setting of a key holds. */
export interface Sources {
  readonly flags: readonly Setting[];
  readonly env: Read;
  readonly project: Read;
  readonly user: Read;
}

export interface Settings {
  readonly effective: readonly Effective[];
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
    const origin: Origin = first?.origin ?? { layer: keyOf(key).isTold ? 'agent' : 'default' };
    return { effective: { key, value: first?.value, origin, overrides }, problems: theirs.problems };
  });
  const effective = merged.map((each) => each.effective);
  return {
    effective,
    values: valuesOf(effective),
    problems: [
      ...env.problems,
      ...project.problems,
      ...merged.flatMap(({ problems }) => problems),
      ...user.problems,
      ...contradictions(effective),
    ],
  };
};

const settingsOf = (settings: readonly Setting[], key: KeyName): readonly Setting[] =>
  settings.filter((each) => each.key === key);

const byItself = (key: KeyName): readonly Setting[] => {
  const value = fallbackOf(key);
  return value === undefined ? [] : [{ key, value, origin: { layer: 'default' } }];
};

/** What holds when nobody says anything, as it is used. */
export const fallbackOf = (key: KeyName): unknown => {
  const { type, fallback } = keyOf(key);
  const checked = fallback === undefined ? undefined : checkValue(type, fallback);
  return checked && 'value' in checked ? checked.value : undefined;
};

// Whoever wrote the folder's files is not the user: they may only have less done than the user's own configuration would.
const tightened = (key: KeyName, said: readonly Setting[], below: unknown): Read => {
  const { type, project = [] } = keyOf(key);
  const order = project.map((each) => JSON.stringify(each));
  const rank = (value: unknown): number => order.indexOf(JSON.stringify(writtenOf(type, value)));
  const least = Math.max(0, rank(below ?? fallbackOf(key)));
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

// The table gives each key its type, and every value was checked against it.
const valuesOf = (effective: readonly Effective[]): Values =>
  Object.fromEntries(effective.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])));
