import type { Agent } from '../../agents/agent.js';
import { changeAgent, defineAgent, isWholeDefinition } from '../../agents/defined/agent.js';
import { agents } from '../../agents/index.js';
import {
  keyText,
  moreProblems,
  MOST_TOLD,
  problemAt,
  type Origin,
  type Position,
  type Problem,
} from '../../core/config/problem.js';
import { isRecord, type JsonRecord } from '../../core/json.js';
import { toOneLine } from '../../core/text.js';
import { problemText } from '../agent-option.js';
import { commandWords } from '../commands.js';
import { makeTimeLimit } from '../time-limit.js';

// The agents of a configuration: new ones, and built-in ones the user has changed. Loaded only where a configuration has any, because it needs
// all that the agents are.

export interface DefinedAgents {
  readonly runtimes: readonly Agent[];
  /** in tokens, by agent name */
  readonly windows: Readonly<Record<string, number>>;
  readonly problems: readonly Problem[];
}

/** Where a definition was found, for error messages. */
export interface DefinitionPlace {
  readonly path: string;
  readonly positionOf: (path: readonly string[]) => Position | undefined;
}

export const readDefinedAgents = (defined: JsonRecord, where: DefinitionPlace): DefinedAgents => {
  const all = Object.entries(defined);
  if (all.length === 0) return { runtimes: [], windows: {}, problems: [] };
  const entries = all.slice(0, MOST_DEFINED);
  const taken = takenNames();
  const each = entries.map(([name, value]): One =>
    taken.has(name) ? { faults: [{ name, reason: () => nameTaken(name), path: [] }] } : oneOf(name, value),
  );
  return {
    runtimes: each.flatMap(({ agent }) => (agent ? [agent] : [])),
    windows: Object.fromEntries(
      each.flatMap(({ agent, windowTokens }) =>
        agent && windowTokens !== undefined ? [[agent.name, windowTokens]] : [],
      ),
    ),
    problems: [
      ...tooMany(all.length - entries.length, where),
      ...faultProblems(
        each.flatMap(({ faults }) => faults),
        where,
      ),
    ],
  };
};

const MOST_DEFINED = 200; // checking them delays every start

const tooMany = (count: number, { path: place, positionOf }: DefinitionPlace): readonly Problem[] => {
  if (count === 0) return [];
  const at = positionOf(['runtimes']);
  const origin = { layer: 'user', place, ...(at ? { at } : {}) } as const;
  const reason = `it holds ${MOST_DEFINED + count} agents, and only the first ${MOST_DEFINED} are read`;
  return [definitionProblem('runtimes', reason, origin)];
};

const definitionProblem = (key: string, why: string, origin: Origin): Problem =>
  problemAt(origin, { kind: 'definition', level: 'error', key, what: `${keyText(key)} is not valid`, why });

interface One {
  readonly agent?: Agent;
  readonly windowTokens?: number;
  readonly faults: readonly Fault[];
}

/** A problem without a message or a place in the file yet. */
interface Fault {
  readonly name: string;
  readonly reason: () => string;
  readonly path: readonly string[];
}

const faultProblems = (faults: readonly Fault[], where: DefinitionPlace): readonly Problem[] => {
  const first = faults.slice(0, MOST_TOLD).map((fault) => problemOf(fault, where));
  const count = faults.length - first.length;
  const origin = { layer: 'user', place: where.path } as const;
  return count > 0 ? [...first, moreProblems(count, { kind: 'definition', level: 'error', origin })] : first;
};

/** Names an agent cannot have: the commands of ctxwrap and reserved words. */
export const takenNames = (): ReadonlySet<string> => new Set([...commandWords, 'generic']);

/** `ctxwrap NAME` runs the command, so that this agent could never be started. */
const nameTaken = (name: string): string =>
  name === 'generic'
    ? 'generic is any agent that ctxwrap does not know; choose another name, such as my-agent'
    : `ctxwrap ${name} is a command of ctxwrap; choose another name, such as ${name}-agent`;

const LONGEST_VALUE = 60; // characters

const oneOf = (name: string, value: unknown): One => {
  if (!isRecord(value))
    return {
      faults: [
        {
          name,
          reason: () => `it must be an object, got ${toOneLine(JSON.stringify(value), LONGEST_VALUE)}`,
          path: [],
        },
      ],
    };
  const ours = Object.values<Agent>(agents).find((agent) => agent.name === name);
  if (value['name'] !== undefined && value['name'] !== name)
    return {
      faults: [{ name, reason: () => 'name: must be the same as the key, or absent', path: ['name'] }],
    };
  const found =
    ours && !isWholeDefinition(value)
      ? changeAgent(ours, value)
      : defineAgent({ ...value, name }, makeTimeLimit());
  if (!('problems' in found)) return { ...found, faults: [] };
  return {
    faults: found.problems.map((each) => ({
      name,
      reason: () => problemText(each),
      path: each.path.split('.'),
    })),
  };
};

const problemOf = ({ name, reason, path }: Fault, { path: place, positionOf }: DefinitionPlace): Problem => {
  const at = deepest(['runtimes', name, ...path], positionOf);
  const origin = { layer: 'user', place, ...(at ? { at } : {}) } as const;
  return definitionProblem(`runtimes.${name}`, reason(), origin);
};

/** A missing field has no place of its own, so the object that should hold it is reported. */
const deepest = (
  path: readonly string[],
  positionOf: DefinitionPlace['positionOf'],
): Position | undefined => {
  for (let length = path.length; length > 0; length--) {
    const at = positionOf(path.slice(0, length));
    if (at) return at;
  }
  return undefined;
};
