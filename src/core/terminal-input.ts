/*
 * Splits a terminal's input into elements: text, keys, pastes, mouse reports, and answers to queries. One character is one byte (Latin-1),
 * or decoded text. Formats: xterm ctlseqs, kitty's keyboard protocol, xterm's modifyOtherKeys.
 */

/** An element of the input. The concatenated texts of all elements are the input, byte for byte. */
export interface InputElement {
  /** `text`: printable characters; `answer`: to a query of a program */
  readonly kind: 'text' | 'key' | 'paste-start' | 'paste' | 'paste-end' | 'mouse' | 'focus' | 'answer';
  readonly text: string;
  /** the beginning of an answer or report whose rest came so late that it had been passed on as keys; not part of `text` */
  readonly passedOn?: string;
  /** piece of an answer that is too long to be held */
  readonly piece?: 'first' | 'next';
}

export interface InputState {
  /** beginning of an element whose end has not arrived */
  readonly held: string;
  /** passed on before its end arrived; may be the beginning of an answer, or of a marker that starts or ends a paste */
  readonly flushed: string;
  /** what the next characters belong to: a bracketed paste, or an answer too long to be held, which may be one to drop */
  readonly inside: 'paste' | 'answer' | 'dropped answer' | undefined;
}

export interface InputRead {
  readonly elements: readonly InputElement[];
  readonly state: InputState;
}

export const startInput: InputState = { held: '', flushed: '', inside: undefined };

const ESC = '\x1b';
export const PASTE_START = '\x1b[200~'; // mode 2004
export const PASTE_END = '\x1b[201~';
export const BACKSPACE = '\x7f';
const LONGEST_HELD = 64; // characters; keys are shorter, and so are the answers that are needed complete

/** The beginnings of a terminal's strings (OSC, DCS, APC); anything else is Alt with `]`, `P` or `_`. */
const STRING = /\x1b(?:\][\dlL]|P[\d>!]|_G)/;
const IN_STRING = /[^\x00-\x1f]*/;
const END_OF_STRING = /(?:\x07|\x1b\\)/;

const sticky = (...parts: readonly RegExp[]): RegExp =>
  new RegExp(parts.map(({ source }) => source).join(''), 'y');

