// npm run lab -- [claude codex gemini qwen] [--newest] [--scenario NAME] [--times N] [--jobs N] [--write] [--list] [--with=--OPTION=VALUE]
import { parseArgs } from 'node:util';
import { agents } from './agents/all.js';
import type { LabAgent } from './agents/agent.js';
import { scenarioNamed, scenarios } from './scenarios/all.js';
import type { Scenario } from './scenarios/scenario.js';

export interface Subject {
  readonly agent: LabAgent;
  readonly version: string;
}

export interface LabArguments {
  readonly subjects: readonly Subject[];
  readonly scenarios: readonly Scenario[];
  readonly times: number;
  /** sessions at the same time */
  readonly jobs: number;
  readonly isList: boolean;
  /** the table is written to docs/internals/evidence.md */
  readonly isWritten: boolean;
  /** options of ctxwrap for every session, beside those of the scenarios */
  readonly options: readonly string[];
}

/**
 * `newestOf` asks for the newest version of an agent: with `--newest`, for those whose version is not named.
 * Throws an error with a sentence for an unknown argument.
 */
export const readArguments = (
  argv: readonly string[],
  newestOf: (agent: LabAgent) => string,
): LabArguments => {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      scenario: { type: 'string', multiple: true, default: [] },
      times: { type: 'string', default: '3' },
      jobs: { type: 'string', default: '2' },
      list: { type: 'boolean', default: false },
      newest: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      with: { type: 'string', multiple: true, default: [] },
    },
  });
  if (values.write && values.with.length > 0)
    throw new Error('--write is for sessions without options of yours: leave out --with');
  const wanted = values.scenario.map(scenarioOf);
  const versionOf = values.newest ? newestOf : ({ version }: LabAgent): string => version;
  const words = positionals.length > 0 ? positionals : agents.map(({ name }) => name);
  return {
    subjects: words.map((word) => subjectOf(word, versionOf)),
    scenarios: wanted.length > 0 ? wanted : scenarios,
    times: countOf('--times', values.times),
    jobs: countOf('--jobs', values.jobs),
    isList: values.list,
    isWritten: values.write,
    options: values.with,
  };
};

/** `codex`, or `codex@0.170.0` for another version. */
const subjectOf = (word: string, versionOf: (agent: LabAgent) => string): Subject => {
  const [name, version] = word.split('@');
  const agent = agents.find((each) => each.name === name);
  if (!agent) throw new Error(`no agent ${name}: ${agents.map((each) => each.name).join(', ')}`);
  return { agent, version: version ?? versionOf(agent) };
};

const scenarioOf = (name: string): Scenario => {
  const found = scenarioNamed(name);
  if (!found) throw new Error(`no scenario "${name}"; --list shows them all`);
  return found;
};

const countOf = (flag: string, text: string): number => {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1) throw new Error(`${flag} is a number from 1, got "${text}"`);
  return count;
};
