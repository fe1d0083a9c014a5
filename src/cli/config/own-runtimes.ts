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
      ? { faults: [{ name, reason: () => 'this name is taken', path: [] }] }
      : oneOf(name, value),
  );
  return {
    runtimes: each.flatMap(({ runtime }) => (runtime ? [runtime] : [])),
    windows: Object.fromEntries(
      each.flatMap(({ runtime, windowTokens }) =>
        runtime && windowTokens !== undefined ? [[runtime.name, windowTokens]] : [],
      ),
    ),
    problems: told(
      each.flatMap(({ faults }) => faults),
      where,
    ),
  };
};

interface One {
  readonly runtime?: Runtime;
  readonly windowTokens?: number;
  readonly faults: readonly Fault[];
}

/** Something wrong that has not been put into words, nor found in the file. */
interface Fault {
  readonly name: string;
  readonly reason: () => string;
  readonly path: readonly string[];
}

const MOST_TOLD = 10;

const told = (faults: readonly Fault[], where: DefinedIn): readonly Problem[] => {
  const first = faults.slice(0, MOST_TOLD).map((fault) => problemOf(fault, where));
  const count = faults.length - first.length;
  const origin = { layer: 'user', place: where.path } as const;
  return count > 0 ? [...first, { kind: 'more', level: 'error', of: 'definition', count, origin }] : first;
};

/** Words that `ctxwrap WORD` knows already, and the name of what is no agent we know. */
const takenNames = (): ReadonlySet<string> => new Set([...commandWords(), 'generic']);

const oneOf = (name: string, value: JsonRecord): One => {
  const ours = Object.values<Runtime>(runtimes).find((runtime) => runtime.name === name);
  if (value['name'] !== undefined && value['name'] !== name)
    return { faults: [{ name, reason: () => 'name: must be as the key, or absent', path: ['name'] }] };
  const found = ours ? changeRuntime(ours, value) : defineRuntime({ ...value, name });
  if (!('problems' in found)) return { ...found, faults: [] };
  return {
    faults: found.problems.map((each) => ({
      name,
      reason: () => faultText(each),
      path: each.path.split('.'),
    })),
  };
};

const problemOf = ({ name, reason, path }: Fault, { path: place, positionOf }: DefinedIn): Problem => {
  const at = deepest(['runtimes', name, ...path], positionOf);
  const origin = { layer: 'user', place, ...(at ? { at } : {}) } as const;
  return { kind: 'definition', level: 'error', key: `runtimes.${name}`, origin, reason: reason() };
};

/** A field that is missing stands nowhere: what should hold it does. */
const deepest = (path: readonly string[], positionOf: DefinedIn['positionOf']): Position | undefined => {
  for (let length = path.length; length > 0; length--) {
    const at = positionOf(path.slice(0, length));
    if (at) return at;
  }
  return undefined;
};