// Answers of a terminal that can come inside a paste or after a part of them was passed on: CPR and DECXCPR, DA2, DSR, OSC 11. A mouse
// report can begin like them.
const ANSWER = /\x1b(?:\[(?:\??\d+(?:;\d+){1,2}R|>[\d;]*c|\d+n)|\]11;[ -~]*(?:\x07|\x1b\\))/;
const ANSWER_BEGUN = /\x1b(?:\[[?><]?[\d;]*|\](?:1(?:1(?:;[ -~]*\x1b?)?)?)?)?$/;
const WHOLE_ANSWER = new RegExp(`^${ANSWER.source}`);
const WHOLE_REPORT = /^\x1b\[(?:<\d+;\d+;\d+[Mm]|\d+;\d+;\d+M)/; // of the mouse
const ONLY_ANSWER_BEGUN = new RegExp(`^${ANSWER_BEGUN.source}`);

const TEXT = /[^\x00-\x1f\x7f]+/y;
// Forms of elements that begin with ESC; the first match counts. A cursor report (`CSI row ; column R`) looks like F3 with a modifier, and
// is treated as an answer.
const forms: readonly (readonly [InputElement['kind'], RegExp])[] = [
  ['paste-start', /\x1b\[200~/y],
  ['focus', /\x1b\[[IO]/y],
  ['mouse', /\x1b\[(?:<[\d;]*[Mm]|\d+;\d+;\d+M)/y],
  ['answer', /\x1b\[(?:[?>=][\d;:]*\$?[cnRuymS]|[\d;]+(?:\$y|[cntR]|"w)|\d+(?:;\d+)+x)/y],
  ['answer', sticky(STRING, IN_STRING, END_OF_STRING)],
  ['key', /\x1b\x1b?(?:\[[ -?]{0,61}[@-~]|O[ -~])/y],
  ['key', /\x1b\[[ -?]+/y], // incomplete, or too long
  ['key', /\x1b[^\x1b]?/y],
];
const INCOMPLETE_KEY = /\x1b(?:\x1b?(?:\[[ -?]{0,61}|O)?|[\]P_])$/y;
const INCOMPLETE_STRING = sticky(STRING, IN_STRING, /\x1b?$/);
const REST_OF_STRING = sticky(IN_STRING, /(?:\x07|\x1b\\)?/);
const PASTE_STOP = new RegExp(`\\x1b\\[201~|${ANSWER.source}`, 'g');

/** Mouse reports in the oldest form: `CSI M`, then button, column and row, each a byte or, with mode 1005, a UTF-8 character. */
interface OldMouse {
  readonly whole: RegExp;
  readonly begun: RegExp;
}
const byteMouse: OldMouse = {
  whole: /\x1b\[M[^\x00-\x1f]{3}/y,
  begun: /\x1b\[M[^\x00-\x1f]{0,2}$/y,
};
const utf8Mouse: OldMouse = {
  whole: /\x1b\[M(?:[ -\x7f]|[\xc2-\xdf][\x80-\xbf]){3}/y,
  begun: /\x1b\[M(?:[ -\x7f]|[\xc2-\xdf][\x80-\xbf]){0,2}[\xc2-\xdf]?$/y,
};

const matchAt = (form: RegExp, text: string, at: number): string | undefined => {
  form.lastIndex = at;
  return form.exec(text)?.[0];
};

/** True for an ESC that is the Escape key: ESC before a key's sequence is Alt with that key, before anything else it is a key by itself. */
const isLoneEscape = (text: string, at: number, mouse: OldMouse): boolean => {
  if (text[at + 1] !== ESC) return false;
  const isSequence = text[at + 2] === '[' || text[at + 2] === 'O';
  return !isSequence || elementAt(text, at + 1, mouse)?.kind !== 'key';
};

/** The element at `at`; undefined if its end has not arrived. */
const elementAt = (text: string, at: number, mouse: OldMouse): InputElement | undefined => {
  if (text[at] !== ESC) {
    const found = matchAt(TEXT, text, at);
    return found === undefined ? { kind: 'key', text: text.charAt(at) } : { kind: 'text', text: found };
  }
  const isOpen =
    matchAt(INCOMPLETE_KEY, text, at) ??
    matchAt(INCOMPLETE_STRING, text, at) ??
    matchAt(mouse.begun, text, at);
  if (isOpen !== undefined) return undefined;
  if (isLoneEscape(text, at, mouse)) return { kind: 'key', text: ESC };
  const report = matchAt(mouse.whole, text, at) ?? matchAt(byteMouse.whole, text, at);
  if (report !== undefined) return { kind: 'mouse', text: report };
  for (const [kind, form] of forms) {
    const found = matchAt(form, text, at);
    if (found !== undefined) return { kind, text: found };
  }
  return undefined;
};

/** The next part of a paste. A terminal can answer in the middle of it. */
const pasteAt = (text: string, at: number): InputElement | undefined => {
  PASTE_STOP.lastIndex = at;
  const found = PASTE_STOP.exec(text);
  if (found?.index === at) return { kind: found[0] === PASTE_END ? 'paste-end' : 'answer', text: found[0] };
  const rest = text.slice(at, found?.index);
  const held = found ? 0 : (ANSWER_BEGUN.exec(rest)?.[0].length ?? 0);
  const known = held > LONGEST_HELD ? rest : rest.slice(0, rest.length - held);
  return known === '' ? undefined : { kind: 'paste', text: known };
};

const nextElement = (
  text: string,
  at: number,
  inside: InputState['inside'],
  mouse: OldMouse,
): InputElement | undefined => {
  if (inside === 'paste') return pasteAt(text, at);
  const rest = inside === undefined ? undefined : matchAt(REST_OF_STRING, text, at);
  return rest ? { kind: 'answer', text: rest, piece: 'next' } : elementAt(text, at, mouse);
};

const insideAfter = (
  { kind, text, piece }: InputElement,
  before: InputState['inside'],
): InputState['inside'] => {
  if (kind === 'paste-start' || (before === 'paste' && kind !== 'paste-end')) return 'paste';
  return piece === 'next' && !END_OF_STRING.test(text) ? before : undefined;
};

/** The marker at which the next piece of a paste ends or begins. */
const markOf = (inside: InputState['inside']): string => (inside === 'paste' ? PASTE_END : PASTE_START);

/** What goes on from the characters passed on earlier: the end of a marker or an answer. */
const continued = (
  flushed: string,
  text: string,
  inside: InputState['inside'],
): { readonly element: InputElement; readonly inside: InputState['inside'] } | undefined => {
  if (flushed === '') return undefined;
  const whole = flushed + text;
  const mark = markOf(inside);
  if (whole.startsWith(mark)) {
    const rest = mark.slice(flushed.length);
    return inside === 'paste'
      ? { element: { kind: 'paste-end', text: rest }, inside: undefined }
      : { element: { kind: 'paste-start', text: rest }, inside: 'paste' };
  }
  const answer = WHOLE_ANSWER.exec(whole)?.[0];
  const found = answer ?? (inside === undefined ? WHOLE_REPORT.exec(whole)?.[0] : undefined);
  if (found === undefined) return undefined;
  const kind = answer === undefined ? 'mouse' : 'answer';
  return { element: { kind, text: found.slice(flushed.length), passedOn: flushed }, inside };
};

/** May become a marker or an answer. */
const isBegun = (text: string, inside: InputState['inside']): boolean =>
  text.length <= LONGEST_HELD && (markOf(inside).startsWith(text) || ONLY_ANSWER_BEGUN.test(text));

/** Splits the input into elements, however the reads divided it. `hasUtf8Mouse`: mode 1005 is on. */
export const readElements = (
  { held, flushed, inside: before }: InputState,
  chunk: string,
  hasUtf8Mouse = false,
): InputRead => {
  const text = held + chunk;
  if (flushed !== '' && isBegun(flushed + text, before))
    return { elements: [], state: { held: text, flushed, inside: before } };
  const mouse = hasUtf8Mouse ? utf8Mouse : byteMouse;
  const begun = continued(flushed, text, before);
  const elements = begun ? [begun.element] : [];
  let inside = begun ? begun.inside : before;
  let at = begun ? begun.element.text.length : 0;
  while (at < text.length) {
    const element = nextElement(text, at, inside, mouse);
    if (!element) break;
    at += element.text.length;
    inside = insideAfter(element, inside);
    elements.push(element);
  }
  const rest = text.slice(at);
  if (rest.length <= LONGEST_HELD) return { elements, state: { held: rest, flushed: '', inside } };
  const answer = rest.replace(/\x1b$/, '');
  elements.push({ kind: 'answer', text: answer, piece: 'first' });
  return { elements, state: { held: rest.slice(answer.length), flushed: '', inside: 'answer' } };
};

/** Passes on held characters: after a short silence an ESC is the Escape key. */
export const flushElements = ({ held, flushed, inside }: InputState): InputRead => {
  const kind = inside === 'paste' ? 'paste' : isAnswerBegun(held) ? 'answer' : 'key';
  const texts = held === ESC + ESC ? [ESC, ESC] : held === '' ? [] : [held];
  const given = flushed + (texts.at(-1) ?? '');
  const begun = [given, given.slice(given.lastIndexOf(ESC))].find((text) => isBegun(text, inside));
  return {
    elements: texts.map((text) => ({ kind, text })),
    state: {
      held: '',
      flushed: begun ?? '',
      inside: inside === 'paste' ? inside : undefined,
    },
  };
};

/** True if this is the beginning of an answer in a string; no key looks like it. */
export const isAnswerBegun = (held: string): boolean => STRING.test(held);

/** What the beginning of an element that has not ended can be, apart from other keys. */
export interface Begun {
  /** a key by itself, Escape or Alt with a character */
  readonly isKey: boolean;
  /** an answer to CPR, DECXCPR, DA2, DSR or OSC 11 */
  readonly isAnswer: boolean;
  /** a mouse report */
  readonly isMouse: boolean;
}

export const begunBy = (held: string): Begun => ({
  isKey: /^\x1b(?:\x1b?[[O]?|[\]P_])$/.test(held),
  isAnswer: ONLY_ANSWER_BEGUN.test(held.replace(/^\x1b(?=\x1b)/, '')), // behind the Escape key, too
  isMouse: /^\x1b\[(?:<[\d;]*|\d[\d;]*|M[^\x00-\x1f]*)$/.test(held),
});

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
  57417: 'left',
  57418: 'right',
  57419: 'up',
  57420: 'down',
  57421: 'pageup',
  57422: 'pagedown',
  57423: 'home',
  57424: 'end',
};
const byFinal: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
};
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
const SEQUENCE = /^\x1b[[O](\d*)(?::(\d*))?(?::\d*)?(?:;(\d*)(?::(\d*))?(?:;([\d:]*))?)?([A-DFHu~])$/;

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

// Pastes that an agent shows as they are.

/** The largest paste that an agent shows as it is; a larger one becomes a placeholder in its prompt. Each paste counts by itself. */
export interface PasteFolding {
  readonly lines?: number;
  readonly characters: number;
}

const UNFOLDED: PasteFolding = { characters: Infinity };

/** A text as bracketed pastes, one after the other, none of which is folded. It has no control characters but newlines. */
export const pastesOf = (text: string, { lines = Infinity, characters }: PasteFolding = UNFOLDED): string => {
  const pieces = text.split(/(?<=\n)/).flatMap((line) => cut(line, characters));
  const pastes: string[] = [];
  let last = '';
  for (const piece of pieces) {
    const longer = last + piece;
    const isSmall = longer.length <= characters && longer.split('\n').length <= lines;
    if (isSmall) last = longer;
    else {
      pastes.push(last);
      last = piece;
    }
  }
  return [...pastes, last].map((each) => PASTE_START + each + PASTE_END).join('');
};

/** In pieces of at most so many characters, of which none ends within a character. */
const cut = (line: string, characters: number): readonly string[] => {
  if (line.length <= characters) return [line];
  const end = /[\ud800-\udbff]$/.test(line.slice(0, characters)) ? characters - 1 : characters;
  return [line.slice(0, end), ...cut(line.slice(end), characters)];
};
