import { keyMeaning } from './hotkey.js';
import { reportForChild, STATUS, type ReportFrame } from './reports.js';

/** What the user's bytes turned out to be, in their order. */
export type InputPart =
  | { readonly type: 'forward'; readonly bytes: Uint8Array }
  | { readonly type: 'hotkey'; readonly bytes: Uint8Array }
  /** the answer to a question of ours: parameters and final byte, `12;40R` */
  | { readonly type: 'answer'; readonly text: string };

/** What the reader has to know about the moment. */
export interface InputContext {
  readonly hotkey: number | undefined;
  /** undefined while there is no footer: every report is the child's as it is */
  readonly frame: ReportFrame | undefined;
  /** whether the next answer with this final byte (`R`, `c`) belongs to a question of ours; takes the question off the list */
  readonly isOurs: (final: string) => boolean;
  /** the child has asked for mouse reports in the old form, `CSI M` and three bytes */
  readonly oldMouse: boolean;
  /** mouse reports are in pixels (mode 1016) */
  readonly pixelMouse: boolean;
}

export interface InputState {
  readonly held: Uint8Array;
  readonly inPaste: boolean;
}

export const startInput: InputState = { held: new Uint8Array(), inPaste: false };

const ESC = 0x1b;
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
const MAX_SEQUENCE = 64; // longer ones are none of ours
const OLD_MOUSE_BYTES = 3;

interface Element {
  readonly end: number;
  /** a complete control sequence, or undefined for plain bytes */
  readonly sequence?: string;
}

/** An answer to DECRQSS; any other string from the terminal stays plain bytes. */
const statusAt = (bytes: Buffer, at: number): Element | undefined => {
  const head = bytes.toString('latin1', at, at + STATUS.length);
  if (!STATUS.startsWith(head)) return { end: at + 1 };
  const end = bytes.indexOf('\x1b\\', at, 'latin1') + 2;
  if (end >= 2 && end - at <= MAX_SEQUENCE) return { end, sequence: bytes.toString('latin1', at, end) };
  return bytes.length - at > MAX_SEQUENCE ? { end: at + 1 } : undefined;
};

/** One element at `at`; undefined when a control sequence is not complete. */
const elementAt = (bytes: Buffer, at: number, context: InputContext): Element | undefined => {
  if (bytes[at] !== ESC) {
    const next = bytes.indexOf(ESC, at);
    return { end: next < 0 ? bytes.length : next };
  }
  if (at + 1 >= bytes.length) return undefined;
  if (bytes[at + 1] === 0x50 && context.frame) return statusAt(bytes, at);
  if (bytes[at + 1] !== 0x5b) return { end: at + 1 };
  for (let end = at + 2; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (end - at > MAX_SEQUENCE || byte < 0x20 || byte > 0x7e) return { end };
    if (byte < 0x40) continue;
    const isOldMouse = byte === 0x4d && end === at + 2 && context.oldMouse;
    const length = end + 1 + (isOldMouse ? OLD_MOUSE_BYTES : 0);
    if (length > bytes.length) return undefined;
    return { end: length, sequence: bytes.toString('latin1', at, length) };
  }
  return bytes.length - at > MAX_SEQUENCE ? { end: bytes.length } : undefined;
};

/** A press in the old form on the footer row is swallowed, a release there counts for the child's last row. */
const oldMouseForChild = (sequence: string, frame: ReportFrame): string | undefined => {
  const row = sequence.charCodeAt(5) - 32;
  const button = sequence.charCodeAt(3) - 32;
  if (row <= frame.childRows) return undefined;
  const passes = (button & 32) !== 0 || (button & 3) === 3;
  return passes ? sequence.slice(0, 5) + String.fromCharCode(frame.childRows + 32) : '';
};

const isOldMouse = (sequence: string): boolean => sequence.startsWith('\x1b[M') && sequence.length === 6;

