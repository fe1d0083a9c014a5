import { unescapeMentions } from '../text.js';

// The words around what is given back to an agent, and how such a text is known again in its session file. Who reads it there makes sure of the
// place: it must be one where no tool's output can stand.

// It begins and ends with words of its own: what stands first or last in a prompt can be a command, open a list of files, or escape Enter.
export const givenHeads = {
  lost: 'The summary of our conversation left this out:',
  mixed: 'This was in our conversation before it was summarised:',
  unreadable: 'I cannot read the summary of our conversation. This was in it before:',
} as const;
export const GIVEN_TAIL = 'All of this still holds.'; // no demand, or it would count as one of the user's
export const NOT_LOOKED_AT = 'Not looked at: ';
export const FAILED = ' (it failed)';

export const givenTitles = {
  constraint: 'What I asked for',
  plan: 'Open items of your plan',
  decision: 'What I answered to your questions',
  path: 'Files you changed',
  command: 'Commands you ran',
  identifier: 'Names and numbers I gave you',
} as const;

/** A line that was given back, as it was said or recorded before. */
export interface GivenLine {
  readonly kind: keyof typeof givenTitles;
  readonly text: string;
  readonly hasFailed?: true;
}

export interface GivenBlock {
  readonly lines: readonly GivenLine[];
  /** what stands behind it */
  readonly rest: string;
}

const HEADS: readonly string[] = Object.values(givenHeads);
const KINDS = new Map(
  (Object.keys(givenTitles) as (keyof typeof givenTitles)[]).map((kind) => [`${givenTitles[kind]}:`, kind]),
);
/** What counts the rest, as the last item of its kind. */
const MORE = /^and \d+ more [a-z ]+$/;
const LONGEST = 20_000; // characters; two texts can stand there as one

/** What this text gives back; undefined where it does not begin with ctxwrap's words. */
export const readGiven = (text: string): GivenBlock | undefined => {
  if (!HEADS.some((head) => text.startsWith(head))) return undefined;
  const rows = text.slice(0, LONGEST).split('\n');
  const lines: GivenLine[] = [];
  let isWithin = false; // behind its last line only another one can begin
  let kind: GivenLine['kind'] | undefined;
  const trimmed = rows.map((row) => row.trimEnd()); // an editor may have changed its ends
  for (const [index, row] of trimmed.entries()) {
    const isLast = !trimmed[index + 1]?.startsWith('- ');
    const item = isWithin && kind !== undefined && row.startsWith('- ') ? row.slice(2) : undefined;
    if (HEADS.includes(row)) [isWithin, kind] = [true, undefined];
    else if (row === GIVEN_TAIL) isWithin = false;
    else if (isWithin && KINDS.has(row)) kind = KINDS.get(row);
    else if (item !== undefined && kind !== undefined)
      lines.push(...(isLast && MORE.test(item) ? [] : [lineOf(kind, item)]));
    else if (row !== '' && !(isWithin && row.startsWith(NOT_LOOKED_AT)))
      return { lines, rest: rows.slice(index).join('\n') + text.slice(LONGEST) };
  }
  return { lines, rest: text.slice(LONGEST) };
};

/**
 * The same for every line that reads the same when it is given back: what its words themselves have of the mark of a failure or of a backslash
 * in front of an `@` cannot be told from what was added to them.
 */
export const givenKey = ({ kind, text }: Pick<GivenLine, 'kind' | 'text'>): string => {
  const words = unescapeMentions(text);
  return `${kind} ${kind === 'command' && words.endsWith(FAILED) ? words.slice(0, -FAILED.length) : words}`;
};

const lineOf = (kind: GivenLine['kind'], item: string): GivenLine => {
  const hasFailed = kind === 'command' && item.endsWith(FAILED);
  return hasFailed ? { kind, text: item.slice(0, -FAILED.length), hasFailed } : { kind, text: item };
};

/** The same of a message that the user has sent: a draft has its items as the agent must get them. */
export const readSentDraft = (message: string): GivenBlock | undefined => {
  const block = readGiven(message);
  return (
    block && {
      ...block,
      lines: block.lines.map((line) => ({ ...line, text: unescapeMentions(line.text) })),
    }
  );
};
