import { keyMeaning } from './hotkey.js';
import { answerOf, dueParts, LONGEST_ANSWER } from './input-answers.js';
import { elementAt, type Element, type ElementContext } from './input-element.js';
import { readMarked, PASTE_START, type PasteState } from './paste.js';
import type { StandIn } from './stand-in.js';
import { isOldMouse, oldMouseForChild, reportForChild, type ReportFrame } from './reports.js';

/** What the user's bytes turned out to be, in their order. */
export type InputPart =
  /** for the child, in one write */
  | { readonly type: 'forward'; readonly bytes: Uint8Array }
  | { readonly type: 'hotkey'; readonly bytes: Uint8Array }
  /** the answer to a question of ours: parameters and final byte, `12;40R` */
  | { readonly type: 'answer'; readonly text: string };

/** What the reader has to know about the moment. */
export interface InputContext {
  readonly hotkey: number | undefined;
  /** undefined while there is no footer: every report is the child's as it is */
  readonly frame: ReportFrame | undefined;
  /**
   * whether the next answer with this final byte (`R`, `c`) belongs to a question of ours; takes the question off the list.
   * `couldBeKey`: a key writes the same bytes
   */
  readonly isOurs: (final: string, couldBeKey: boolean) => boolean;
  /** where we answer the child's question about agent states; undefined where nobody does */
  readonly states?: Pick<StandIn, 'isAsked' | 'hear' | 'due'> | undefined;
  /** the child has asked for mouse reports in the old form, `CSI M` and three bytes */
  readonly oldMouse: boolean;
  /** mouse reports are in pixels (mode 1016) */
  readonly pixelMouse: boolean;
  /** nothing has come for so long that a paste without an end may be over */
  readonly isQuiet: boolean;
}

export interface InputState extends PasteState {
  /** for the child, but held with what comes behind it: what one read of the terminal brings is one write */
  readonly ready: readonly Uint8Array[];
  /** the beginning of a sequence */
  readonly open: Uint8Array;
}

const nothing = new Uint8Array();
export const startInput: InputState = { ready: [], open: nothing, inPaste: false, matched: 0 };

/** Bytes wait for more, or for `flushInput`. */
export const isHeld = ({ ready, open }: InputState): boolean => ready.length > 0 || open.length > 0;

const ESC = 0x1b;

const partOf = (sequence: string, isAlt: boolean, context: InputContext): InputPart => {
  const bytes = Buffer.from(sequence, 'latin1');
  const answer = answerOf(sequence, context);
  if (answer !== undefined) return { type: 'answer', text: answer };
  if (context.hotkey !== undefined && !isAlt) {
    const meaning = keyMeaning(sequence, context.hotkey);
    if (meaning === 'press') return { type: 'hotkey', bytes };
    if (meaning === 'release') return { type: 'forward', bytes: nothing };
  }
  if (!context.frame) return { type: 'forward', bytes };
  const { frame, pixelMouse } = context;
  const instead = isOldMouse(sequence)
    ? oldMouseForChild(sequence, frame)
    : reportForChild(sequence, frame, pixelMouse);
  return { type: 'forward', bytes: instead === undefined ? bytes : Buffer.from(instead, 'latin1') };
};

/** Plain bytes between sequences, with the hotkey's control byte taken out. Behind an ESC it is another key: with Alt. */
const plainParts = (bytes: Buffer, isAlt: boolean, hotkey: number | undefined): readonly InputPart[] => {
  if (hotkey === undefined) return [{ type: 'forward', bytes }];
  const parts: InputPart[] = [];
  let from = 0;
  for (let at = bytes.indexOf(hotkey, isAlt ? 1 : 0); at >= 0; at = bytes.indexOf(hotkey, from)) {
    parts.push({ type: 'forward', bytes: bytes.subarray(from, at) });
    parts.push({ type: 'hotkey', bytes: bytes.subarray(at, at + 1) });
    from = at + 1;
  }
  parts.push({ type: 'forward', bytes: bytes.subarray(from) });
  return parts;
};

