import { type Command, Option } from 'commander';
import { parseBytes } from '../../core/format.js';
import {
  DEFAULT_REQUESTS,
  handoffSections,
  MOST_REQUESTS,
  type HandoffSection,
} from '../../core/conversation/handoff.js';
import type { Millis } from '../../core/reading.js';
import * as checkpointMessages from '../checkpoint-messages.js';
import * as messages from '../messages.js';
import { type CommandOptions, parseAgent, parseOptions } from '../options.js';
import type { Ask, CheckpointRequest, HistoryRequest } from '../request.js';
import { addNotes, commandTopics } from './help.js';
import { SESSION } from './sessions.js';

// The commands about past conversations: their compactions, what was before them, and the copies in the black box; defined for commander.

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
    .option('--runtime <name>', 'only this agent; for files, the agent that wrote them', parseAgent)
    .option('--project <dir>', 'only sessions in this folder or below it', parseFolder)
    .option('--since <date>', 'only since a date or an age: 2026-11-21, 12h, 7d, 2w', parseSince)
    .option('--full', 'print whole summaries, and how much each compaction kept')
    .option('--chart', 'also chart how full the window was over each session')
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
    .option('--runtime <name>', 'the agent that wrote the file, if not recognised', parseAgent)
    .action((target: string, { before = false, markdown = false, ...own }: ShowOptions) =>
      ask({ kind: 'history-show', targets: [target], before, markdown, options: parseOptions(program, own) }),
    );
  addNotes(show, { examples: ['ctxwrap history show 0f3a9c12#2 --before --markdown > before.md'] });
};

interface ReceiptOptions extends CommandOptions {
  readonly full?: boolean;
  readonly json?: boolean;
}

export const defineReceipt = (program: Command, ask: Ask): void => {
  const receipt = program
    .command('receipt')
    .helpGroup(commandTopics.sessions)
    .description('show what a compaction kept and what it lost')
    .argument('<session#n>', 'a compaction, as history lists it')
    .option('--full', 'also list what was kept')
    .option('--json', 'print one JSON object')
    .option('--runtime <name>', 'the agent that wrote the file, if not recognised', parseAgent)
    .action((target: string, { full = false, json = false, ...own }: ReceiptOptions) =>
      ask({ kind: 'receipt', targets: [target], full, json, options: parseOptions(program, own) }),
    );
  addNotes(receipt, { examples: ['ctxwrap receipt 0f3a9c12#2'] });
};

interface BriefOptions extends CommandOptions {
  readonly print?: boolean;
}

