/*
 * Splits a terminal's input into elements: text, keys, pastes, mouse reports, and answers to queries. One character is one byte (Latin-1),
 * or decoded text. Formats: xterm ctlseqs, kitty's keyboard protocol, xterm's modifyOtherKeys.
 */

/** An element of the input. The concatenated texts of all elements are the input, byte for byte. */
export interface InputElement {
  /** `text`: printable characters; `answer`: to a query of a program */
  readonly kind: 'text' | 'key' | 'paste-start' | 'paste' | 'paste-end' | 'mouse' | 'focus' | 'answer';
  readonly text: string;
}

export interface InputState {
  /** beginning of an element whose end has not arrived */
  readonly held: string;
  /** passed on before its end arrived; may be the beginning of a marker that starts or ends a paste */
  readonly flushed: string;
  /** what the next characters belong to: a bracketed paste, or an answer too long to be held */
  readonly inside: 'paste' | 'answer' | undefined;
}

export interface InputRead {
  readonly elements: readonly InputElement[];
  readonly state: InputState;
}

export const startInput: InputState = { held: '', flushed: '', inside: undefined };

const ESC = '\x1b';
const PASTE_START = '\x1b[200~'; // mode 2004
const PASTE_END = '\x1b[201~';
const LONGEST_HELD = 64; // characters; keys are shorter, and so are the answers that are needed complete

/** The beginnings of a terminal's strings (OSC, DCS, APC); anything else is Alt with `]`, `P` or `_`. */
const STRING = /\x1b(?:\][\dlL]|P[\d>!]|_G)/;
const IN_STRING = /[^\x00-\x1f]*/;
const END_OF_STRING = /(?:\x07|\x1b\\)/;

const sticky = (...parts: readonly RegExp[]): RegExp =>
  new RegExp(parts.map(({ source }) => source).join(''), 'y');

