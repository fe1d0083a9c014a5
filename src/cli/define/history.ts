import type { Command } from 'commander';
import { parseBytes } from '../../core/format.js';
import type { Millis } from '../../core/reading.js';
import * as messages from '../messages.js';
import { parseOptions } from '../options.js';
import type { Ask, CheckpointRequest } from '../request.js';
import { addNotes, commandTopics } from './help.js';
import { SESSION } from './sessions.js';

// The commands about what is kept of past conversations, defined for commander.

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
    .description('write a copy to a new file; nothing is ever overwritten')
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
    .option('--all', 'remove everything except for running sessions')
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
  if (count === undefined) throw messages.badAge(text);
  return Number(count) * ages[unit as keyof typeof ages];
};

const parseSize = (text: string): number => {
  const size = parseBytes(text);
  if (Number.isNaN(size)) throw messages.badSize(text);
  return size;
};
