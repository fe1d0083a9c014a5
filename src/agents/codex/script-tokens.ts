// The words of a script in JavaScript, enough to find its constants and calls. Tolerant: what is unfinished ends with the
// script, or with its line. It never backtracks, so that its time grows with the length of the script.

export type Token =
  /** a name, a keyword or a number */
  | (Place & { readonly kind: 'word'; readonly text: string })
  | (Place & { readonly kind: 'mark'; readonly text: string })
  /** a string, with its escapes decoded */
  | (Place & { readonly kind: 'string'; readonly text: string })
  | (Place & { readonly kind: 'template'; readonly parts: readonly TemplatePart[] });

interface Place {
  /** in the script, in characters */
  readonly start: number;
  readonly end: number;
}

export type TemplatePart = string | Expression;

/** The text between `${` and `}`. */
export interface Expression {
  readonly tokens: readonly Token[];
  readonly source: string;
}

export interface Tokens {
  readonly tokens: readonly Token[];
  /** a string or a comment does not end, or templates are nested too deep */
  readonly isBroken: boolean;
}

const DEEPEST_TEMPLATE = 16;

/** State of the reading; changed in place, because a script can have a million tokens. */
interface Reading {
  readonly script: string;
  at: number;
  depth: number;
  isBroken: boolean;
}

/** All tokens of a script. */
export const tokensOf = (script: string): Tokens => {
  const reading: Reading = { script, at: 0, depth: 0, isBroken: false };
  const tokens = readTokens(reading);
  return { tokens, isBroken: reading.isBroken };
};

const BLANK = /\s+/y;
const WORD = /[\p{L}\p{N}_$]+/uy; // numbers, too
const MARK = /=>|\.\.\.|\?\.|\?\?|&&|\|\||[=!<>+*/%&|^-]=+|[^]/y;

/** To the end of the script, or of the expression in a template. */
const readTokens = (reading: Reading): readonly Token[] => {
  const tokens: Token[] = [];
  const { script } = reading;
  let braces = 0;
  while (reading.at < script.length) {
    const first = script[reading.at] ?? '';
    if (reading.depth > 0 && first === '}' && braces === 0) return tokens;
    if (skipBlank(reading) || skipComment(reading)) continue;
    const token = readToken(reading, first, tokens.at(-1));
    if (!token) continue;
    if (token.kind === 'mark' && token.text === '{') braces += 1;
    if (token.kind === 'mark' && token.text === '}') braces -= 1;
    tokens.push(token);
  }
  if (reading.depth > 0) reading.isBroken = true;
  return tokens;
};

const readToken = (reading: Reading, first: string, before: Token | undefined): Token | undefined => {
  const { script, at: start } = reading;
  if (first === '"' || first === "'") return readString(reading, first);
  if (first === '`') return readTemplate(reading);
  const word = take(reading, WORD);
  if (word !== '') return { kind: 'word', text: word, start, end: reading.at };
  if (first === '/' && mayBeginPattern(before)) {
    skipPattern(reading);
    return { kind: 'word', text: '/', start, end: reading.at };
  }
  const text = take(reading, MARK) || (script[start] ?? '');
  reading.at = start + text.length;
  return { kind: 'mark', text, start, end: reading.at };
};

const take = (reading: Reading, pattern: RegExp): string => {
  pattern.lastIndex = reading.at;
  const found = pattern.exec(reading.script)?.[0] ?? '';
  reading.at += found.length;
  return found;
};

const skipBlank = (reading: Reading): boolean => take(reading, BLANK) !== '';

const skipComment = (reading: Reading): boolean => {
  const { script, at } = reading;
  const isLine = script.startsWith('//', at);
  if (!isLine && !script.startsWith('/*', at)) return false;
  const end = script.indexOf(isLine ? '\n' : '*/', at + 2);
  if (end < 0 && !isLine) reading.isBroken = true;
  reading.at = end < 0 ? script.length : end + (isLine ? 1 : 2);
  return true;
};

/** After a value a slash divides. */
const mayBeginPattern = (before: Token | undefined): boolean => {
  if (before === undefined) return true;
  if (before.kind === 'mark') return ![')', ']', '}'].includes(before.text);
  return before.kind === 'word' && /^(?:return|typeof|case|in|of|await)$/.test(before.text);
};

/** A regular expression ends in its line; a slash in brackets does not end it. */
const skipPattern = (reading: Reading): void => {
  const { script } = reading;
  let isInBrackets = false;
  for (reading.at += 1; reading.at < script.length; reading.at += 1) {
    const each = script[reading.at];
    if (each === '\n') break;
    if (each === '\\') reading.at += 1;
    else if (each === '[') isInBrackets = true;
    else if (each === ']') isInBrackets = false;
    else if (each === '/' && !isInBrackets) break;
  }
  if (script[reading.at] !== '/') {
    reading.isBroken = true; // it was none, and what it was is not known
    return;
  }
  reading.at += 1;
  take(reading, WORD);
};

