import { STATUS } from './reports.js';

const ESC = 0x1b;
const BEL = 0x07;
const MAX_SEQUENCE = 64; // longer ones are none of ours
const OLD_MOUSE_BYTES = 3;

/** What an element of the input means depends on what the child has asked for. */
export interface ElementContext {
  /** there is a footer, so that the terminal's reports of its size have to be changed */
  readonly hasFrame: boolean;
  /** the child has asked for mouse reports in the old form, `CSI M` and three bytes */
  readonly oldMouse: boolean;
  /** answers about agent states (OSC 7501) are looked for */
  readonly hasStates: boolean;
}

/** What stands at an offset of the input. */
export interface Element {
  /** offset behind it */
  readonly end: number;
  /** `string`: of the terminal, and no key whatever it holds; `states`: one of those, about agent states */
  readonly kind: 'plain' | 'string' | 'states' | 'sequence';
}

/** Offset behind the string at `at`, where its end is here: BEL or ST (xterm ctlseqs). */
const endOfString = (bytes: Buffer, at: number): number | undefined => {
  for (let end = at + 2; end < bytes.length; end += 1) {
    if (bytes[end] === BEL) return end + 1;
    if (bytes[end] === ESC) return bytes[end + 1] === 0x5c ? end + 2 : undefined;
  }
  return undefined;
};

/** What a terminal says in a string is told from Alt with a key by how it goes on. */
const isAnswerString = (bytes: Buffer, at: number): boolean =>
  /^\x1b(?:\][\dlL]|P[\d>!]|_G)/.test(bytes.toString('latin1', at, at + 3));

const STATES = '\x1b]7501;';

/** The beginning of an answer about agent states, or all of it. Two bytes of it are Alt and `]` as well. */
export const mayBeStates = (bytes: Uint8Array): boolean => {
  const head = Buffer.from(bytes).toString('latin1', 0, STATES.length);
  return head.length > 1 && STATES.startsWith(head) && bytes.length <= MAX_SEQUENCE;
};

/** `ESC` and what is no `[`: a string of the terminal, or a key with Alt. An answer is waited for where we have something to do with it. */
const escapeAt = (bytes: Buffer, at: number, moment: ElementContext): Element | undefined => {
  const head = bytes.toString('latin1', at, at + STATUS.length);
  const end = endOfString(bytes, at);
  if (moment.hasFrame && head.length > 1 && STATUS.startsWith(head)) {
    if (end !== undefined && end - at <= MAX_SEQUENCE) return { end, kind: 'sequence' };
    return bytes.length - at > MAX_SEQUENCE ? { end: at + 1, kind: 'plain' } : undefined;
  }
  const isStates = moment.hasStates && mayBeStates(bytes.subarray(at, end));
  if (isStates) return end === undefined ? undefined : { end, kind: 'states' };
  return end !== undefined && isAnswerString(bytes, at)
    ? { end, kind: 'string' }
    : { end: at + 1, kind: 'plain' };
};

/** One element at `at`; undefined when a control sequence is not complete. */
export const elementAt = (bytes: Buffer, at: number, moment: ElementContext): Element | undefined => {
  if (bytes[at] !== ESC) {
    const next = bytes.indexOf(ESC, at);
    return { end: next < 0 ? bytes.length : next, kind: 'plain' };
  }
  if (at + 1 >= bytes.length) return undefined;
  if (bytes[at + 1] !== 0x5b) return escapeAt(bytes, at, moment);
  for (let end = at + 2; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (end - at > MAX_SEQUENCE || byte < 0x20 || byte > 0x7e) return { end, kind: 'plain' };
    if (byte < 0x40) continue;
    const isOldMouse = byte === 0x4d && end === at + 2 && moment.oldMouse;
    const length = end + 1 + (isOldMouse ? OLD_MOUSE_BYTES : 0);
    return length > bytes.length ? undefined : { end: length, kind: 'sequence' };
  }
  return bytes.length - at > MAX_SEQUENCE ? { end: bytes.length, kind: 'plain' } : undefined;
};
