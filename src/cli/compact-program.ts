// `ctxwrap compact` as commander sees it.
import type { Command } from 'commander';
import type { Options, Request } from './request.js';
import { parseFocus } from './values.js';

interface CompactOptions {
  readonly force?: boolean;
  readonly focus?: string;
  readonly json?: boolean;
  readonly wait: boolean;
}

export const defineCompact = (program: Command, ask: (request: Request) => void): Command =>
  program
    .command('compact')
    .description('ask a running session to compact at its next safe moment, and wait for the outcome')
    .argument(
      '[session]',
      "an id, a pid or an agent's name; the one it runs in, or the only one, when absent",
    )
    .option('-f, --force', 'also while compacting is paused after failures')
    .option('--focus <text>', 'what the summary must keep, where the agent takes that', parseFocus)
    .option('--no-wait', 'do not wait for the outcome')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExit status: 0 compacted, or nothing to compact; 1 any other outcome; 2 wrong usage.\n',
    )
    .action((target: string | undefined, { force = false, focus, json = false, wait }: CompactOptions) =>
      ask({
        kind: 'compact',
        ...(target === undefined ? {} : { target }),
        force,
        ...(focus === undefined ? {} : { focus }),
        json,
        wait,
        options: program.opts<Options>(),
      }),
    );