const TEXT = /[^\x00-\x1f\x7f]+/y;
// Forms of elements that begin with ESC; the first match counts. A cursor report (`CSI row ; column R`) looks like F3 with a modifier, and
// is treated as an answer.
const forms: readonly (readonly [InputElement['kind'], RegExp])[] = [
  ['paste-start', /\x1b\[200~/y],
  ['focus', /\x1b\[[IO]/y],
  ['mouse', /\x1b\[(?:<[\d;]*[Mm]|\d+;\d+;\d+M|M[^\x00-\x1f]{3})/y],
  ['answer', /\x1b\[(?:[?>=][\d;:]*\$?[cnRuymS]|[\d;]+(?:\$y|[cntR]|"w)|\d+(?:;\d+)+x)/y],
  ['answer', sticky(STRING, IN_STRING, END_OF_STRING)],
  ['key', /\x1b\x1b?(?:\[[ -?]{0,61}[@-~]|O[ -~])/y],
  ['key', /\x1b\[[ -?]+/y], // incomplete, or too long
  ['key', /\x1b[^\x1b]?/y],
];
const INCOMPLETE_KEY = /\x1b(?:\x1b?(?:\[(?:M[^\x00-\x1f]{0,2}|[ -?]{0,61})|O)?|[\]P_])$/y;
const INCOMPLETE_STRING = sticky(STRING, IN_STRING, /\x1b?$/);
const REST_OF_STRING = sticky(IN_STRING, /(?:\x07|\x1b\\)?/);
const REST_OF_MARK = /\x1b(?:\[(?:2(?:0(?:1)?)?)?)?$/;

const matchAt = (form: RegExp, text: string, at: number): string | undefined => {
  form.lastIndex = at;
  return form.exec(text)?.[0];
};

/** True for an ESC that is the Escape key: ESC before a key's sequence is Alt with that key, before anything else it is a key by itself. */
const isLoneEscape = (text: string, at: number): boolean => {
  if (text[at + 1] !== ESC) return false;
  const isSequence = text[at + 2] === '[' || text[at + 2] === 'O';
  return !isSequence || elementAt(text, at + 1)?.kind !== 'key';
};

/** The element at `at`; undefined if its end has not arrived. */
const elementAt = (text: string, at: number): InputElement | undefined => {
  if (text[at] !== ESC) {
    const found = matchAt(TEXT, text, at);
    return found === undefined ? { kind: 'key', text: text.charAt(at) } : { kind: 'text', text: found };
  }
  const isOpen = matchAt(INCOMPLETE_KEY, text, at) ?? matchAt(INCOMPLETE_STRING, text, at);
  if (isOpen !== undefined) return undefined;
  if (isLoneEscape(text, at)) return { kind: 'key', text: ESC };
  for (const [kind, form] of forms) {
    const found = matchAt(form, text, at);
    if (found !== undefined) return { kind, text: found };
  }
  return undefined;
};

const pasteAt = (text: string, at: number): InputElement | undefined => {
  const end = text.indexOf(PASTE_END, at);
  if (end === at) return { kind: 'paste-end', text: PASTE_END };
  const rest = end < 0 ? text.slice(at).replace(REST_OF_MARK, '') : text.slice(at, end);
  return rest === '' ? undefined : { kind: 'paste', text: rest };
};

const nextElement = (text: string, at: number, inside: InputState['inside']): InputElement | undefined => {
  if (inside === 'paste') return pasteAt(text, at);
  const rest = inside === 'answer' ? matchAt(REST_OF_STRING, text, at) : undefined;
  return rest ? { kind: 'answer', text: rest } : elementAt(text, at);
};

const insideAfter = ({ kind, text }: InputElement, before: InputState['inside']): InputState['inside'] => {
  if (kind === 'paste-start' || kind === 'paste') return 'paste';
  return kind === 'answer' && before === 'answer' && !END_OF_STRING.test(text) ? 'answer' : undefined;
};

/** The marker at which the next piece of a paste ends or begins. */
const markOf = (inside: InputState['inside']): string => (inside === 'paste' ? PASTE_END : PASTE_START);

/** Splits the input into elements, however the reads divided it. */
export const readElements = ({ held, flushed, inside: before }: InputState, chunk: string): InputRead => {
  const text = held + chunk;
  const mark = markOf(before);
  if (flushed !== '' && mark.startsWith(flushed + text))
    return { elements: [], state: { held: text, flushed, inside: before } };
  const elements: InputElement[] = [];
  let inside = before;
  let at = 0;
  if (flushed !== '' && (flushed + text).startsWith(mark)) {
    at = mark.length - flushed.length;
    inside = before === 'paste' ? undefined : 'paste';
    elements.push({ kind: inside ? 'paste-start' : 'paste-end', text: text.slice(0, at) });
  }
  while (at < text.length) {
    const element = nextElement(text, at, inside);
    if (!element) break;
    at += element.text.length;
    inside = insideAfter(element, inside);
    elements.push(element);
  }
  const rest = text.slice(at);
  if (rest.length <= LONGEST_HELD) return { elements, state: { held: rest, flushed: '', inside } };
  const answer = rest.replace(/\x1b$/, '');
  elements.push({ kind: 'answer', text: answer });
  return { elements, state: { held: rest.slice(answer.length), flushed: '', inside: 'answer' } };
};

/** Passes on held characters: after a short silence an ESC is the Escape key. */
export const flushElements = ({ held, flushed, inside }: InputState): InputRead => {
  const kind = inside === 'paste' ? 'paste' : isAnswerBegun(held) ? 'answer' : 'key';
  const texts = held === ESC + ESC ? [ESC, ESC] : held === '' ? [] : [held];
  const given = markOf(inside).startsWith(flushed + held) ? flushed + held : '';
  return {
    elements: texts.map((text) => ({ kind, text })),
    state: { held: '', flushed: given, inside: inside === 'paste' ? inside : undefined },
  };
};

/** True if this is the beginning of an answer in a string; no key looks like it. */
export const isAnswerBegun = (held: string): boolean => STRING.test(held);

/** The elements of a complete text. */
export const splitElements = (text: string): readonly InputElement[] => {
  const { elements, state } = readElements(startInput, text);
  return [...elements, ...flushElements(state).elements];
};

/** True if the user caused it, not the terminal. Mouse reports do not count. */
export const isTyped = ({ kind }: InputElement): boolean =>
  kind !== 'answer' && kind !== 'focus' && kind !== 'mouse';

export interface Key {
  /** the character, or the name of the key: `enter`, `up`; '' for keys that are not used here */
  readonly name: string;
  /** bits of kitty's protocol, without caps lock and num lock */
  readonly modifiers: number;
  readonly isRelease: boolean;
}

export const SHIFT = 1;
const ALT = 2;
export const CONTROL = 4;
const LOCKS = 64 | 128;

const byCode: Readonly<Record<number, string>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
  57414: 'enter',
  57419: 'up',
  57420: 'down',
  57421: 'pageup',
  57422: 'pagedown',
  57423: 'home',
  57424: 'end',
};
const byFinal: Readonly<Record<string, string>> = { A: 'up', B: 'down', H: 'home', F: 'end' };
const byNumber: Readonly<Record<string, string>> = {
  1: 'home',
  4: 'end',
  5: 'pageup',
  6: 'pagedown',
  7: 'home',
  8: 'end',
};

const named = (code: number): string => {
  if (code >= 57_441 && code <= 57_454) return 'modifier'; // Shift and other modifiers alone
  return byCode[code] ?? (code > 0x1f && code < 0x110000 ? String.fromCodePoint(code) : '');
};

/** For a single character: a control character is its key with Ctrl. */
const characterKey = (code: number): Key =>
  code < 0x20 && byCode[code] === undefined
    ? { name: controlName(code), modifiers: CONTROL, isRelease: false }
    : { name: named(code), modifiers: 0, isRelease: false };

/** The key that produces this control character with Ctrl: 0x1d → `]`, 0x07 → `g`. */
export const controlName = (code: number): string => String.fromCharCode(code + 0x40).toLowerCase();

// `CSI code : shifted : base ; modifiers : event ; text u`, `CSI 27 ; modifiers ; code ~`, and the older ones with their modifiers
const SEQUENCE = /^\x1b[[O](\d*)(?::(\d*))?(?::\d*)?(?:;(\d*)(?::(\d*))?(?:;([\d:]*))?)?([ABFHu~])$/;

/** The key of an element of kind `key`, or of a single character. */
export const parseKey = (text: string): Key => {
  if (text.length === 1) return characterKey(text.charCodeAt(0));
  if (text.startsWith(ESC) && (text.length === 2 || text[1] === ESC)) {
    const key = parseKey(text.slice(1));
    return { ...key, modifiers: key.modifiers | ALT };
  }
  const [, number = '', shifted, given, event, other = '', final = ''] = SEQUENCE.exec(text) ?? [];
  const modifiers = (Number(given || 1) - 1) & ~LOCKS;
  const nameOf = (): string => {
    if (final === 'u') return named(Number((modifiers & SHIFT && shifted) || number));
    if (final !== '~') return number === '' || number === '1' ? (byFinal[final] ?? '') : '';
    return number === '27' ? named(Number(other)) : (byNumber[number] ?? '');
  };
  return { name: nameOf(), modifiers, isRelease: event === '3' };
};

/** True for a pressed key other than a modifier, and for a paste. */
export const isPressed = (element: InputElement): boolean => {
  if (element.kind !== 'key') return isTyped(element);
  const { name, isRelease } = parseKey(element.text);
  return !isRelease && name !== 'modifier';
};
