// The lists in a summary that an agent's compaction has left, by what their headings say. Nothing is understood: an item belongs to the heading
// above it, and is given in its own words.

export interface SummaryPoints {
  readonly decisions: readonly string[];
  readonly patterns: readonly string[];
  readonly issues: readonly string[];
}

type Kind = keyof SummaryPoints;

const kinds: readonly (readonly [Kind, RegExp])[] = [
  ['decisions', /\bdecisions?\b|\bdecided\b/i],
  ['patterns', /\bpatterns?\b|\bconventions?\b|\bconcepts?\b|\bkey.knowledge\b/i],
  ['issues', /\bissues?\b|\berrors?\b|\bproblems?\b|\bquirks?\b|\bgaps?\b|\bblockers?\b/i],
];

// Markdown, a bold line, a tag as in Gemini's snapshots, or a numbered line that ends with a colon.
const HEADINGS = [
  /^#{1,6}[ ]+(.{1,100})$/,
  /^(?:\d{1,2}[.)][ ]+)?\*\*(.{1,100}?)\*\*:?$/,
  /^<([a-z_]{1,60})>$/,
  /^(?:\d{1,2}[.)][ ]+)?([A-Z][^:.!?]{1,80}):$/,
];
const END_TAG = /^<\/[a-z_]{1,60}>$/;
const ITEM = /^(?:[-*•]|\d{1,2}[.)])[ ]+(\S.*)$/;
const LONGEST_LINE = 4_000; // characters; a longer one is no item of a list

/** Reads the text line by line. */
export const summaryPoints = (text: string): SummaryPoints => {
  const found: Record<Kind, string[]> = { decisions: [], patterns: [], issues: [] };
  let kind: Kind | undefined;
  for (const row of text.split('\n')) {
    const line = row.length > LONGEST_LINE ? '' : row.trim();
    const heading = headingIn(line);
    const item = ITEM.exec(line)?.[1];
    if (heading !== undefined) kind = kindOf(heading);
    else if (END_TAG.test(line)) kind = undefined;
    else if (kind && item !== undefined) found[kind].push(item);
  }
  return found;
};

const headingIn = (line: string): string | undefined => {
  for (const form of HEADINGS) {
    const words = form.exec(line)?.[1];
    if (words !== undefined) return words.replaceAll('_', ' ');
  }
  return undefined;
};

const kindOf = (heading: string): Kind | undefined => kinds.find(([, words]) => words.test(heading))?.[0];
