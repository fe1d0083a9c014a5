// `ctxwrap verify` as commander sees it.
import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import type { Options, Request } from '../request.js';
import { parseChoice } from '../values.js';

interface VerifyOptions {
  readonly keep?: boolean;
  readonly json?: boolean;
  readonly order?: string;
}

export const defineVerify = (
  program: Command,
  agents: readonly string[],
  ask: (request: Request) => void,
): Command =>
  program
    .command('verify')
    .description(
      'try an installed agent against a made-up model server: no network, no key, nothing of yours',
    )
    .addArgument(
      new Argument('[agent]', `${agents.join(', ')}; every one that is installed when absent`)
        .choices(agents)
        .argParser(parseChoice('verify', ...agents)),
    )
    .option('--keep', 'keep the recording and the log, also when all is well')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--order <json>', 'what is played in the place that was made for it').hideHelp())
    .addHelpText(
      'after',
      '\nExit status: 0 all is well; 1 something is not; 2 wrong usage, or nothing to try is installed.\n',
    )
    .action((agent: string | undefined, { keep = false, json = false, order }: VerifyOptions) =>
      ask({
        kind: 'verify',
        ...(agent === undefined ? {} : { agent }),
        keep,
        json,
        ...(order === undefined ? {} : { order }),
        options: program.opts<Options>(),
      }),
    );
