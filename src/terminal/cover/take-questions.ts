import { endOfString, stringStart } from '../filter/strings.js';

/** What a program can ask of its terminal, as far as the answer does not hang on what is on the screen. */
export interface TerminalQuestion {
  readonly kind: 'cursor' | 'mode' | 'status' | 'keyboard' | 'other';
  /** as it was asked */
  readonly text: string;
}

export interface QuestionState {
  /** the beginning of an element whose end has not come */
  readonly held: Uint8Array;
  /** inside a string that is too long for a question */
  readonly isInString: boolean;
}

export const noQuestions: QuestionState = { held: new Uint8Array(), isInString: false };

export interface TakenQuestions {
  readonly kept: readonly Uint8Array[];
  readonly questions: readonly TerminalQuestion[];
  readonly state: QuestionState;
}

const ENQ = 0x05;
const ESC = 0x1b;
const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const MAX_QUESTION = 4096; // bytes; XTGETTCAP and palettes are the long ones

interface Element {
  readonly end: number;
  readonly question?: TerminalQuestion['kind'];
}

// Parameters, then intermediates and final: xterm ctlseqs, kitty's keyboard protocol. Reports of the screen's contents are not among them.
const controlQuestions: readonly (readonly [RegExp, TerminalQuestion['kind']])[] = [
  [/^\??6n$/, 'cursor'],
  [/^\??\d+\$p$/, 'mode'],
  [/^\?u$/, 'keyboard'],
  [
    /^[>=]?0*c$|^5n$|^\?\d+(?:;\d+)*n$|^>0*q$|^[01]?x$|^\?\d+m$|^\?\d+;[14](?:;\d*)*S$|^&u$|^"v$|^#R$/,
    'other',
  ],
  [/^(?:1[1345689]|2[01])(?:;\d*)*t$/, 'other'],
];

const stringKind = (introducer: number, text: string): TerminalQuestion['kind'] | undefined => {
  if (introducer === 0x50)
    return text.startsWith('$q') ? 'status' : text.startsWith('+q') ? 'other' : undefined;
  if (introducer === 0x5f) return /^G(?:[^;]*,)?a=q/.test(text) ? 'other' : undefined;
  if (introducer !== 0x5d) return undefined;
  return /^(?:4|5|1\d|21|52|7501);(?:.*[;=])?\?(?:$|;)/.test(text) ? 'other' : undefined;
};

const textOf = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');

const controlAt = (bytes: Uint8Array, first: number): Element | undefined => {
  for (let at = first; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return { end: at };
    if (byte < 0x40) continue;
    const text = textOf(bytes, first, at + 1);
    const question = controlQuestions.find(([pattern]) => pattern.test(text))?.[1];
    return question ? { end: at + 1, question } : { end: at + 1 };
  }
  return undefined;
};

/** Offset behind the string's terminator. */
const behindString = (bytes: Uint8Array, end: number): number | undefined => {
  if (bytes[end] === C1_LEAD) return end + 2;
  if (bytes[end] !== ESC) return end + 1;
  if (end + 1 >= bytes.length) return undefined;
  return bytes[end + 1] === 0x5c ? end + 2 : end;
};

const stringAt = (bytes: Uint8Array, first: number, introducer: number): Element | undefined => {
  const end = endOfString(bytes, first, introducer === 0x5d ? 'command' : 'other');
  const behind = end < 0 ? undefined : behindString(bytes, end);
  if (behind === undefined) return undefined;
  const isWhole = behind > end && bytes[end] !== 0x18 && bytes[end] !== 0x1a;
  const question = isWhole ? stringKind(introducer, textOf(bytes, first, end)) : undefined;
  return question ? { end: behind, question } : { end: behind };
};

/** The element that begins with ESC, a C1 control or ENQ; undefined while its end has not come. */
const elementAt = (bytes: Uint8Array, start: number): Element | undefined => {
  if (bytes[start] === ENQ) return { end: start + 1, question: 'other' };
  const second = bytes[start + 1];
  if (second === undefined) return undefined;
  const isC1 = bytes[start] === C1_LEAD;
  if (isC1 && second >= 0xa0) return { end: start + 2 };
  const introducer = isC1 ? second - 0x40 : second;
  if (introducer === 0x5b) return controlAt(bytes, start + 2);
  if (introducer === 0x5a) return { end: start + 2, question: 'other' };
  return stringStart(introducer, false)
    ? stringAt(bytes, start + 2, introducer)
    : { end: start + (isC1 ? 2 : 1) };
};

const nextStart = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === ESC || byte === C1_LEAD || byte === ENQ) return at;
  }
  return bytes.length;
};

const endOfLong = (bytes: Uint8Array): number => {
  const end = endOfString(bytes, 0, 'command');
  return end < 0 ? bytes.length : (behindString(bytes, end) ?? end);
};

/** Takes the questions out of the child's output; it must begin between two elements. */
export const takeQuestions = (state: QuestionState, chunk: Uint8Array): TakenQuestions => {
  const bytes = state.held.length > 0 ? Buffer.concat([state.held, chunk]) : chunk;
  const kept: Uint8Array[] = [];
  const questions: TerminalQuestion[] = [];
  const inside = state.isInString ? endOfLong(bytes) : 0;
  if (state.isInString && inside === bytes.length)
    return { kept: [bytes], questions, state: { held: noQuestions.held, isInString: true } };
  let from = 0;
  let at = nextStart(bytes, inside);
  while (at < bytes.length) {
    const element = elementAt(bytes, at);
    if (!element) break;
    if (element.question) {
      if (at > from) kept.push(bytes.subarray(from, at));
      questions.push({ kind: element.question, text: textOf(bytes, at, element.end) });
      from = element.end;
    }
    at = nextStart(bytes, Math.max(element.end, at + 1));
  }
  const isLong = bytes.length - at > MAX_QUESTION;
  const stop = isLong ? bytes.length : at;
  if (stop > from) kept.push(bytes.subarray(from, stop));
  return { kept, questions, state: { held: bytes.slice(stop), isInString: isLong } };
};
