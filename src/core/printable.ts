// The one exit for text. What comes from outside (session files, databases, records of other sessions, names of files and branches, titles,
// answers of servers) may hold sequences that a terminal obeys: OSC 52 writes the clipboard, a title or an erased screen lies to the user,
// and characters that reverse the text around them make a command look like another one. So everything that writes for people takes
// `Printable`, which only this file makes: from text that is cleaned here, and from colours that are added to it afterwards.

declare const isPrintable: unique symbol;

/** Text without any control or format character but the newlines and sequences that ctxwrap's own code has put there. */
export type Printable = string & { readonly [isPrintable]: true };

declare const isSpan: unique symbol;

/** A part of a row with a colour, from `colourWith`. */
interface Span {
  readonly text: Styled;
  readonly colour: (text: string) => string;
  readonly [isSpan]: true;
}

/** Any text but `Printable`, whose colours would be cleaned away. */
type Plain = string & { readonly [isPrintable]?: never };

/** A row that is not printable yet: pieces of text from anywhere, some of them with a colour, or with what is printable already. */
export type Styled = Plain | Span | { readonly printable: Printable } | readonly Styled[];

/** What gives a text a colour; `colour` adds SGR sequences around text that is clean by then, and nothing else. */
export const colourWith =
  (colour: (text: string) => string) =>
  (text: Styled): Styled =>
    ({ text, colour }) as Span;

const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** The text with U+FFFD for every control and format character, newlines too. */
export const stripControls = (text: string): string => text.replace(CONTROLS, '\ufffd');

const render = (styled: Styled): string => {
  if (typeof styled === 'string') return stripControls(styled);
  if ('printable' in styled) return styled.printable;
  return 'colour' in styled ? styled.colour(render(styled.text)) : styled.map(render).join('');
};

/** One row. A newline in it becomes U+FFFD: whoever wants lines splits the text. */
export const toPrintable = (styled: Styled): Printable => render(styled) as Printable;

/** Rows with a newline behind each. */
export const toPrintableLines = (lines: readonly Styled[]): Printable =>
  lines.map((line) => `${render(line)}\n`).join('') as Printable;

/** Text of several lines: its newlines and tabs stay, and no other control character. */
export const toPrintableText = (text: string): Printable =>
  text.replace(/[^\n\t]+/g, stripControls) as Printable;

/**
 * What ctxwrap's own code writes, sequences included: the words of the literal as they are, between them only numbers and what is printable
 * already.
 */
export const own = (words: TemplateStringsArray, ...values: readonly (Printable | number)[]): Printable =>
  words.map((word, index) => `${word}${values[index] ?? ''}`).join('') as Printable;

export const joinPrintable = (parts: readonly Printable[], between: Printable = own``): Printable =>
  parts.join(between) as Printable;

const SGR = /(\x1b\[[\d;:]*m)/;

/** For rows that a renderer has laid out from painted text: its colours stay, everything else is cleaned. */
export const keepColours = (row: string): Printable =>
  row
    .split(SGR)
    .map((part) => (SGR.test(part) ? part : stripControls(part)))
    .join('') as Printable;

/** JSON with control and format characters escaped, because it may quote a session file or a screen; the value is the same. Ends with a newline. */
export const jsonText = (value: unknown, indent?: number): Printable =>
  `${JSON.stringify(value, undefined, indent).replace(/[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu, escaped)}\n` as Printable;

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
