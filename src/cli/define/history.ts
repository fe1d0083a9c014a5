import type { Command } from 'commander';
import { parseBytes } from '../../core/format.js';
import type { Millis } from '../../core/reading.js';
import * as messages from '../messages.js';
import { parseOptions } from '../options.js';
import type { Ask, CheckpointRequest } from '../request.js';

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
const ID = "a copy's id, or its beginning; or a session's id, for its newest copy";

export const defineCheckpoint = (program: Command, ask: Ask): Command => {
  const checkpoint = program
    .command('checkpoint')
    .description('what the black box keeps of session files: list, show, create, restore, prune')
    .helpCommand(false);
  const asked = (
    action: CheckpointRequest['action'],
    { json = false }: JsonOption,
    more: Partial<CheckpointRequest> = {},
  ): void => ask({ kind: 'checkpoint', action, json, all: false, options: parseOptions(program), ...more });
  const of = (target: string | undefined) => (target === undefined ? {} : { target });
  checkpoint
    .command('list', { isDefault: true })
    .description('what is kept, the newest last')
    .argument('[session]', "an agent's name, or the id of a session or its beginning")
    .option(...JSON_FLAG)
    .action((target: string | undefined, own: JsonOption) => asked('list', own, of(target)));
  checkpoint
    .command('show')
    .description('all that is known about a copy')
    .argument('<id>', ID)
    .option(...JSON_FLAG)
    .action((target: string, own: JsonOption) => asked('show', own, { target }));
  checkpoint
    .command('create')
    .description('copy the session file of a running session now')
    .argument(
      '[session]',
      "an id, a pid or an agent's name; the one it runs in, or the only one, when absent",
    )
    .option(...JSON_FLAG)
    .action((target: string | undefined, own: JsonOption) => asked('create', own, of(target)));
  checkpoint
    .command('restore')
    .description('write a copy into a new file; nothing is ever replaced')
    .argument('<id>', ID)
    .argument('<file>', 'the new file')
    .option(...JSON_FLAG)
    .action((target: string, path: string, own: JsonOption) => asked('restore', own, { target, path }));
  definePrune(checkpoint, asked);
  return checkpoint;
};

const definePrune = (
  checkpoint: Command,
  asked: (action: 'prune', own: JsonOption, more: Partial<CheckpointRequest>) => void,
): Command =>
  checkpoint
    .command('prune')
    .description('remove the oldest copies: those beyond blackbox.limit, or what the options say')
    .option('--older-than <age>', 'copies older than this: 30d, 12h, 2w', parseAge)
    .option('--limit <size>', 'the oldest, until no more than this is left: 500MB', parseSize)
    .option('--all', 'everything but the sessions that are running')
    .option(...JSON_FLAG)
    .action((own: PruneOptions) => {
      const { olderThan, limit, all = false } = own;
      asked('prune', own, {
        all,
        ...(olderThan === undefined ? {} : { olderThanMs: olderThan }),
        ...(limit === undefined ? {} : { limitBytes: limit }),
      });
    });

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
