import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Values } from '../core/config/keys.js';
import { findSummariserFault, noSummariser } from '../core/config/summariser.js';
import { errorText } from '../core/errors.js';
import { isRecord } from '../core/json.js';
import type { Conversation } from '../core/conversation/conversation.js';
import { strategyNames, type StrategyName } from '../core/strategies/names.js';
import { strategies, type Strategy } from '../core/strategies/strategy.js';
import { ShortenError } from './shorten.js';

// Finds a strategy by its name: a built-in one, or a module of the user's, which only the user's own configuration can name.

export interface StrategyPlace {
  readonly values: Pick<Values, 'strategies' | 'summariser.url' | 'summariser.model' | 'summariser.remote'>;
  readonly hasSummariser: boolean;
  /** the user's home folder */
  readonly home: string;
}

/** Rejects with a ShortenError where there is no such strategy, or what it needs cannot be used. */
export const findStrategy = async (
  name: string,
  { values, hasSummariser, home }: StrategyPlace,
): Promise<Strategy> => {
  const own = values.strategies ?? {};
  const path = Object.hasOwn(own, name) ? own[name] : undefined;
  if (path !== undefined) return fromModule(name, path.startsWith('~/') ? join(home, path.slice(2)) : path);
  const fault = hasSummariser ? findSummariserFault(values) : noSummariser;
  if (name === 'summarize' && fault)
    throw new ShortenError(
      `the strategy "${name}" cannot be used: ${fault.reason}`,
      'no-strategy',
      fault.fix,
    );
  if (isBuiltIn(name)) return strategies[name];
  const known = [...strategyNames, ...Object.keys(own)].join(', ');
  throw new ShortenError(`there is no strategy "${name}"; there are ${known}`, 'no-strategy');
};

const isBuiltIn = (name: string): name is StrategyName => strategyNames.some((each) => each === name);

const fromModule = async (name: string, path: string): Promise<Strategy> => {
  const module: unknown = await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw new ShortenError(
      `the module of the strategy "${name}" cannot be loaded: ${errorText(error)}`,
      'no-strategy',
    );
  });
  const compact = compactIn(module) ?? compactIn(isRecord(module) ? module['default'] : undefined);
  if (typeof compact !== 'function')
    throw new ShortenError(
      `the module of the strategy "${name}" exports no function "compact": ${path}`,
      'no-strategy',
    );
  return async (conversation, options) => {
    const given = structuredClone(conversation); // whatever the module does to it, what it keeps is as it was
    const originals = new Map(given.entries.map((entry, index) => [entry, conversation.entries[index]]));
    const after: unknown = await compact(given, options);
    if (!isConversation(after)) throw new ShortenError(`the strategy "${name}" returned no session`);
    return { ...conversation, entries: after.entries.map((entry) => originals.get(entry) ?? entry) };
  };
};

/** Node does not see each export of a CommonJS module by name: all of them are in `default`. */
const compactIn = (exported: unknown): unknown => (isRecord(exported) ? exported['compact'] : undefined);

/** As far as it can be checked: `checkShortened` and the agent's writer look at the rest. */
const isConversation = (value: unknown): value is Pick<Conversation, 'entries'> =>
  isRecord(value) &&
  Array.isArray(value['entries']) &&
  value['entries'].every(
    (entry) =>
      isRecord(entry) &&
      typeof entry['kind'] === 'string' &&
      typeof entry['tokens'] === 'number' &&
      Number.isFinite(entry['tokens']) &&
      isRecord(entry['source']) &&
      ('text' in entry
        ? typeof entry['text'] === 'string'
        : typeof entry['callId'] === 'string' || entry['kind'] === 'compaction'),
  );
