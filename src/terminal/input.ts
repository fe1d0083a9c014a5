import type { StandIn } from './agent-states.js';

/**
 * The hotkey in the three forms in which terminals send a control key: the control byte, `CSI code ; modifiers u` (kitty keyboard
 * protocol, with its event types) and `CSI 27 ; modifiers ; code ~` (xterm's modifyOtherKeys).
 */

const CONTROL = 4;
const LOCKS = 64 | 128; // caps lock and num lock count as modifiers in the kitty protocol

/** The key that Ctrl turns into this control byte: 0x1d → `]`, 0x07 → `g`. */
const codePointOf = (control: number): number => {
  const upper = control + 0x40;
  return upper >= 0x41 && upper <= 0x5a ? upper + 0x20 : upper;
};

const modifiersOf = (text: string | undefined): number => (Number.parseInt(text ?? '1', 10) - 1) & ~LOCKS;

/** What a complete control sequence from the keyboard says about the hotkey; a release must not reach the child either. */
export type KeyMeaning = 'press' | 'release' | 'other';

const keyMeaning = (sequence: string, hotkey: number): KeyMeaning => {
  const code = codePointOf(hotkey);
  const kitty = /^\x1b\[(\d+)(?::[\d:]*)?;(\d+)(?::(\d+))?(?:;[\d:]*)?u$/.exec(sequence);
  if (kitty) {
    const matches = Number(kitty[1]) === code && modifiersOf(kitty[2]) === CONTROL;
    return !matches ? 'other' : kitty[3] === '3' ? 'release' : 'press';
  }
  const other = /^\x1b\[27;(\d+);(\d+)~$/.exec(sequence);
  return other && Number(other[2]) === code && modifiersOf(other[1]) === CONTROL ? 'press' : 'other';
};

/**
 * Answers and mouse reports of the terminal speak of its own rows; the child must hear of a terminal without the footer row.
 */
export interface ReportFrame {
  /** rows of the real terminal and of the child */
  readonly terminalRows: number;
  readonly childRows: number;
  readonly columns: number;
}

const pixels = (height: number, { terminalRows, childRows }: ReportFrame): number =>
  Math.round((height / terminalRows) * childRows);

const windowReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const [, operation = '', rest = ''] = /^\x1b\[(4|8|48);([\d;]+)t$/.exec(sequence) ?? [];
  const values = rest.split(';').map(Number);
  const [first = 0, ...others] = values;
  // the answer may come before we have seen the new size ourselves: only the difference is sure
  const less = (rows: number): number => Math.max(1, rows - frame.terminalRows + frame.childRows);
  const isSwapped = first === frame.columns && others[0] === frame.terminalRows && first !== others[0]; // tmux 3.3 has columns first
  if (operation === '8' && isSwapped) return `\x1b[8;${first};${less(frame.terminalRows)}t`;
  const rows = less(first);
  if (operation === '8') return `\x1b[8;${[rows, ...others].join(';')}t`;
  if (operation === '4') return `\x1b[4;${[pixels(first, frame), ...others].join(';')}t`;
  if (operation !== '48') return undefined;
  const [columns = 0, height = 0, width = 0] = others; // in-band resize, mode 2048
  return `\x1b[48;${rows};${columns};${pixels(height, frame)};${width}t`;
};

/** A press on the footer is not the child's; a release or a drag that ends there counts for its last row. */
const mouseReport = (sequence: string, { childRows }: ReportFrame): string | undefined => {
  const sgr = /^\x1b\[<(\d+);(\d+);(\d+)([Mm])$/.exec(sequence);
  const urxvt = sgr ? undefined : /^\x1b\[(\d+);(\d+);(\d+)M$/.exec(sequence);
  const [, button = '0', column = '', row = '0', final = 'M'] = sgr ?? urxvt ?? [];
  if ((!sgr && !urxvt) || Number(row) <= childRows) return undefined;
  const code = Number(button) - (urxvt ? 32 : 0);
  const isMotion = (code & 32) !== 0;
  const isRelease = final === 'm' || (urxvt !== undefined && (code & 3) === 3 && (code & 64) === 0);
  if (!isMotion && !isRelease) return '';
  return sgr ? `\x1b[<${button};${column};${childRows}${final}` : `\x1b[${button};${column};${childRows}M`;
};

/** A press in the old form on the footer row is swallowed, a release there counts for the child's last row. */
const oldMouseForChild = (sequence: string, frame: ReportFrame): string | undefined => {
  const row = sequence.charCodeAt(5) - 32;
  const button = sequence.charCodeAt(3) - 32;
  if (row <= frame.childRows) return undefined;
  const passes = (button & 32) !== 0 || (button & 3) === 3;
  return passes ? sequence.slice(0, 5) + String.fromCharCode(frame.childRows + 32) : '';
};

/** `CSI M` and three bytes (X10, xterm ctlseqs). */
const isOldMouse = (sequence: string): boolean => sequence.startsWith('\x1b[M') && sequence.length === 6;

/** DECRQDE's answer: the displayed extent in rows and columns. */
const extentReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const match = /^\x1b\[(\d+);(\d+;[\d;]*)"w$/.exec(sequence);
  return match && Number(match[1]) === frame.terminalRows
    ? `\x1b[${frame.childRows};${match[2] ?? ''}"w`
    : undefined;
};

/** How an answer to DECRQSS begins. */
const STATUS = '\x1bP1$r';

/** DECRQSS's answers that name a number of lines: DECSNLS and DECSLPP. */
const statusReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const [, lines, what = ''] = /^\x1bP1\$r(\d+)(\*\||t)\x1b\\$/.exec(sequence) ?? [];
  if (lines === undefined) return undefined;
  return `${STATUS}${Number(lines) - frame.terminalRows + frame.childRows}${what}\x1b\\`;
};

/** The sequence as the child may read it; '' where it is none of its business; undefined where it stays as it is. */
const reportForChild = (sequence: string, frame: ReportFrame, pixelMouse: boolean): string | undefined => {
  if (sequence.startsWith(STATUS)) return statusReport(sequence, frame);
  const mouse = pixelMouse ? undefined : mouseReport(sequence, frame);
  return mouse ?? windowReport(sequence, frame) ?? extentReport(sequence, frame);
};

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
const mayBeStates = (bytes: Uint8Array): boolean => {
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
const elementAt = (bytes: Buffer, at: number, moment: ElementContext): Element | undefined => {
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

// Answers of the terminal among the user's keys: to questions of ours, and to those of the child's that tell us something.

const LONGEST_ANSWER = 64; // bytes; a hotkey held down is no longer either
const MODIFIED_F3 = /^1;(?:[2-9]|1[0-6])R$/; // Shift-F3 and its like: the cursor in one of these columns of row 1 looks the same

const ALT_KEY = 2; // bytes
const DA1 = /^\x1b\[\?[\d;]*c$/; // the child's, but it tells that the terminal has not answered what was asked before

/** Answers to CPR (`CSI row ; column R`) and DA2 (`CSI > … c`), the two things we ask. */
const answerOf = (sequence: string, context: InputContext): string | undefined => {
  if (context.states?.isAsked() && DA1.test(sequence)) context.isOurs('?c', false);
  const text = /^\x1b\[(\d+;\d+R)$/.exec(sequence)?.[1] ?? /^\x1b\[>([\d;]*c)$/.exec(sequence)?.[1];
  if (text === undefined) return undefined;
  return context.isOurs(text.slice(-1), MODIFIED_F3.test(text)) ? text : undefined;
};

/** What the child has to get before the terminal's next answer: it may wait no longer for the one that it has not got. */
const dueParts = ({ states }: InputContext): readonly InputPart[] => {
  const bytes = states?.due();
  return bytes ? [{ type: 'forward', bytes }] : [];
};

/**
 * What is held may be the beginning of an answer to CPR or DA2, which a slow line can bring in pieces. `isAwaited`: one must be on its
 * way, so that the first byte is enough.
 */
export const isAnswerHeld = ({ open }: InputState, isAwaited: boolean): boolean => {
  if (open.length > ALT_KEY && mayBeStates(open)) return true;
  const text = Buffer.from(open).toString('latin1');
  return isAwaited ? /^\x1b(?:\[[>?\d;]*|\])?$/.test(text) : /^\x1b\[[>\d;]*$/.test(text);
};

// Bracketed paste (mode 2004, xterm ctlseqs): everything between its marks is the child's, also where a slow line cuts a mark in pieces.

const PASTE_START = Buffer.from('\x1b[200~');
const PASTE_END = Buffer.from('\x1b[201~');

export interface PasteState {
  readonly inPaste: boolean;
  /** bytes at the end of what the child has got that begin the paste's start, or inside a paste its end */
  readonly matched: number;
}

/** Bytes that are the child's, whatever they look like, and what holds behind them. */
interface Marked extends PasteState {
  /** offset behind them */
  readonly end: number;
}

/** Looks for the end of a paste behind `matched` bytes of it. */
const readPaste = (bytes: Buffer, matched: number): Marked => {
  let count = matched;
  for (let at = 0; at < bytes.length; at += 1) {
    if (count === 0) at = bytes.indexOf(ESC, at);
    if (at < 0) break;
    count = bytes[at] === PASTE_END[count] ? count + 1 : bytes[at] === ESC ? 1 : 0;
    if (count === PASTE_END.length) return { end: at + 1, inPaste: false, matched: 0 };
  }
  return { end: bytes.length, inPaste: true, matched: count };
};

/** Looks for the rest of a paste's start that came in pieces; `end` is 0 where something else comes. */
const readPasteStart = (bytes: Buffer, matched: number): Marked => {
  const rest = PASTE_START.subarray(matched);
  const end = Math.min(rest.length, bytes.length);
  if (!bytes.subarray(0, end).equals(rest.subarray(0, end))) return { end: 0, inPaste: false, matched: 0 };
  const isWhole = end === rest.length;
  return { end, inPaste: isWhole, matched: isWhole ? 0 : matched + end };
};

/** To be asked inside a paste, and while the child has got the beginning of its start. */
const readMarked = (bytes: Buffer, { inPaste, matched }: PasteState): Marked =>
  inPaste ? readPaste(bytes, matched) : readPasteStart(bytes, matched);

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
