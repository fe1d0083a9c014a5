import type { Command } from 'commander';
import { exitStatus } from '../messages.js';
import { fieldsText } from '../template.js';

// The manual page, from the same definitions as --help, in man(7) macros.

export interface ManOptions {
  readonly version: string;
  /** further sections, in order: title and text */
  readonly sections: readonly (readonly [title: string, text: string])[];
}

export const manPage = (program: Command, { version, sections }: ManOptions): string =>
  `${[
    `.TH CTXWRAP 1 "" "ctxwrap ${escaped(version)}" "User Commands"`,
    '.SH NAME',
    `ctxwrap \\- ${escaped(program.description())}`,
    '.SH SYNOPSIS',
    ...synopsis(program),
    '.SH COMMANDS',
    ...program.createHelp().visibleCommands(program).flatMap(commandLines),
    '.SH OPTIONS',
    'They stand before the agent or the command; everything after an agent is its own.',
    ...optionLines(program),
    ...sections.flatMap(([title, text]) => [`.SH ${title.toUpperCase()}`, ...paragraphs(text)]),
  ].join('\n')}\n`;

const synopsis = (program: Command): readonly string[] => [
  ...program
    .usage()
    .split('\n')
    .flatMap((line) => [`.B ctxwrap`, escaped(line.trim().replace(/^ctxwrap /, '')), '.br']),
  '.B ctxwrap',
  '[options] <command> [arguments...]',
];

const commandLines = (command: Command): readonly string[] => [
  '.TP',
  `.B ${escaped([command.name(), command.usage().replace('[options] ', '').replace('[options]', '')].join(' ').trim())}`,
  escaped(command.description()),
  '.RS',
  ...optionLines(command),
  '.RE',
];

const optionLines = (command: Command): readonly string[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => command.parent === null || long !== '--help')
    .flatMap((option) => [
      '.TP',
      `.B ${escaped(option.flags)}`,
      escaped(command.createHelp().optionDescription(option)),
    ]);

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
  ['fields of ps --format', fieldsText()],
  ['exit status', exitStatus],
  [
    'environment',
    `CTXWRAP_DISABLE=1 starts the agent with nothing in between.
CTXWRAP_SHELL holds the pid of the shell that has loaded init, so that doctor can tell whether it is active. Do not set it yourself.
NO_COLOR takes the colours away.
CTXWRAP_CONFIG names another configuration file; CTXWRAP_MODE and the like set one key each, see config show.

XDG_STATE_HOME and XDG_CONFIG_HOME say where the files are.`,
  ],
  [
    'files',
    `~/.config/ctxwrap/config.jsonc is the configuration, .ctxwrap.jsonc in a folder has less done there; config init, set and edit write the first.

~/.local/state/ctxwrap holds the sessions that run, requests to them, and audit.jsonl: each compaction with what was known before and
what came of it; verified holds what verify has found with each version of an agent; compiled holds ctxwrap's own code as Node has compiled it, so that it
starts faster. It is for its user alone.`,
  ],
];
