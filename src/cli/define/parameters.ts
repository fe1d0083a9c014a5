import { Argument, Option } from 'commander';
import { keyOption, parseChoice, type CommandOptions } from '../options.js';
import { parseAgent } from '../read-launch.js';
import type { AgentOption } from '../request.js';
import type { Present } from '../../core/present.js';
import type { Options } from '../request.js';

// What commands take. Each argument and option knows the type of its value, so that the type of what a command is asked follows from its
// definition.

/** An argument or an option. */
export interface Parameter<T> {
  readonly part: Argument | Option;
  /** its value, from what commander has read */
  readonly valueOf: (given: unknown) => T;
}

/** By the name under which a command finds the value. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

type ValueOf<P> = P extends Parameter<infer T> ? T : never;

/** `--runtime` and `--window` of a command join the options before it. */
type OwnName<P extends Parameters> = Exclude<keyof P, keyof CommandOptions>;

/** The values of a command's parameters. What was not given is absent. */
export type Asked<P extends Parameters> = Present<{ readonly [K in OwnName<P>]: ValueOf<P[K]> }> & {
  readonly options: Options;
};

interface Accepted<T> {
  /** throws a UserError for a wrong value */
  readonly parse?: (text: string) => T;
  /** for completion */
  readonly choices?: readonly string[];
}

type Named<N extends string, T> = N extends `<${string}`
  ? T
  : N extends `${string}...]`
    ? readonly T[]
    : T | undefined;

/** `<name>` is needed, `[name]` may be left out, `[name...]` are several. */
export const argument = <N extends `<${string}>` | `[${string}]`, T = string>(
  name: N,
  help: string,
  { parse, choices }: Accepted<T> = {},
): Parameter<Named<N, NoInfer<T>>> => {
  const part = new Argument(name, help);
  if (choices) part.choices(choices);
  if (parse) part.argParser(parse);
  return { part, valueOf: (given) => given as Named<N, T> };
};

/** One of a few words; `of` is what the message about another one begins with. */
export const oneOf = <T extends string>(of: string, choices: readonly T[]): Accepted<T> => ({
  parse: parseChoice(of, ...choices),
  choices,
});

/** An option without a value; `conflicts` are the names of options that it excludes. */
export const flag = (flags: string, help: string, conflicts: readonly string[] = []): Parameter<boolean> => ({
  part: new Option(flags, help).conflicts([...conflicts]),
  valueOf: (given) => given === true,
});

/** `parse` also gets the value of the same option before it. */
export const option = <T = string>(
  flags: string,
  help: string,
  parse?: (text: string, before: T | undefined) => T,
): Parameter<NoInfer<T> | undefined> => {
  const part = new Option(flags, help);
  return optionOf<T | undefined>(parse ? part.argParser(parse) : part);
};

/** Any other option. */
export const optionOf = <T>(part: Option): Parameter<T> => ({ part, valueOf: (given) => given as T });

// What several commands take, in the same words.

export const SESSION = "an id, a pid or an agent's name; by default the session you are in, or the only one";

/** What commands that only read take where none is named. */
export const LAST_SESSION = 'when none runs, the one that ended last';

export const JSON_HELP = 'print one JSON object';
export const json = flag('--json', JSON_HELP);
export const NDJSON_HELP = 'print one JSON object per line';

export const window = optionOf<CommandOptions['window']>(keyOption('window'));

export const runtime = (help: string, flags = '--runtime <name>'): Parameter<AgentOption | undefined> =>
  option(flags, help, parseAgent);

export const writer = runtime('the agent that wrote the file, if not recognised');
