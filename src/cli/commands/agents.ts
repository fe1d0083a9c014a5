import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agents as builtIn } from '../../agents/index.js';
import type { Agent } from '../../agents/agent.js';
import { UserError } from '../../core/errors.js';
import { getText, isRecord, type JsonRecord } from '../../core/json.js';
import { quoteForCopying } from '../../core/text.js';
import { newSetting, setMember, backupOf } from '../../storage/config-edit.js';
import { readDefinition } from '../agent-option.js';
import { takenNames } from '../config/defined-agents.js';
import { readWholeConfiguration } from '../config/load.js';
import { configPath, currentContext, shortenHome } from '../config/path.js';
import { unchangeableConfig } from '../config/text.js';
import type { AgentsAddRequest, AgentsListRequest, AgentsShowRequest } from '../define/agents.js';
import { table, widthOfOutput } from '../text.js';
import { jsonText, type Printable, toPrintableLines } from '../../core/printable.js';
import { faultText, usable, write } from './config.js';

// `ctxwrap agents`: the agents that ctxwrap knows, and definitions of others. Definitions are data; nothing in them runs.

const usage = 2;
const SUFFIX = '.json';

/** The folder of the definitions that come with ctxwrap, beside that of the bundle. */
const readyFolder = (): string => fileURLToPath(new URL('../agents/', import.meta.url));

const readyNames = (): readonly string[] => {
  try {
    return readdirSync(readyFolder())
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .toSorted();
  } catch {
    return []; // an incomplete installation
  }
};

const readyPath = (name: string): string => `${readyFolder()}${name}${SUFFIX}`;

/** An agent as it is listed. */
interface Listed {
  readonly name: string;
  readonly command?: string;
  readonly from: 'built in' | 'your configuration' | 'ready to add';
  readonly note?: string;
}

const listed = (
  from: Listed['from'],
  { name, command }: Pick<Agent, 'name' | 'command'>,
  value?: unknown,
): Listed => {
  const note = getText(value, 'note');
  return {
    name,
    ...(command === undefined ? {} : { command }),
    from,
    ...(note === undefined ? {} : { note }),
  };
};

const findAll = async ({ options }: AgentsListRequest): Promise<readonly Listed[]> => {
  const { runtimes, settings } = await readWholeConfiguration(options, currentContext());
  const own = settings.values.runtimes ?? {};
  const known = Object.values<Agent>(builtIn).filter(({ command }) => command !== undefined);
  const ready = await Promise.all(
    readyNames().map(async (name) => {
      const { agent, value } = await readDefinition(readyPath(name));
      return listed('ready to add', agent, value);
    }),
  );
  const yours = runtimes.map((agent) => listed('your configuration', agent, own[agent.name]));
  const names = new Set(yours.map(({ name }) => name));
  return [
    ...known.filter(({ name }) => !names.has(name)).map((agent) => listed('built in', agent)),
    ...yours,
    ...ready.filter(({ name }) => !names.has(name)),
  ];
};

export const list = async (request: AgentsListRequest): Promise<Printable> => {
  const all = await findAll(request);
  if (request.json) return jsonText({ schema: 'ctxwrap.agents/1', agents: all }, 2);
  const columns = [
    { title: 'AGENT', rank: 0 },
    { title: 'COMMAND', rank: 2 },
    { title: 'FROM', rank: 0 },
    { title: 'NOTE', rank: 1, leastWidth: 12 },
  ];
  const rows = all.map(({ name, command = '-', from, note = '' }) => [name, command, from, note]);
  return toPrintableLines(table(columns, rows, widthOfOutput()));
};

export const show = async ({ target: name, options }: AgentsShowRequest): Promise<Printable> => {
  const { settings } = await readWholeConfiguration(options, currentContext());
  const own = settings.values.runtimes?.[name];
  if (own) return jsonText({ name, ...own }, 2);
  if (readyNames().includes(name)) return jsonText((await readDefinition(readyPath(name))).value, 2);
  const isKnown = Object.values<Agent>(builtIn).some((agent) => agent.name === name);
  throw isKnown
    ? refusing(
        `${name} is built into ctxwrap and has no definition`,
        `ctxwrap doctor says what is known of it`,
      )
    : refusing(`there is no agent "${name}"`, 'ctxwrap agents list lists them');
};

export const add = async (request: AgentsAddRequest): Promise<Printable> => {
  const { target: given, options, replaces } = request;
  const isReady = readyNames().includes(given);
  const { agent, value } = await readDefinition(isReady ? readyPath(given) : given);
  const { name } = agent;
  const isTaken = takenNames().has(name) || Object.values<Agent>(builtIn).some((each) => each.name === name);
  if (isTaken)
    throw refusing(`the name ${name} is taken by ctxwrap itself`, 'give the definition another name');
  const { name: _, ...definition } = value;
  const context = currentContext();
  const { path } = configPath(options, context);
  const result = await addTo(path, [name, definition], { options, replaces, given });
  const place = shortenHome(path, context.home);
  if (result === 'same') return toPrintableLines([`${name} is already in ${place}`]);
  return toPrintableLines([
    `${result} ${name} in ${place}${result === 'added' ? '' : `; the text before is in ${shortenHome(backupOf(path), context.home)}`}`,
    `start it with: ctxwrap ${name}`,
    ...(agent.recipe ? [] : ['ctxwrap shows its numbers, and types nothing']),
    ...(typeof value['note'] === 'string' ? [value['note']] : []),
  ]);
};

interface Adding extends Pick<AgentsAddRequest, 'options' | 'replaces'> {
  /** the file, as the user named it */
  readonly given: string;
}

const addTo = async (
  path: string,
  [name, definition]: readonly [string, JsonRecord],
  { options, replaces, given }: Adding,
): Promise<'added' | 'replaced' | 'same'> => {
  const json = JSON.stringify(definition, undefined, 2);
  let result: 'added' | 'replaced' | 'same' = 'same';
  await write(path, (found) => {
    const file = usable(found, options);
    result = 'added';
    if (file.kind === 'absent')
      return newSetting('runtimes', JSON.stringify({ [name]: definition }, undefined, 2));
    const runtimes = file.entries.find(({ key }) => key === 'runtimes')?.value;
    const before = isRecord(runtimes) ? runtimes[name] : undefined;
    if (JSON.stringify(before) === JSON.stringify(definition)) {
      result = 'same';
      return undefined;
    }
    if (before !== undefined && !replaces)
      throw refusing(
        `another ${name} is in ${path} already`,
        `to take this one instead: ctxwrap agents add --replace ${quoteForCopying(given)}`,
      );
    if (before !== undefined) result = 'replaced';
    const text = setMember(file, 'runtimes', [name, json]);
    if (text === undefined) throw unchangeableConfig(path, faultText(file.faults), options);
    return text;
  });
  return result;
};

const refusing = (message: string, hint: string): UserError =>
  new UserError(message, { exitCode: usage, hint });
