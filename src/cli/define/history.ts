import { type Command, Option } from 'commander';
import type { Millis } from '../../core/reading.js';
import * as messages from '../messages.js';
import { type CommandOptions, parseAgent, parseOptions } from '../options.js';
import type { Ask, HistoryRequest } from '../request.js';

// The commands about past compactions, defined for commander.

interface HistoryOptions extends CommandOptions {
  readonly project?: string;
  readonly since?: Millis;
  readonly full?: boolean;
  readonly json?: boolean;
  readonly ndjson?: boolean;
  readonly chart?: boolean;
}

export const defineHistory = (program: Command, ask: Ask): Command => {
  const history = program
    .command('history')
    .description("the compactions of any session, read from the agents' own files")
    .argument(
      '[path|session...]',
      'session files, folders, or ids of sessions, ID#2 for one compaction; all sessions of all agents when absent',
    )
    .option(
      '--runtime <name>',
      'only sessions of this agent; whose the files are, when not recognised',
      parseAgent,
    )
    .option('--project <dir>', 'only sessions that were started in this folder or below it', parseFolder)
    .option('--since <date>', 'only compactions since then: 2026-11-21, or 12h, 7d, 2w ago', parseSince)
    .option('--full', 'print summaries whole')
    .addOption(new Option('--json', 'print one JSON object').conflicts('ndjson'))
    .option('--ndjson', 'print one JSON object a line, for each compaction')
    .addOption(
      new Option('--chart', 'also how full the window was, with compactions marked').conflicts([
        'json',
        'ndjson',
      ]),
    )
    .helpCommand(false)
    .action((targets: readonly string[], own: HistoryOptions) => {
      const { project, since, full = false, json, ndjson, chart = false } = own;
      const format: HistoryRequest['format'] = json ? 'json' : ndjson ? 'ndjson' : 'text';
      ask({
        kind: 'history',
        targets,
        ...(project === undefined ? {} : { project }),
        ...(since === undefined ? {} : { since }),
        full,
        format,
        chart,
        options: parseOptions(program, own),
      });
    });
  defineShow(program, history, ask);
  return history;
};

interface ShowOptions extends CommandOptions {
  readonly before?: boolean;
  readonly markdown?: boolean;
}

const defineShow = (program: Command, history: Command, ask: Ask): Command =>
  history
    .command('show')
    .description('one compaction with its whole summary, or the conversation that it replaced')
    .argument(
      '<session#n>',
      'a compaction as history names it: the beginning of an id or a path, and its number',
    )
    .option('--before', 'the conversation as it was before the compaction')
    .option('--markdown', 'as Markdown')
    .option('--runtime <name>', 'whose the file is, when it is not recognised', parseAgent)
    .action((target: string, { before = false, markdown = false, ...own }: ShowOptions) =>
      ask({ kind: 'history-show', targets: [target], before, markdown, options: parseOptions(program, own) }),
    );

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

interface UndoOptions extends CommandOptions {
  readonly run?: boolean;
  readonly json?: boolean;
}

export const defineUndo = (program: Command, ask: Ask): Command =>
  program
    .command('undo')
    .description('the conversation as it was before a compaction, as a new session')
    .argument(
      '[session#n]',
      "an id, a pid, an agent's name, or a session file, and the number of the compaction: the last one when absent",
    )
    .addOption(new Option('--run', 'start the agent with it, wrapped').conflicts('json'))
    .option('--json', 'print one JSON object')
    .option('--runtime <name>', 'whose the file is, when it is not recognised', parseAgent)
    .addHelpText(
      'after',
      '\nA running agent is switched to it at its next safe moment. Nothing is overwritten.\nExit status: 0 done; 1 it cannot be undone; 2 wrong usage.\n',
    )
    .action((target: string | undefined, { run = false, json = false, ...own }: UndoOptions) =>
      ask({
        kind: 'undo',
        ...(target === undefined ? {} : { target }),
        run,
        json,
        options: parseOptions(program, own),
      }),
    );
