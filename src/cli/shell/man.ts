import type { Command } from 'commander';
import {
  commandTerm,
  byTopic,
  commandTopics,
  notesOf,
  optionsByTopic,
  sentence,
  usageLines,
} from '../define/help.js';
import { exitStatus } from '../messages.js';

// The manual page, from the same definitions as --help, in man(7) macros.

export interface ManOptions {
  readonly version: string;
  /** sections after the options, in order: title and text */
  readonly sections: readonly (readonly [title: string, text: string])[];
}

export const manPage = (program: Command, { version, sections }: ManOptions): string =>
  `${[
    `.TH CTXWRAP 1 "" "ctxwrap ${escaped(version)}" "User Commands"`,
    '.SH NAME',
    `ctxwrap \\- ${escaped(program.description().replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    ...synopsis(program),
    '.SH COMMANDS',
    ...byTopic(
      program.createHelp().visibleCommands(program),
      (each) => each.helpGroup() || commandTopics.start,
    ).flatMap(([heading, commands]) => [
      subheading(heading),
      ...commands.flatMap((each) => commandLines(each)),
    ]),
    '.SH OPTIONS',
    "They go before the agent or the command; everything after an agent's name is the agent's.",
    ...optionsByTopic(program).flatMap(([heading, rows]) => [
      subheading(heading),
      ...rows.flatMap(optionLines),
    ]),
    '.SH EXAMPLES',
    ...literal(notesOf(program).examples.join('\n')),
    '.SH EXIT STATUS',
    ...literal(exitStatus),
    ...sections.flatMap(([title, text]) => [`.SH ${title.toUpperCase()}`, ...paragraphs(text)]),
  ].join('\n')}\n`;

const subheading = (heading: string): string => `.SS ${escaped(heading.replace(/:$/, ''))}`;

const synopsis = (program: Command): readonly string[] =>
  usageLines(program).flatMap((line) => [
    `.B ${program.name()}`,
    escaped(line.slice(program.name().length + 1)),
    '.br',
  ]);

/** A command with its own commands below it. */
const commandLines = (command: Command, before = ''): readonly string[] => [
  '.TP',
  `.B ${escaped(`${before}${commandTerm(command)}`)}`,
  escaped(sentence(command)),
  '.RS',
  ...optionsByTopic(command)
    .flatMap(([, rows]) => rows)
    .filter(([term]) => !term.includes('--help'))
    .flatMap(optionLines),
  ...(notesOf(command).sections ?? []).flatMap(([heading, text]) => [
    '.PP',
    `${escaped(heading)}:`,
    ...literal(text),
  ]),
  ...(notesOf(command).examples.length > 0
    ? ['.PP', 'Example:', ...literal(notesOf(command).examples.join('\n'))]
    : []),
  '.RE',
  ...command
    .createHelp()
    .visibleCommands(command)
    .flatMap((each) => commandLines(each, `${command.name()} `)),
];

const optionLines = ([term, text]: readonly [term: string, text: string]): readonly string[] => [
  '.TP',
  `.B ${escaped(term)}`,
  escaped(text),
];

/** Lines that stay as they are. */
const literal = (text: string): readonly string[] => ['.PP', '.nf', ...text.split('\n').map(escaped), '.fi'];

const paragraphs = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n\n')
    .flatMap((part, index) => [...(index > 0 ? ['.PP'] : []), ...part.split('\n').map(escaped)]);

/** Escapes backslashes, hyphens (so that they can be copied), and a leading dot or quote, which would start a macro. */
const escaped = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

// Texts of the manual page besides commands and options.

export const manSections: readonly (readonly [title: string, text: string])[] = [
  [
    'environment',
    `CTXWRAP_DISABLE=1 starts the agent without ctxwrap.

CTXWRAP_CONFIG names another configuration file. CTXWRAP_MODE and others like it set one key each: see config show.

CTXWRAP_SHELL holds the pid of the shell that loaded init, so that doctor can tell whether init is active. Do not set it yourself.

NO_COLOR turns colours off; bold, dim and reverse video remain.

XDG_STATE_HOME and XDG_CONFIG_HOME change where the files are.`,
  ],
  [
    'files',
    `~/.config/ctxwrap/config.jsonc is your configuration; config init, set and edit write it. .ctxwrap.jsonc in a folder can only restrict what ctxwrap does there.

~/.local/state/ctxwrap is readable only by you. It holds the running sessions and requests to them; audit.jsonl, with every compaction, what was known before it and how it ended;
verified, with the results of verify for each agent version; and compiled, with ctxwrap's own code as Node has compiled it, for a faster start.`,
  ],
];