export const defineBrief = (program: Command, ask: Ask): void => {
  const brief = program
    .command('brief')
    .helpGroup(commandTopics.sessions)
    .description('put what the last compaction lost into the prompt, as a draft')
    .argument('[session]', `${SESSION}; with --print a compaction, as history lists it`)
    .option('--print', 'print it instead')
    .option('--runtime <name>', 'the agent that wrote the file, if not recognised', parseAgent)
    .action((target: string | undefined, { print: isPrinted = false, ...own }: BriefOptions) =>
      ask({
        kind: 'brief',
        ...(target === undefined ? {} : { target }),
        isPrinted,
        options: parseOptions(program, own),
      }),
    );
  addNotes(brief, { examples: ['ctxwrap brief', 'ctxwrap brief --print 0f3a9c12#2'] });
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

export const defineUndo = (program: Command, ask: Ask): void => {
  const undo = program
    .command('undo')
    .helpGroup(commandTopics.sessions)
    .description('go back to the conversation before a compaction, in a new session')
    .argument(
      '[session#n]',
      "a session's id, pid or file, or an agent's name; #N chooses a compaction, by default the last",
    )
    .addOption(new Option('--run', 'start the agent with the new session, under ctxwrap').conflicts('json'))
    .option('--json', 'print one JSON object')
    .option('--runtime <name>', 'the agent that wrote the file, if not recognised', parseAgent)
    .action((target: string | undefined, { run = false, json = false, ...own }: UndoOptions) =>
      ask({
        kind: 'undo',
        ...(target === undefined ? {} : { target }),
        run,
        json,
        options: parseOptions(program, own),
      }),
    );
  addNotes(undo, {
    examples: ['ctxwrap undo', 'ctxwrap undo 0f3a9c12#2 --run'],
    sections: [
      [
        'What happens',
        'ctxwrap writes the conversation to a new session of the same agent. No file is\noverwritten. If the agent is running, it switches at its next safe moment;\notherwise ctxwrap prints the command that resumes the new session.',
      ],
      [
        'Exit status',
        '0  done\n1  it cannot be undone, the agent did not go back, or that is not known\nCtrl-C withdraws it while it waits, and ends with that signal.',
      ],
    ],
  });
};

interface HandoffOptions extends CommandOptions {
  readonly to?: string;
  readonly import?: boolean;
  readonly draft?: boolean;
  readonly json?: boolean;
  readonly markdown?: boolean;
  readonly output?: string;
  readonly requests?: number;
  readonly without?: readonly HandoffSection[];
}

export const defineHandoff = (program: Command, ask: Ask): void => {
  const handoff = program
    .command('handoff')
    .helpGroup(commandTopics.sessions)
    .description('print what another session needs to continue the work')
    .argument('[session|file]', 'an id, a pid, an agent, or a session file; by default the only session')
    .option('--to <agent>', 'start this agent, with the handoff as a draft in its prompt')
    .addOption(new Option('--import', "with --to: use the agent's own import").conflicts('draft'))
    .option('--draft', "with --to: don't ask about the agent's own import")
    .addOption(new Option('--json', 'print one JSON object').conflicts(['markdown', 'to']))
    .option('--markdown', 'print Markdown, which is the default')
    .option('--output <file>', 'write to a new file', parseOutput)
    .option('--requests <n>', 'how many of your last messages', parseRequests, DEFAULT_REQUESTS)
    .option('--without <list>', `leave out: ${handoffSections.join(', ')}`, parseSections)
    .option('--runtime <name>', 'the agent that wrote the file, if not recognised', parseAgent)
    .action((target: string | undefined, own: HandoffOptions) => {
      const { to, json = false, output, requests = DEFAULT_REQUESTS, without = [], ...rest } = own;
      if ((rest.import || rest.draft) && to === undefined)
        throw messages.wrongUsage('--import and --draft belong to --to', 'handoff');
      const how = rest.import ? 'import' : rest.draft ? 'draft' : undefined;
      ask({
        kind: 'handoff',
        ...(target === undefined ? {} : { target }),
        ...(to === undefined ? {} : { to }),
        ...(how === undefined ? {} : { how }),
        json,
        ...(output === undefined ? {} : { output }),
        requests,
        without,
        options: parseOptions(program, own),
      });
    });
  addNotes(handoff, { examples: ['ctxwrap handoff > next.md', 'ctxwrap handoff claude --to codex'] });
};

const parseOutput = (text: string): string => {
  if (text === '') throw messages.badValue('--output', 'the name of a file', text, 'handoff.md');
  return text;
};

const parseRequests = (text: string): number => {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (count <= MOST_REQUESTS) return count;
  throw messages.badValue(
    '--requests',
    `a number from 0 to ${MOST_REQUESTS}`,
    text,
    String(DEFAULT_REQUESTS),
  );
};

const parseSections = (text: string): readonly HandoffSection[] =>
  text.split(',').map((each) => {
    const section = handoffSections.find((known) => known === each.trim());
    if (section === undefined) throw messages.unknownItem('--without', each, handoffSections);
    return section;
  });

interface JsonOption {
  readonly json?: boolean;
}

interface PruneOptions extends JsonOption {
  readonly olderThan?: Millis;
  readonly limit?: number;
  readonly all?: boolean;
}

const JSON_FLAG = ['--json', 'print one JSON object'] as const;
const ID = 'a copy, by its id or the start of it; or a session, for its newest copy';

type AskCheckpoint = (
  action: CheckpointRequest['action'],
  own: JsonOption,
  more?: Partial<CheckpointRequest>,
) => void;

export const defineCheckpoint = (program: Command, ask: Ask): void => {
  const checkpoint = program
    .command('checkpoint')
    .helpGroup(commandTopics.sessions)
    .description('manage the copies of session files in the black box')
    .helpCommand(false);
  addNotes(checkpoint, { examples: ['ctxwrap checkpoint list claude'] });
  const asked: AskCheckpoint = (action, { json = false }, more = {}) =>
    ask({ kind: 'checkpoint', action, json, all: false, options: parseOptions(program), ...more });
  defineReading(checkpoint, asked);
  const create = checkpoint
    .command('create')
    .description('copy the session file of a running session now')
    .argument('[session]', SESSION)
    .option(...JSON_FLAG)
    .action((target: string | undefined, own: JsonOption) =>
      asked('create', own, target === undefined ? {} : { target }),
    );
  addNotes(create, { examples: ['ctxwrap checkpoint create claude'] });
  const restore = checkpoint
    .command('restore')
    .description('write a copy to a new file; never overwrites one')
    .argument('<id>', ID)
    .argument('<file>', 'the new file')
    .option(...JSON_FLAG)
    .action((target: string, path: string, own: JsonOption) => asked('restore', own, { target, path }));
  addNotes(restore, { examples: ['ctxwrap checkpoint restore 4a57c1be session.jsonl'] });
  definePrune(checkpoint, asked);
};

const defineReading = (checkpoint: Command, asked: AskCheckpoint): void => {
  const list = checkpoint
    .command('list', { isDefault: true })
    .description('list what the black box holds, the newest last')
    .argument('[session]', "an agent's name, or the start of a session's id")
    .option(...JSON_FLAG)
    .action((target: string | undefined, own: JsonOption) =>
      asked('list', own, target === undefined ? {} : { target }),
    );
  addNotes(list, { examples: ['ctxwrap checkpoint list claude'] });
  const show = checkpoint
    .command('show')
    .description('print everything that is known about a copy')
    .argument('<id>', ID)
    .option(...JSON_FLAG)
    .action((target: string, own: JsonOption) => asked('show', own, { target }));
  addNotes(show, { examples: ['ctxwrap checkpoint show 4a57c1be'] });
};

const definePrune = (checkpoint: Command, asked: AskCheckpoint): void => {
  const prune = checkpoint
    .command('prune')
    .description('remove old copies: by default what exceeds blackbox.limit')
    .option('--older-than <age>', 'remove copies older than this: 30d, 12h, 2w', parseAge)
    .option('--limit <size>', 'remove the oldest until this much is left: 500MB', parseSize)
    .option('--all', 'remove all but the last copy of each running session')
    .option(...JSON_FLAG)
    .action((own: PruneOptions) => {
      const { olderThan, limit, all = false } = own;
      asked('prune', own, {
        all,
        ...(olderThan === undefined ? {} : { olderThanMs: olderThan }),
        ...(limit === undefined ? {} : { limitBytes: limit }),
      });
    });
  addNotes(prune, { examples: ['ctxwrap checkpoint prune --older-than 30d'] });
};

const ages = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const parseAge = (text: string): Millis => {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (count === undefined) throw checkpointMessages.badAge(text);
  return Number(count) * ages[unit as keyof typeof ages];
};

const parseSize = (text: string): number => {
  const size = parseBytes(text);
  if (Number.isNaN(size)) throw checkpointMessages.badSize(text);
  return size;
};
