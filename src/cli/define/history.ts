import { type Command, Option } from 'commander';
import type { Millis } from '../../core/reading.js';
import * as messages from '../messages.js';
import { type CommandOptions, parseAgent, parseOptions } from '../options.js';
import type { Ask, HistoryRequest } from '../request.js';
import { addNotes, commandTopics } from './help.js';

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
    .helpGroup(commandTopics.sessions)
    .description('list compactions of past and running sessions')
    .argument('[path|session...]', 'session files, folders or session ids; ID#2 for one compaction')
    .option('--runtime <name>', 'only this agent; or whose the files are', parseAgent)
    .option('--project <dir>', 'only sessions in this folder or below it', parseFolder)
    .option('--since <date>', 'only compactions since 2026-11-21, or 12h, 7d, 2w ago', parseSince)
    .option('--full', 'print whole summaries')
    .option('--chart', 'also how full the window was over each session')
    .addOption(new Option('--json', 'print one JSON object').conflicts(['ndjson', 'chart']))
    .addOption(new Option('--ndjson', 'print one JSON object per line').conflicts('chart'))
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
  addNotes(history, {
    examples: ['ctxwrap history --since 7d', 'ctxwrap history show 0f3a9c12#2 --before'],
  });
  defineShow(program, history, ask);
  return history;
};

interface ShowOptions extends CommandOptions {
  readonly before?: boolean;
  readonly markdown?: boolean;
}

const defineShow = (program: Command, history: Command, ask: Ask): void => {
  const show = history
    .command('show')
    .description('show one compaction, or the conversation before it')
    .argument('<session#n>', 'a compaction, as history lists it')
    .option('--before', 'the conversation as it was before the compaction')
    .option('--markdown', 'print Markdown')
    .option('--runtime <name>', 'whose the file is, if not recognised', parseAgent)
    .action((target: string, { before = false, markdown = false, ...own }: ShowOptions) =>
      ask({ kind: 'history-show', targets: [target], before, markdown, options: parseOptions(program, own) }),
    );
  addNotes(show, { examples: ['ctxwrap history show 0f3a9c12#2 --before --markdown > before.md'] });
};

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
