// The agents of a configuration: new ones, and ours as the user has changed them.
import type { JsonRecord } from '../../core/json.js';
import type { Position, Problem } from '../../core/config/setting.js';
import { changeRuntime } from '../../runtimes/defined/change.js';
import { defineRuntime } from '../../runtimes/defined/define.js';
import { runtimes } from '../../runtimes/index.js';
import type { Runtime } from '../../runtimes/runtime.js';
import { commandWords } from '../program.js';
import { faultText } from '../runtime-option.js';

export interface OwnRuntimes {
  readonly runtimes: readonly Runtime[];
  /** in tokens, by the agent's name */
  readonly windows: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
}

/** Where a definition stands, to tell where it is wrong. */
export interface DefinedIn {
  readonly path: string;
  readonly positionOf: (path: readonly string[]) => Position | undefined;
}

export const ownRuntimes = (defined: Readonly<Record<string, JsonRecord>>, where: DefinedIn): OwnRuntimes => {
  const entries = Object.entries(defined);
  if (entries.length === 0) return { runtimes: [], windows: {}, problems: [] };
  const taken = takenNames();
  const each = entries.map(([name, value]): One =>
    taken.has(name)
      ? { problems: [problemAt(name, 'this name is taken', [], where)] }
      : oneOf(name, value, where),
  );
  return {
    runtimes: each.flatMap(({ runtime }) => (runtime ? [runtime] : [])),
    windows: Object.fromEntries(
      each.flatMap(({ runtime, windowTokens }) =>
        runtime && windowTokens !== undefined ? [[runtime.name, windowTokens]] : [],
      ),
    ),
    problems: each.flatMap(({ problems }) => problems),
  };
};

interface One {
  readonly runtime?: Runtime;
  readonly windowTokens?: number;
  readonly problems: readonly Problem[];
}

/** Words that `ctxwrap WORD` knows already, and the name of what is no agent we know. */
const takenNames = (): ReadonlySet<string> => new Set([...commandWords(), 'generic']);

const oneOf = (name: string, value: JsonRecord, where: DefinedIn): One => {
  const ours = Object.values<Runtime>(runtimes).find((runtime) => runtime.name === name);
  if (value['name'] !== undefined && value['name'] !== name)
    return { problems: [problemAt(name, 'name: must be as the key, or absent', ['name'], where)] };
  const found = ours ? changeRuntime(ours, value) : defineRuntime({ ...value, name });
  if (!('problems' in found)) return { ...found, problems: [] };
  return {
    problems: found.problems.map((fault) => problemAt(name, faultText(fault), fault.path.split('.'), where)),
  };
};

const problemAt = (
  name: string,
  reason: string,
  path: readonly string[],
  { path: place, positionOf }: DefinedIn,
): Problem => {
  const at = deepest(['runtimes', name, ...path], positionOf);
  const origin = { layer: 'user', place, ...(at ? { at } : {}) } as const;
  return { kind: 'definition', level: 'error', key: `runtimes.${name}`, origin, reason };
};

/** A field that is missing stands nowhere: what should hold it does. */
const deepest = (path: readonly string[], positionOf: DefinedIn['positionOf']): Position | undefined => {
  for (let length = path.length; length > 0; length--) {
    const at = positionOf(path.slice(0, length));
    if (at) return at;
  }
  return undefined;
};
