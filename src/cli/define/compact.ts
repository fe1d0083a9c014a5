import { Option } from 'commander';
import type { Values } from '../../core/config/keys.js';
import * as messages from '../messages.js';
import { keyOption, parseChoice, parseValue } from '../options.js';
import { command } from './command.js';
import { argument, type Asked, flag, json, option, optionOf, runtime, SESSION } from './parameters.js';

const takes = {
  target: argument('[session]', `${SESSION}; with --strategy also a session file`),
  all: flag('-a, --all', 'compact every running session'),
  idle: flag('--idle', 'with --all: only sessions whose agent is idle'),
  force: flag('-f, --force', 'compact even if compacting is paused after failures'),
  focus: optionOf<Values['focus']>(keyOption('focus')),
  wait: flag('--no-wait', 'return at once, without waiting for the outcome'),
  strategy: option(
    '--strategy <name>',
    'shorten it without the agent: truncate, summarize, clustering, or your own',
  ),
  isDryRun: flag('--dry-run', 'with --strategy: only print what would be kept and removed'),
  output: optionOf<'new' | undefined>(
    new Option('--output <where>', 'with --strategy: write a new session, and leave a running agent alone')
      .choices(['new'])
      .argParser(parseChoice('compact --output', 'new')),
  ),
  keepRecent: option(
    '--keep-recent <n>',
    'how many of your last messages stay word for word',
    parseValue('keepRecent', '--keep-recent'),
  ),
  budgetTokens: option(
    '--budget <tokens>',
    'how many tokens the conversation may have afterwards, such as 60k',
    parseValue('window', '--budget'),
  ),
  json,
  runtime: runtime('the agent of the session file, if not recognised'),
};

export type CompactRequest = Asked<typeof takes>;

/** ctxwrap shortens the conversation, and not the agent's own command. */
export type ShortenRequest = CompactRequest & { readonly strategy: string };

const isShortening = (asked: CompactRequest): asked is ShortenRequest =>
  asked.strategy !== undefined && asked.strategy !== 'auto';

/** The first of these options that was given; undefined where none was. */
const firstGiven = (options: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(options).find((name) => options[name] !== undefined && options[name] !== false);

const check = (asked: CompactRequest): void => {
  const { target, all, idle, force, focus, wait, isDryRun, output, keepRecent, budgetTokens } = asked;
  const [withAgent, withStrategy] = [
    firstGiven({ '--all': all, '--idle': idle, '--force': force, '--focus': focus, '--no-wait': !wait }),
    firstGiven({
      '--dry-run': isDryRun,
      '--output': output,
      '--keep-recent': keepRecent,
      '--budget': budgetTokens,
    }),
  ];
  if (isShortening(asked)) {
    if (withAgent !== undefined) throw messages.strategyWith(withAgent);
    return;
  }
  if (withStrategy !== undefined) throw messages.needsStrategy(withStrategy);
  if (all && target !== undefined) throw messages.sessionWithAll(target);
  if (idle && !all) throw messages.idleWithoutAll();
};

const exitStatus = `0  compacted, or nothing to compact
1  any other outcome, or an unknown one
2  invalid usage
Ctrl-C withdraws a request that is still waiting, and ends with that signal.`;

export const compact = command({
  name: 'compact',
  topic: 'sessions',
  summary: 'compact a session at its next safe moment',
  sections: [['Exit status', exitStatus]],
  examples: [
    'ctxwrap compact --focus "the failing tests"',
    'ctxwrap compact --all --idle',
    'ctxwrap compact --strategy truncate --dry-run',
  ],
  takes,
  check,
  configuration: (asked) => (isShortening(asked) ? 'all' : 'none'),
  run: async (asked) =>
    isShortening(asked)
      ? (await import('../commands/shorten.js')).shortenCommand(asked)
      : (await import('../commands/compact.js')).compact(asked),
});
