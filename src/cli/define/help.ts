import type { Command, Help, HelpConfiguration, Option } from 'commander';

// How --help looks: usage, commands by topic, options by topic, examples, in at most 80 columns. A command joins the topic that its file
// names with `commandsGroup`, or another one with `helpGroup`.

/** The headings of the commands in --help and in the manual page. */
export const commandTopics = {
  start: 'Commands:',
  sessions: 'Sessions:',
  setup: 'Setup:',
  trying: 'Try and test:',
} as const;

/** What --help and the manual page say about a command besides its description and options. */
export interface Notes {
  /** command lines to copy */
  readonly examples: readonly string[];
  /** further sections: heading and text, in lines of at most 78 characters */
  readonly sections?: readonly (readonly [heading: string, text: string])[];
  /** the command is among the few that --help lists; `help --all` lists the others, too */
  readonly isCommon?: boolean;
}

const notes = new WeakMap<Command, Notes>();

export const addNotes = (command: Command, added: Notes): Command => {
  notes.set(command, added);
  return command;
};

export const notesOf = (command: Command): Notes => notes.get(command) ?? { examples: [] };

/** The command with its arguments, as its row in a list shows it. */
export const commandTerm = (command: Command): string =>
  [command.name(), command.usage().replace('[options]', '').trim()].join(' ').trim();

const MOST_COLUMNS = 80;
const GAP = 2; // columns before a term, and between it and its text

/** The settings for commander's help. Commands that are added afterwards inherit them. */
export const helpSettings: HelpConfiguration = {
  formatHelp: (command, help) => formatHelp(command, help),
  subcommandTerm: commandTerm,
  argumentDescription: (argument) => argument.description, // it names the choices where they are few
};

export const helpWidth = (columns: number | undefined): number =>
  Math.min(MOST_COLUMNS, columns ?? MOST_COLUMNS);

/** The help of the program with all of its commands. */
export const fullHelp = (program: Command): string => {
  const help = program.createHelp();
  help.prepareContext({ helpWidth: helpWidth(process.stdout.columns) });
  return formatHelp(program, help, commandLists);
};

const formatHelp = (
  command: Command,
  help: Help,
  listCommands = command.parent === null ? commonCommands : commandLists,
): string => {
  const { examples, sections = [] } = notesOf(command);
  const parts = [
    usage(command),
    help.boxWrap(sentence(command), help.helpWidth ?? MOST_COLUMNS),
    list(help, 'Arguments:', argumentRows(command, help)),
    ...listCommands(command, help),
    ...optionLists(command, help),
    ...sections.map(([heading, text]) => [`${heading}:`, indented(text)].join('\n')),
    ...(examples.length > 0
      ? [[examples.length > 1 ? 'Examples:' : 'Example:', indented(examples.join('\n'))].join('\n')]
      : []),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
};

const commandRow = (command: Command): Row => [commandTerm(command), command.description()];

const commandLists = (command: Command, help: Help): readonly string[] => {
  const commands = help.visibleCommands(command);
  const width = widest(commands.map(commandTerm));
  return byTopic(commands, (each) => each.helpGroup() || commandTopics.start).map(([heading, those]) =>
    list(help, heading, those.map(commandRow), width),
  );
};

const commonCommands = (program: Command, help: Help): readonly string[] => {
  const common = help.visibleCommands(program).filter((each) => notesOf(each).isCommon);
  const rows = common.map((each): Row => [each.name(), each.description()]);
  return [list(help, commandTopics.start, [...rows, ['help --all', 'list all commands']])];
};

/** A command's description as a sentence. */
export const sentence = (command: Command): string => {
  const text = command.description();
  return text === '' ? '' : `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
};

const usage = (command: Command): string => {
  if (command.parent === null) return ['Usage:', indented(usageLines(command).join('\n'))].join('\n');
  const words: string[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) words.unshift(each.name());
  const own = command.options.length > 0 ? command.usage() : command.usage().replace(/\[options\] ?/, '');
  return `Usage: ${[...words, own].join(' ').trim()}`;
};

/** `ctxwrap …`, one for each way to call the program. */
export const usageLines = (program: Command): readonly string[] =>
  program
    .usage()
    .split('\n')
    .map((line) => `${program.name()} ${line.trim()}`);

type Row = readonly [term: string, text: string];

const argumentRows = (command: Command, help: Help): readonly Row[] =>
  help.visibleArguments(command).map((each) => [help.argumentTerm(each), help.argumentDescription(each)]);

/** The visible options by topic; --help comes last. */
export const optionsByTopic = (command: Command): readonly (readonly [string, readonly Row[]])[] => {
  const help = command.createHelp();
  return byTopic(help.visibleOptions(command), (each) => topicOf(command, each)).map(([heading, options]) => [
    heading,
    options.map((each) => [help.optionTerm(each), help.optionDescription(each)] as const),
  ]);
};

/** Only the program's own options have topics; --help comes from there. */
const topicOf = ({ parent }: Command, { helpGroupHeading = 'Options:' }: Option): string =>
  parent === null ? helpGroupHeading : 'Options:';

const optionLists = (command: Command, help: Help): readonly string[] => {
  const topics = optionsByTopic(command);
  const width = widest(topics.flatMap(([, rows]) => rows.map(([term]) => term)));
  return topics.map(([heading, rows]) => list(help, heading, rows, width));
};

/** Items by topic, both in the order of their first appearance. */
export const byTopic = <T>(
  items: readonly T[],
  topicOf: (item: T) => string,
): readonly (readonly [topic: string, items: readonly T[]])[] => {
  const topics = new Map<string, T[]>();
  for (const item of items) topics.set(topicOf(item), [...(topics.get(topicOf(item)) ?? []), item]);
  return [...topics];
};

const list = (
  help: Help,
  heading: string,
  rows: readonly Row[],
  width = widest(rows.map(([term]) => term)),
): string =>
  rows.length === 0
    ? ''
    : [heading, ...rows.map(([term, text]) => help.formatItem(term, width, text, help))].join('\n');

const widest = (terms: readonly string[]): number => Math.max(0, ...terms.map(({ length }) => length));

const indented = (text: string): string => text.replace(/^(?=.)/gm, ' '.repeat(GAP));
