import {
  CONTROL,
  controlName,
  elementsIn,
  keyOf,
  readElements,
  type InputElement,
  type InputState,
} from '../core/terminal-input.js';
import type { StandIn } from './agent-states.js';

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

/** DECRQDE's answer: the displayed extent in rows and columns. */
const extentReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const match = /^\x1b\[(\d+);(\d+;[\d;]*)"w$/.exec(sequence);
  return match && Number(match[1]) === frame.terminalRows
    ? `\x1b[${frame.childRows};${match[2] ?? ''}"w`
    : undefined;
};

/** DECRQSS's answers that name a number of lines: DECSNLS and DECSLPP. */
const statusReport = (sequence: string, frame: ReportFrame): string | undefined => {
  const [, lines, what = ''] = /^\x1bP1\$r(\d+)(\*\||t)\x1b\\$/.exec(sequence) ?? [];
  if (lines === undefined) return undefined;
  return `\x1bP1$r${Number(lines) - frame.terminalRows + frame.childRows}${what}\x1b\\`;
};

/** A press on the footer is not the child's; a release or a drag that ends there counts for its last row. */
const mouseReport = (
  sequence: string,
  { childRows }: ReportFrame,
  { oldMouse, pixelMouse }: InputContext,
): string | undefined => {
  const numbers = /^\x1b\[(<?)(\d+);(\d+);(\d+)([Mm])$/.exec(sequence); // SGR's form, or urxvt's without the `<`
  if (numbers ? pixelMouse : !oldMouse) return undefined;
  const [, sgr = '', button = '', column = '', row = '', final = ''] = numbers ?? [];
  if ((numbers ? Number(row) : sequence.charCodeAt(5) - 32) <= childRows) return undefined;
  const code = numbers ? Number(button) - (sgr ? 0 : 32) : sequence.charCodeAt(3) - 32;
  const isMotion = (code & 32) !== 0;
  const isRelease = sgr ? final === 'm' : (code & 3) === 3 && (code & 64) === 0;
  if (!isMotion && !isRelease) return '';
  return numbers
    ? `\x1b[${sgr}${button};${column};${childRows}${final}`
    : sequence.slice(0, 5) + String.fromCharCode(childRows + 32);
};

/** The element as the child may read it. */
const forChild = (element: InputElement, context: InputContext): InputElement => {
  const { kind, text } = element;
  const { frame } = context;
  if (!frame) return element;
  const report =
    kind === 'mouse'
      ? mouseReport(text, frame, context)
      : kind === 'answer'
        ? (windowReport(text, frame) ?? extentReport(text, frame) ?? statusReport(text, frame))
        : undefined;
  return report === undefined ? element : { kind, text: report };
};

/** What the user's bytes turned out to be, in their order. */
export type InputPart =
  | { readonly type: 'forward'; readonly element: InputElement }
  | { readonly type: 'hotkey'; readonly element: InputElement }
  /** the answer to a question of ours: parameters and final byte, `12;40R` */
  | { readonly type: 'answer'; readonly text: string };

/** What the reader has to know about the moment. */
export interface InputContext {
  /** its control character */
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

// Answers of the terminal among the user's keys: to questions of ours, and to those of the child's that tell us something.

const STATES = '\x1b]7501;';
const MODIFIED_F3 = /^1;(?:[2-9]|1[0-6])R$/; // Shift-F3 and its like: the cursor in one of these columns of row 1 looks the same
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
  const text = states?.due();
  return text === undefined ? [] : [{ type: 'forward', element: { kind: 'answer', text } }];
};

/**
 * What is held may be the beginning of an answer to CPR or DA2, which a slow line can bring in pieces. `isAwaited`: one must be on its
 * way, so that the first byte is enough.
 */
export const isAnswerHeld = ({ held }: InputState, isAwaited: boolean): boolean =>
  (isAwaited ? /^\x1b(?:\[[>?\d;]*|\])?$/ : /^\x1b\[[>\d;]*$/).test(held);

/** What the hotkey does in an element; a release must not reach the child either. */
const hotkeyIn = (
  { kind, text }: InputElement,
  { hotkey }: InputContext,
): 'press' | 'release' | undefined => {
  if (kind !== 'key' || hotkey === undefined) return undefined;
  const { name, modifiers, isRelease } = keyOf(text);
  if (name !== controlName(hotkey) || modifiers !== CONTROL) return undefined;
  return isRelease ? 'release' : 'press';
};

const partsOf = (element: InputElement, context: InputContext): readonly InputPart[] => {
  const { kind, text } = element;
  const answer = kind === 'answer' ? answerOf(text, context) : undefined;
  if (answer !== undefined) return [{ type: 'answer', text: answer }];
  const pressed = hotkeyIn(element, context);
  if (pressed) return pressed === 'press' ? [{ type: 'hotkey', element }] : [];
  if (kind === 'answer' && text.startsWith(STATES) && context.states?.hear() === false) return [];
  return [{ type: 'forward', element: forChild(element, context) }];
};

const LONGEST_ALONE = 64; // bytes of an answer, or of a hotkey held down

/** Reads what has come from the user, one character for each byte. */
export const readInput = (
  state: InputState,
  text: string,
  context: InputContext,
): { readonly parts: readonly InputPart[]; readonly state: InputState } => {
  let { inside } = state;
  if (inside === 'paste' && text.length <= LONGEST_ALONE) {
    const alone = state.held + text;
    const answer = answerOf(alone, context);
    if (answer !== undefined) {
      const parts = [...dueParts(context), { type: 'answer', text: answer } as const];
      return { parts, state: { ...state, held: '' } }; // and the paste goes on
    }
    // what no paste that is still coming looks like
    const isHotkey = elementsIn(alone).every((element) => hotkeyIn(element, context) === 'press');
    if (context.isQuiet && isHotkey) inside = undefined;
  }
  const read = readElements({ ...state, inside }, text);
  const parts = read.elements.flatMap((element) => {
    const own = partsOf(element, context); // may be the answer after which something is due
    return [...dueParts(context), ...own];
  });
  return { parts, state: read.state };
};
