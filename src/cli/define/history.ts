import type { Millis } from '../../core/reading.js';
import * as messages from '../messages.js';
import { command } from './command.js';
import { argument, type Asked, flag, JSON_HELP, NDJSON_HELP, option, runtime, writer } from './parameters.js';

const parseFolder = (text: string): string => {
  if (text === '') throw messages.badValue('--project', 'the name of a folder', text, '.');
  return text;
};

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const AGE = /^(\d{1,4})([hdw])$/;
const hours: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168 };
const HOUR_MS = 3_600_000;

/** A day begins in the local time zone. */
const parseSince = (text: string): Millis => {
  const [, count, unit] = AGE.exec(text) ?? [];
  if (count !== undefined) return Date.now() - Number(count) * (hours[unit ?? ''] ?? 0) * HOUR_MS;
  const at = Date.parse(DATE.test(text) ? `${text}T00:00:00` : text);
  if (Number.isNaN(at)) throw messages.badValue('--since', 'a date or an age', text, '7d');
  return at;
};

const takes = {
  targets: argument('[path|session...]', 'session files, folders or session ids; ID#2 for one compaction'),
  runtime: runtime('only this agent; for files, the agent that wrote them'),
  project: option('--project <dir>', 'only sessions in this folder or below it', parseFolder),
  since: option('--since <date>', 'only since a date or an age: 2026-11-21, 12h, 7d, 2w', parseSince),
  full: flag('--full', 'print whole summaries, and how much each compaction kept'),
  chart: flag('--chart', 'also chart how full the window was over each session'),
  json: flag('--json', JSON_HELP, ['ndjson', 'chart']),
  ndjson: flag('--ndjson', NDJSON_HELP, ['chart']),
};

export type HistoryRequest = Asked<typeof takes>;

const showTakes = {
  target: argument(
    '[session#n]',
    'a compaction, as history lists it; without #N the last one; by default of the last session',
  ),
  before: flag('--before', 'the conversation as it was before the compaction'),
  markdown: flag('--markdown', 'print Markdown'),
  json: flag('--json', JSON_HELP, ['before', 'markdown']),
  runtime: writer,
};

export type HistoryShowRequest = Asked<typeof showTakes>;

const show = command({
  name: 'show',
  summary: 'show one compaction, or the conversation before it',
  examples: ['ctxwrap history show', 'ctxwrap history show 0f3a9c12#2 --before --markdown > before.md'],
  takes: showTakes,
  run: async (asked) => (await import('../commands/history-show.js')).historyShow(asked),
});

export const history = command({
  name: 'history',
  topic: 'sessions',
  isCommon: true,
  summary: 'list compactions of past and running sessions',
  examples: ['ctxwrap history --since 7d', 'ctxwrap history show 0f3a9c12#2 --before'],
  takes,
  commands: [show],
  run: async (asked) => (await import('../commands/history.js')).history(asked),
});
