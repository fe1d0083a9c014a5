import {
  CONTROL,
  controlName,
  splitElements,
  parseKey,
  readElements,
  type InputElement,
  type InputState,
} from '../core/terminal-input.js';
import type { AgentStateProxy } from './agent-state-proxy.js';

// Splits the bytes from the user's terminal: the hotkey and answers to the wrapper's queries stay here, all else goes to the child.

/** Answers and mouse reports of the terminal count all rows; the child must see a terminal without the footer row. */
export interface ScreenGeometry {
  /** rows of the real terminal and of the child */
  readonly terminalRows: number;
  readonly childRows: number;
  readonly columns: number;
}

const pixels = (height: number, { terminalRows, childRows }: ScreenGeometry): number =>
  Math.round((height / terminalRows) * childRows);

const windowReport = (sequence: string, geometry: ScreenGeometry): string | undefined => {
  const [, operation = '', rest = ''] = /^\x1b\[(4|8|48);([\d;]+)t$/.exec(sequence) ?? [];
  const values = rest.split(';').map(Number);
  const [first = 0, ...others] = values;
  // the answer may come before the wrapper knows the new size: only the difference is certain
  const less = (rows: number): number => Math.max(1, rows - geometry.terminalRows + geometry.childRows);
  const isSwapped = first === geometry.columns && others[0] === geometry.terminalRows && first !== others[0]; // tmux 3.3 has columns first
  if (operation === '8' && isSwapped) return `\x1b[8;${first};${less(geometry.terminalRows)}t`;
  const rows = less(first);
  if (operation === '8') return `\x1b[8;${[rows, ...others].join(';')}t`;
  if (operation === '4') return `\x1b[4;${[pixels(first, geometry), ...others].join(';')}t`;
  if (operation !== '48') return undefined;
  const [columns = 0, height = 0, width = 0] = others; // in-band resize, mode 2048
  return `\x1b[48;${rows};${columns};${pixels(height, geometry)};${width}t`;
};

/** DECRQDE's answer: the displayed extent in rows and columns. */
const extentReport = (sequence: string, geometry: ScreenGeometry): string | undefined => {
  const match = /^\x1b\[(\d+);(\d+;[\d;]*)"w$/.exec(sequence);
  return match && Number(match[1]) === geometry.terminalRows
    ? `\x1b[${geometry.childRows};${match[2] ?? ''}"w`
    : undefined;
};

/** DECRQSS's answers that name a number of lines: DECSNLS and DECSLPP. */
const statusReport = (sequence: string, geometry: ScreenGeometry): string | undefined => {
  const [, lines, what = ''] = /^\x1bP1\$r(\d+)(\*\||t)\x1b\\$/.exec(sequence) ?? [];
  if (lines === undefined) return undefined;
  return `\x1bP1$r${Number(lines) - geometry.terminalRows + geometry.childRows}${what}\x1b\\`;
};

/** Drops a press on the footer; a release or drag that ends there is reported in the child's last row. */
const mouseReport = (
  sequence: string,
  { childRows }: ScreenGeometry,
  { hasOldMouse, hasPixelMouse }: InputContext,
): string | undefined => {
  const numbers = /^\x1b\[(<?)(\d+);(\d+);(\d+)([Mm])$/.exec(sequence); // SGR's form, or urxvt's without the `<`
  if (numbers ? hasPixelMouse : !hasOldMouse) return undefined;
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

/** Translates rows in a report to those of the child's screen. */
const translateForChild = (element: InputElement, context: InputContext): InputElement => {
  const { kind, text } = element;
  const { geometry } = context;
  if (!geometry) return element;
  const report =
    kind === 'mouse'
      ? mouseReport(text, geometry, context)
      : kind === 'answer'
        ? (windowReport(text, geometry) ?? extentReport(text, geometry) ?? statusReport(text, geometry))
        : undefined;
  return report === undefined ? element : { kind, text: report };
};

/** A part of the input, classified, in input order. */
export type InputPart =
  | { readonly type: 'forward'; readonly element: InputElement }
  | { readonly type: 'hotkey'; readonly element: InputElement }
  /** the answer to a query of the wrapper: parameters and final byte, `12;40R`, or a colour, `rgb:ffff/ffff/ffff` */
  | { readonly type: 'answer'; readonly text: string };

/** State of the session that decides how input is read. */
export interface InputContext {
  /** control character of the hotkey; undefined if it is off */
  readonly hotkey: number | undefined;
  /** undefined while there is no footer: reports pass unchanged */
  readonly geometry: ScreenGeometry | undefined;
  /**
   * true if the next answer with this final byte (`R`, `c`) or code (`11`) belongs to a query of the wrapper; removes the query from the queue.
   * `couldBeKey`: a key sends the same bytes
   */
  readonly takeIfOwn: (final: string, couldBeKey: boolean) => boolean;
  /** answers the child's query for agent states; undefined if the wrapper does not */
  readonly stateProxy?: Pick<AgentStateProxy, 'isAsked' | 'takeAnswer' | 'takeDueAnswer'> | undefined;
  /** the child has asked for mouse reports in the old form, `CSI M` and three bytes */
  readonly hasOldMouse: boolean;
  /** mouse reports are in pixels (mode 1016) */
  readonly hasPixelMouse: boolean;
  /** no input for so long that a paste without an end marker may be over */
  readonly isQuiet: boolean;
}

// Answers of the terminal among the user's keys: to the wrapper's queries, and to queries of the child that the wrapper needs.

const STATES = '\x1b]7501;';
const MODIFIED_F3 = /^1;(?:[2-9]|1[0-6])R$/; // F3 with modifiers; a CPR report for row 1 and one of these columns has the same bytes
const DA1 = /^\x1b\[\?[\d;]*c$/; // the answer goes to the child, but shows that the terminal did not answer the queries before it

/** Code of the query for the background colour (OSC 11), and of its answer in the queue of queries. */
export const BACKGROUND_CODE = '11';

const BACKGROUND = /^\x1b\]11;([\x20-\x7e]*)/;

/** Answers to OSC 11 (`OSC 11 ; rgb:ffff/ffff/ffff`), CPR (`CSI row ; column R`) and DA2 (`CSI > … c`), the queries of the wrapper. */
const answerOf = (sequence: string, context: InputContext): string | undefined => {
  if (context.stateProxy?.isAsked() && DA1.test(sequence)) context.takeIfOwn('?c', false);
  const color = BACKGROUND.exec(sequence)?.[1];
  if (color !== undefined) return context.takeIfOwn(BACKGROUND_CODE, false) ? color : undefined;
  const text = /^\x1b\[(\d+;\d+R)$/.exec(sequence)?.[1] ?? /^\x1b\[>([\d;]*c)$/.exec(sequence)?.[1];
  if (text === undefined) return undefined;
  return context.takeIfOwn(text.slice(-1), MODIFIED_F3.test(text)) ? text : undefined;
};

/** The wrapper's own answer for the child, if it is due before the terminal's next answer. */
const dueAnswers = ({ stateProxy }: InputContext): readonly InputPart[] => {
  const text = stateProxy?.takeDueAnswer();
  return text === undefined ? [] : [{ type: 'forward', element: { kind: 'answer', text } }];
};

/**
 * True if the held bytes may be the start of an answer to CPR or DA2, which a slow line can deliver in pieces.
 * `isOwnAnswerExpected`: one must be on its way, so the first byte is enough.
 */
export const isHoldingAnswer = ({ held }: InputState, isOwnAnswerExpected: boolean): boolean =>
  (isOwnAnswerExpected ? /^\x1b(?:\[[>?\d;]*|\])?$/ : /^\x1b\[[>\d;]*$/).test(held);

/** Ctrl-5 sends the same character where terminals send characters, and can be typed on keyboards without a key for `]` (DEC VT220). */
const CONTROL_BRACKET = 0x1d;

/** Whether the element presses or releases the hotkey; a release must not reach the child either. */
const hotkeyAction = (
  { kind, text }: InputElement,
  { hotkey }: InputContext,
): 'press' | 'release' | undefined => {
  if (kind !== 'key' || hotkey === undefined) return undefined;
  const { name, modifiers, isRelease } = parseKey(text);
  const isHotkey = name === controlName(hotkey) || (hotkey === CONTROL_BRACKET && name === '5');
  if (!isHotkey || modifiers !== CONTROL) return undefined;
  return isRelease ? 'release' : 'press';
};

const classify = (element: InputElement, context: InputContext): readonly InputPart[] => {
  const { kind, text } = element;
  const answer = kind === 'answer' ? answerOf(text, context) : undefined;
  if (answer !== undefined) return [{ type: 'answer', text: answer }];
  const pressed = hotkeyAction(element, context);
  if (pressed) return pressed === 'press' ? [{ type: 'hotkey', element }] : [];
  if (kind === 'answer' && text.startsWith(STATES) && context.stateProxy?.takeAnswer() === false) return [];
  return [{ type: 'forward', element: translateForChild(element, context) }];
};

const MAX_SINGLE_BYTES = 64; // bytes of a single answer, or of a hotkey held down

/** Reads input from the user's terminal, one character per byte. */
export const readInput = (
  state: InputState,
  text: string,
  context: InputContext,
): { readonly parts: readonly InputPart[]; readonly state: InputState } => {
  let { inside } = state;
  if (inside === 'paste' && text.length <= MAX_SINGLE_BYTES) {
    const alone = state.held + text;
    const answer = answerOf(alone, context);
    if (answer !== undefined) {
      const parts = [...dueAnswers(context), { type: 'answer', text: answer } as const];
      return { parts, state: { ...state, held: '' } }; // the paste continues
    }
    // only hotkey presses after a silence: the paste is over
    const isHotkey = splitElements(alone).every((element) => hotkeyAction(element, context) === 'press');
    if (context.isQuiet && isHotkey) inside = undefined;
  }
  const read = readElements({ ...state, inside }, text);
  const parts = read.elements.flatMap((element) => {
    const own = classify(element, context); // may be the answer that makes the wrapper's own answer due, so it comes first
    return [...dueAnswers(context), ...own];
  });
  return { parts, state: read.state };
};