/** Puts together what is for the child without a hotkey or an answer between. */
const collectParts = (ready: readonly Uint8Array[]) => {
  const parts: InputPart[] = [];
  let forward = [...ready];
  const join = (): void => {
    const whole = forward.filter(({ length }) => length > 0);
    const [first] = whole;
    if (first) parts.push({ type: 'forward', bytes: whole.length === 1 ? first : Buffer.concat(whole) });
    forward = [];
  };
  return {
    add: (part: InputPart): void => {
      if (part.type === 'forward') return void forward.push(part.bytes);
      join();
      parts.push(part);
    },
    /** takes what could still go on */
    open: (): readonly Uint8Array[] => forward.splice(0),
    parts: (): readonly InputPart[] => {
      join();
      return parts;
    },
  };
};

/** Whether the bytes are the hotkey, once or more, and nothing else: what no paste that is still coming looks like. */
const isHotkeyAlone = (bytes: Buffer, { hotkey }: InputContext): boolean =>
  hotkey !== undefined &&
  (bytes.every((byte) => byte === hotkey) || keyMeaning(bytes.toString('latin1'), hotkey) === 'press');

const partsOf = (
  bytes: Buffer,
  { kind }: Element,
  isAlt: boolean,
  context: InputContext,
): readonly InputPart[] => {
  if (kind === 'plain') return plainParts(bytes, isAlt, context.hotkey);
  if (kind === 'states' && context.states?.hear() === false) return [];
  if (kind === 'string' || kind === 'states') return [{ type: 'forward', bytes }];
  return [partOf(bytes.toString('latin1'), isAlt, context)];
};

const momentOf = ({ frame, oldMouse, states }: InputContext): ElementContext => ({
  hasFrame: frame !== undefined,
  oldMouse,
  hasStates: states !== undefined,
});

/** Reads a chunk of the user's bytes. What is for the child comes in one part, unless the hotkey or an answer to us lies between. */
export const readInput = (
  state: InputState,
  chunk: Uint8Array,
  context: InputContext,
): { readonly parts: readonly InputPart[]; readonly state: InputState } => {
  const bytes = Buffer.concat([state.open, chunk]);
  const collected = collectParts(state.ready);
  let { inPaste, matched } = state;
  if (inPaste && bytes.length <= LONGEST_ANSWER) {
    const answer = answerOf(bytes.toString('latin1'), context); // and the paste goes on
    if (answer !== undefined)
      return { parts: [...dueParts(context), { type: 'answer', text: answer }], state };
    if (context.isQuiet && isHotkeyAlone(bytes, context)) [inPaste, matched] = [false, 0];
  }
  const moment = momentOf(context);
  let escape: Uint8Array | undefined; // an ESC that waits for what it goes with: no write ends in one that went on
  let at = 0;
  while (at < bytes.length) {
    if (inPaste || matched > 0) {
      const marked = readMarked(bytes.subarray(at), { inPaste, matched });
      collected.add({ type: 'forward', bytes: bytes.subarray(at, at + marked.end) });
      at += marked.end;
      ({ inPaste, matched } = marked);
      continue;
    }
    const element = elementAt(bytes, at, moment);
    if (!element) break;
    const own = bytes.subarray(at, element.end);
    at = element.end;
    if (own.length === 1 && own[0] === ESC) {
      if (escape) collected.add({ type: 'forward', bytes: escape });
      escape = own;
      continue;
    }
    const parts = partsOf(own, element, escape !== undefined, context);
    for (const part of [...dueParts(context), ...parts]) {
      const isForChild = part.type === 'forward' && part.bytes.length > 0;
      if (isForChild && escape) collected.add({ type: 'forward', bytes: escape });
      if (isForChild) escape = undefined;
      collected.add(part);
    }
    inPaste = own.equals(PASTE_START);
  }
  const open = escape ? Buffer.concat([escape, bytes.subarray(at)]) : bytes.subarray(at);
  // held as a whole, but not twice: keys that come without a pause must not wait for ever
  const isKept = open.length > 0 && !isHeld(state);
  const ready = isKept ? collected.open() : [];
  return { parts: collected.parts(), state: { ready, open, inPaste, matched } };
};

/** What was held in the hope of more: after a short silence it is a key by itself. */
export const flushInput = (state: InputState): { readonly bytes: Uint8Array; readonly state: InputState } => {
  const isStart = state.open.length > 0 && PASTE_START.subarray(0, state.open.length).equals(state.open);
  return {
    bytes: Buffer.concat([...state.ready, state.open]),
    state: { ...startInput, inPaste: state.inPaste, matched: isStart ? state.open.length : state.matched },
  };
};
