import { parseBytes } from '../../core/format.js';
import type { Millis } from '../../core/reading.js';
import { badAge, badSize } from '../checkpoint-messages.js';
import { command } from './command.js';
import { argument, type Asked, flag, json, option, SESSION } from './parameters.js';

const COPY = argument('<id>', 'a copy, by its id or the start of it; or a session, for its newest copy');

const ages = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const parseAge = (text: string): Millis => {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (count === undefined) throw badAge(text);
  return Number(count) * ages[unit as keyof typeof ages];
};

const parseSize = (text: string): number => {
  const size = parseBytes(text);
  if (Number.isNaN(size)) throw badSize(text);
  return size;
};

const listTakes = { target: argument('[session]', "an agent's name, or the start of a session's id"), json };
const showTakes = { target: COPY, json };
const createTakes = { target: argument('[session]', SESSION), json };
const restoreTakes = { target: COPY, path: argument('<file>', 'the new file'), json };
const pruneTakes = {
  olderThanMs: option('--older-than <age>', 'remove copies older than this: 30d, 12h, 2w', parseAge),
  limitBytes: option('--limit <size>', 'remove the oldest until this much is left: 500MB', parseSize),
  all: flag('--all', 'remove all but the last copy of each running session'),
  json,
};

export type ListRequest = Asked<typeof listTakes>;
export type ShowRequest = Asked<typeof showTakes>;
export type CreateRequest = Asked<typeof createTakes>;
export type RestoreRequest = Asked<typeof restoreTakes>;
export type PruneRequest = Asked<typeof pruneTakes>;

const list = command({
  name: 'list',
  isDefault: true,
  summary: 'list what the black box holds, the newest last',
  examples: ['ctxwrap checkpoint list claude'],
  takes: listTakes,
  configuration: 'all',
  run: async (asked) => (await import('../commands/checkpoint.js')).list(asked),
});

const show = command({
  name: 'show',
  summary: 'print everything that is known about a copy',
  examples: ['ctxwrap checkpoint show 4a57c1be'],
  takes: showTakes,
  configuration: 'all',
  run: async (asked) => (await import('../commands/checkpoint.js')).show(asked),
});

const create = command({
  name: 'create',
  summary: 'copy the session file of a running session now',
  examples: ['ctxwrap checkpoint create claude'],
  takes: createTakes,
  configuration: 'all',
  run: async (asked) => (await import('../commands/checkpoint.js')).create(asked),
});

const restore = command({
  name: 'restore',
  summary: 'write a copy to a new file; never overwrites one',
  examples: ['ctxwrap checkpoint restore 4a57c1be session.jsonl'],
  takes: restoreTakes,
  configuration: 'all',
  run: async (asked) => (await import('../commands/checkpoint.js')).restore(asked),
});

const prune = command({
  name: 'prune',
  summary: 'remove old copies: by default what exceeds blackbox.limit',
  examples: ['ctxwrap checkpoint prune --older-than 30d'],
  takes: pruneTakes,
  configuration: 'all',
  run: async (asked) => (await import('../commands/checkpoint.js')).prune(asked),
});

export const checkpoint = command({
  name: 'checkpoint',
  topic: 'sessions',
  summary: 'manage the copies of session files in the black box',
  examples: ['ctxwrap checkpoint list claude'],
  commands: [list, show, create, restore, prune],
});
