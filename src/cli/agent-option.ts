import type { Agent } from '../agents/agent.js';
import type { Problem } from '../agents/defined/agent.js';
import { agents } from '../agents/index.js';
import { errorText, UserError } from '../core/errors.js';
import { isRecord, type JsonRecord } from '../core/json.js';
import { nearestWord } from '../core/text.js';
import { systemReason } from '../storage/errors.js';
import { readHead } from '../storage/files.js';
import { unknownChoice } from './messages.js';
import type { AgentOption } from './request.js';
import { makeTimeLimit } from './time-limit.js';

// `--runtime NAME` and `--runtime FILE.json`, the same for every command. A file is read only because the user named it.

const LARGEST_BYTES = 1024 * 1024; // a typical definition is one or two thousand bytes
const MOST_PROBLEMS = 20; // problems printed; the rest are counted

/**
 * The runtime the user asked for, built in or defined by them; undefined when none was. Throws a UserError that lists everything wrong with
 * a definition.
 */
export const agentFromOption = async (
  option: AgentOption | undefined,
  own: readonly Agent[] = [],
): Promise<Agent | undefined> => {
  if (option === undefined) return undefined;
  if ('name' in option) return named(option.name, own);
  return (await readDefinition(option.file)).agent;
};

/** An agent from its definition in a file, and that definition. Throws a UserError as above. */
export const readDefinition = async (
  file: string,
): Promise<{ readonly agent: Agent; readonly value: JsonRecord }> => {
  const { defineAgent } = await import('../agents/defined/agent.js');
  const value = readJson(file);
  const defined = defineAgent(value, makeTimeLimit());
  if ('problems' in defined) throw wrongDefinition(file, defined.problems);
  return { agent: defined.agent, value: isRecord(value) ? value : {} };
};

const named = (name: string, own: readonly Agent[]): Agent => {
  const all = [...own, ...Object.values<Agent>(agents)];
  const agent = all.find((each) => each.name === name);
  if (!agent) throw unknownChoice('--runtime', name, [...new Set(all.map((each) => each.name)), 'FILE.json']);
  return agent;
};

const readJson = (file: string): unknown => {
  const text = readDefinitionText(file).replace(/^\uFEFF/, '');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(file, `it is not JSON: ${errorText(error)}`);
  }
};

const readDefinitionText = (file: string): string => {
  let reason = 'it is larger than 1 MB';
  try {
    const head = readHead(file, LARGEST_BYTES + 1);
    if (head.length <= LARGEST_BYTES) return head.toString('utf8');
  } catch (error) {
    reason = systemReason(error);
  }
  throw unreadable(file, reason);
};

const unreadable = (file: string, reason: string): UserError =>
  new UserError(`cannot read the runtime definition "${file}": ${reason}`, {
    exitCode: 2,
    hint: 'use a JSON file such as {"name": "my-agent", "command": "my-agent"}',
  });

const wrongDefinition = (file: string, problems: readonly Problem[]): UserError => {
  const shown = problems.slice(0, MOST_PROBLEMS).map((each) => `  ${problemText(each)}`);
  const untold = problems.length - shown.length;
  const lines = untold > 0 ? [...shown, `  and ${untold} more`] : shown;
  return new UserError([`the runtime definition "${file}" is not valid`, ...lines].join('\n'), {
    exitCode: 2,
    hint: 'correct these fields and start again; the minimum is {"name": "my-agent", "command": "my-agent"}',
  });
};

/** Describes what is wrong with one field of a definition. */
export const problemText = ({ path, given, allowed, known }: Problem): string => {
  const where = path === '' ? 'the definition' : path;
  if (known) {
    const meant = nearestWord(path.split('.').at(-1) ?? '', known);
    return `${where}: unknown, ${meant === undefined ? `the names are ${allowed}` : `did you mean ${meant}?`}`;
  }
  return given === undefined
    ? `${where}: is missing; it must be ${allowed}`
    : `${where}: must be ${allowed}, got ${given}`;
};