const readString = (reading: Reading, quote: string): Token => {
  const { script, at: start } = reading;
  let end = start + 1;
  while (end < script.length && script[end] !== quote && script[end] !== '\n')
    end += script[end] !== '\\' ? 1 : script.startsWith('\r\n', end + 1) ? 3 : 2;
  const isWhole = script[end] === quote;
  if (!isWhole) reading.isBroken = true;
  reading.at = Math.min(script.length, end + (isWhole ? 1 : 0));
  return { kind: 'string', text: unescaped(script.slice(start + 1, end)), start, end: reading.at };
};

const readTemplate = (reading: Reading): Token => {
  const { script, at: start } = reading;
  const parts: TemplatePart[] = [];
  let from = (reading.at += 1);
  const endPart = (): void => void parts.push(unescaped(script.slice(from, reading.at)));
  while (reading.at < script.length && script[reading.at] !== '`') {
    if (script[reading.at] === '\\') reading.at += 2;
    else if (script.startsWith('${', reading.at)) {
      endPart();
      parts.push(readExpression(reading));
      from = reading.at;
    } else reading.at += 1;
  }
  reading.at = Math.min(script.length, reading.at);
  endPart();
  if (reading.at === script.length) reading.isBroken = true;
  reading.at = Math.min(script.length, reading.at + 1);
  return { kind: 'template', parts, start, end: reading.at };
};

const readExpression = (reading: Reading): Expression => {
  const start = (reading.at += 2);
  if (reading.depth >= DEEPEST_TEMPLATE) {
    reading.isBroken = true;
    reading.at = reading.script.length;
    return { tokens: [], source: '' };
  }
  reading.depth += 1;
  const tokens = readTokens(reading);
  reading.depth -= 1;
  const source = reading.script.slice(start, reading.at);
  reading.at = Math.min(reading.script.length, reading.at + 1);
  return { tokens, source };
};

const ESCAPE = /\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[^]))/g;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' };
const LARGEST = 0x10ffff;

/** A string as the program has it; a backslash before a line's end joins the lines. */
const unescaped = (text: string): string =>
  text.includes('\\')
    ? text.replace(ESCAPE, (_, ...[long, short, byte, other = '']: readonly (string | undefined)[]) => {
        const code = long ?? short ?? byte;
        if (code !== undefined) return String.fromCodePoint(Math.min(LARGEST, Number.parseInt(code, 16)));
        if (other === '0') return '\0';
        return /^[\r\n]/.test(other) ? '' : (ESCAPED[other] ?? other);
      })
    : text;

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** For each token that opens a bracket, the index of the one that closes it; the end of the tokens where none does. */
const bracketEnds = (tokens: readonly Token[]): Int32Array => {
  const ends = new Int32Array(tokens.length).fill(tokens.length);
  const open: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'mark') continue;
    if (Object.hasOwn(CLOSING, token.text)) open.push(index);
    else if (/^[)\]}]$/.test(token.text)) ends[open.pop() ?? index] = index;
  }
  return ends;
};

// Moving along tokens.

/** A place in a part of the script, which moves. */
export interface Cursor {
  readonly tokens: readonly Token[];
  /** for a bracket, the index of the one that closes it */
  readonly ends: Int32Array;
  at: number;
  readonly to: number;
}

export const wholeOf = (tokens: readonly Token[]): Cursor => ({
  tokens,
  ends: bracketEnds(tokens),
  at: 0,
  to: tokens.length,
});

export const part = ({ tokens, ends }: Cursor, at: number, to: number): Cursor => ({ tokens, ends, at, to });

export const tokenAt = ({ tokens, at, to }: Cursor, ahead = 0): Token | undefined =>
  at + ahead < to ? tokens[at + ahead] : undefined;

export const isAt = (cursor: Cursor, text: string, ahead = 0, kind: 'mark' | 'word' = 'mark'): boolean => {
  const token = tokenAt(cursor, ahead);
  return token?.kind === kind && token.text === text;
};

export const wordAt = (cursor: Cursor, ahead = 0): string | undefined => {
  const token = tokenAt(cursor, ahead);
  return token?.kind === 'word' ? token.text : undefined;
};

/** True, and behind it, if this mark is next. */
export const passes = (cursor: Cursor, mark: string): boolean => {
  if (!isAt(cursor, mark)) return false;
  cursor.at += 1;
  return true;
};

/** What is in the brackets at the cursor, which moves behind them. */
export const takeBrackets = (cursor: Cursor): Cursor => {
  const end = Math.min(cursor.ends[cursor.at] ?? cursor.to, cursor.to);
  const inner = part(cursor, cursor.at + 1, end);
  cursor.at = Math.min(end + 1, cursor.to);
  return inner;
};

/** A name, or brackets that take a value apart. */
export const takePattern = (cursor: Cursor): Cursor => {
  const { at } = cursor;
  if (isAt(cursor, '[') || isAt(cursor, '{')) takeBrackets(cursor);
  else cursor.at += 1;
  return part(cursor, at, cursor.at);
};