/** Answers to CPR (`CSI row ; column R`) and DA2 (`CSI > … c`), the two things we ask. */
const answerOf = (sequence: string, context: InputContext): string | undefined => {
  const match = /^\x1b\[>?([\d;]*[Rc])$/.exec(sequence);
  const text = match?.[1];
  return text !== undefined && context.isOurs(text.slice(-1)) ? text : undefined;
};

const partOf = (sequence: string, context: InputContext): InputPart => {
  const bytes = Buffer.from(sequence, 'latin1');
  const answer = answerOf(sequence, context);
  if (answer !== undefined) return { type: 'answer', text: answer };
  if (context.hotkey !== undefined) {
    const meaning = keyMeaning(sequence, context.hotkey);
    if (meaning === 'press') return { type: 'hotkey', bytes };
    if (meaning === 'release') return { type: 'forward', bytes: Buffer.alloc(0) };
  }
  if (!context.frame) return { type: 'forward', bytes };
  const { frame, pixelMouse } = context;
  const instead = isOldMouse(sequence)
    ? oldMouseForChild(sequence, frame)
    : reportForChild(sequence, frame, pixelMouse);
  return { type: 'forward', bytes: instead === undefined ? bytes : Buffer.from(instead, 'latin1') };
};

/** Plain bytes between sequences, with the hotkey's control byte taken out. */
const plainParts = (bytes: Buffer, hotkey: number | undefined): InputPart[] => {
  const parts: InputPart[] = [];
  let from = 0;
  for (
    let at = hotkey === undefined ? -1 : bytes.indexOf(hotkey);
    at >= 0;
    at = bytes.indexOf(hotkey ?? 0, from)
  ) {
    if (at > from) parts.push({ type: 'forward', bytes: bytes.subarray(from, at) });
    parts.push({ type: 'hotkey', bytes: bytes.subarray(at, at + 1) });
    from = at + 1;
  }
  if (from < bytes.length) parts.push({ type: 'forward', bytes: bytes.subarray(from) });
  return parts;
};

/** Everything up to the end of the paste goes to the child, whatever it looks like. */
const pasteEnd = (bytes: Buffer, from: number): number => {
  const end = bytes.indexOf(PASTE_END, from, 'latin1');
  return end < 0 ? -1 : end + PASTE_END.length;
};

/** Bytes at the end that could be the beginning of the paste's end. */
const openEnd = (bytes: Buffer): number => {
  for (let length = Math.min(PASTE_END.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.toString('latin1', bytes.length - length) === PASTE_END.slice(0, length)) return length;
  }
  return 0;
};

/** Reads a chunk of the user's bytes. */
export const readInput = (
  state: InputState,
  chunk: Uint8Array,
  context: InputContext,
): { readonly parts: readonly InputPart[]; readonly state: InputState } => {
  const bytes = Buffer.concat([state.held, chunk]);
  const parts: InputPart[] = [];
  let { inPaste } = state;
  let at = 0;
  while (at < bytes.length) {
    if (inPaste) {
      const end = pasteEnd(bytes, at);
      const stop = end < 0 ? bytes.length - openEnd(bytes.subarray(at)) : end;
      if (stop > at) parts.push({ type: 'forward', bytes: bytes.subarray(at, stop) });
      at = stop;
      inPaste = end < 0;
      if (inPaste) break;
      continue;
    }
    const element = elementAt(bytes, at, context);
    if (!element) break;
    if (element.sequence === undefined)
      parts.push(...plainParts(bytes.subarray(at, element.end), context.hotkey));
    else parts.push(partOf(element.sequence, context));
    inPaste = element.sequence === PASTE_START;
    at = element.end;
  }
  return { parts, state: { held: bytes.subarray(at), inPaste } };
};

/** What was held in the hope of more: after a short silence it is a key by itself. */
export const flushInput = (
  state: InputState,
): { readonly bytes: Uint8Array; readonly state: InputState } => ({
  bytes: state.held,
  state: { held: new Uint8Array(), inPaste: state.inPaste },
});
