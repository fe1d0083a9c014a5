// What the lab knows of an agent's own commands and keys, and what it reads of them on the agent's screen.

/** What a command or key does to the conversation beside changing nothing of it. */
export type Effect =
  | 'view' // another conversation, or a list without one, comes into view
  | 'conversation' // a new, resumed, cut back, cleared or copied one
  | 'model'
  | 'mode' // what the agent may do, or how keys work
  | 'compact'
  | 'exit';

/** A scenario plays it, or there is a reason why none does. */
export type Known =
  | { readonly does: Effect; readonly scenario: string }
  | { readonly does: Effect; readonly because: string };

/** A place in which the agent names commands or keys. */
export interface NameList {
  readonly what: 'hint line' | 'tabs' | 'shortcuts' | 'commands' | 'palette';
  /** pressed in an empty prompt, one after the other; none for what is there at rest */
  readonly keys: readonly string[];
  /** goes on to the next entry, where not all are shown */
  readonly next?: string;
  /** the rows with names; where absent, those that are not there at rest */
  readonly rows?: RegExp;
  /** global: its first group is a name */
  readonly names: RegExp;
  /** the keys that leave it */
  readonly back: readonly string[];
}

export interface AgentCommands {
  readonly lists: readonly NameList[];
  /** names that change nothing of the conversation, and headings among them */
  readonly harmless: readonly string[];
  readonly others: Readonly<Record<string, Known>>;
}

export const DOWN = '\x1b[B';

/** The same of many names, which are parted by `|`. */
export const each = (names: string, known: Known): Readonly<Record<string, Known>> =>
  Object.fromEntries(listed(names).map((name) => [name, known]));

/** Names that are parted by `|`. */
export const listed = (names: string): readonly string[] => names.split('|').map((name) => name.trim());

/** The names in a picture of the list; `atRest` is the screen before its keys. */
export const namesIn = (
  { rows: isNameRow, names }: Pick<NameList, 'rows' | 'names'>,
  rows: readonly string[],
  atRest: readonly string[],
): readonly string[] =>
  rows
    .filter((row) => (isNameRow ? isNameRow.test(row) : !atRest.includes(row)))
    .flatMap((row) => [...row.matchAll(names)].flatMap(([, name = '']) => name.trim() || []));

/** The names that nothing is known of, and those that are known and were not seen. */
export const compared = (
  { harmless, others }: Pick<AgentCommands, 'harmless' | 'others'>,
  seen: readonly string[],
): { readonly unknown: readonly string[]; readonly gone: readonly string[] } => {
  const known = [...harmless, ...Object.keys(others)];
  return {
    unknown: [...new Set(seen)].filter((name) => !known.includes(name)),
    gone: known.filter((name) => !seen.includes(name)),
  };
};
