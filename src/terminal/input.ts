import {
  CONTROL,
  controlName,
  splitElements,
  parseKey,
  readElements,
  type InputElement,
  type InputState,
} from '../core/terminal-input.js';
import { ESCAPE } from '../core/format.js';
import type { AgentStateProxy } from './agent-state-proxy.js';
import type { AnswerHandler, QueryKind, QueryQueue } from './query-queue.js';
import { type MouseReports, type ScreenGeometry, translateForChild } from './reports.js';

// Splits the bytes from the user's terminal: the hotkey and answers to the wrapper's queries stay here, all else goes to the child.

/** A part of the input, classified, in input order. */
export type InputPart =
  | { readonly type: 'forward'; readonly element: InputElement }
  | { readonly type: 'hotkey'; readonly element: InputElement }
  /** the answer to a query of the wrapper: parameters and final byte, `12;40R`, or a colour, `rgb:ffff/ffff/ffff` */
  | { readonly type: 'answer'; readonly text: string; readonly accept: AnswerHandler };

/** State of the session that decides how input is read. */
export interface InputContext {
  /** control character of the hotkey; undefined if it is off */
  readonly hotkey: number | undefined;
  /** undefined while there is no footer: reports pass unchanged, but for the rest of a click that began on it */
  readonly geometry: ScreenGeometry | undefined;
  /** tell whose an answer is */
  readonly queries: Pick<QueryQueue, 'takeAnswer' | 'takePasted' | 'noteLookalike' | 'hasOpenOwnQuery'>;
  /** answers the child's query for agent states; undefined if the wrapper does not */
  readonly stateProxy?: Pick<AgentStateProxy, 'isAsked' | 'takeAnswer' | 'takeDueAnswer'> | undefined;
  /** undefined while the mouse is the overview's: reports pass unchanged */
  readonly mouse: MouseReports | undefined;
  /** no input for so long that a paste without an end marker may be over */
  readonly isQuiet: boolean;
}

// Answers of the terminal among the user's keys: to the wrapper's queries, and to queries of the child that the wrapper needs.

const STATES = '\x1b]7501;';

const answers: readonly (readonly [QueryKind, RegExp])[] = [
  ['extended cursor', /^\x1b\[\?(\d+;\d+(?:;\d+)?R)$/],
  ['cursor', /^\x1b\[(\d+;\d+R)$/],
  ['status', /^\x1b\[(\d+n)$/],
  ['primary attributes', /^\x1b\[\?([\d;]*c)$/],
  ['secondary attributes', /^\x1b\[>([\d;]*c)$/],
  ['text area', /^\x1b\[(4;\d+;\d+t)$/],
  ['background', /^\x1b\]11;([\x20-\x7e]*)/],
];

/** The column of each plain cursor report for the wrapper that names row 1. */
export const MARK_COLUMN = 17;
/** F3 with modifiers, or a cursor report for the child; the wrapper's name another row, or the column of the mark. */
const MODIFIED_F3 = new RegExp(`^1;(?!${MARK_COLUMN}R)`);

interface OwnAnswer {
  readonly text: string;
  readonly accept: AnswerHandler;
}

/** The answer, if it is for the wrapper; `isPasted`: it is in the middle of a paste. */
const ownAnswer = (sequence: string, { queries }: InputContext, isPasted: boolean): OwnAnswer | undefined => {
  for (const [kind, form] of answers) {
    const text = form.exec(sequence)?.[1];
    if (text === undefined) continue;
    if (kind === 'cursor' && MODIFIED_F3.test(text)) return void queries.noteLookalike(kind);
    const accept = isPasted ? queries.takePasted(kind) : queries.takeAnswer(kind);
    return accept && { text, accept };
  }
  return undefined;
};

/** The wrapper's own answer for the child, if it is due before the terminal's next answer. */
const dueAnswers = ({ stateProxy }: InputContext): readonly InputPart[] => {
  const text = stateProxy?.takeDueAnswer();
  return text === undefined ? [] : [{ type: 'forward', element: { kind: 'answer', text } }];
};

/** Ctrl-5 sends the same character where terminals send characters, and can be typed on keyboards without a key for `]` (DEC VT220). */
const CONTROL_BRACKET = 0x1d;

/** Whether the element presses or releases the key with this control byte, Escape included; a release must not reach the child either. */
export const actionOn = (
  { kind, text }: InputElement,
  control: number | undefined,
): 'press' | 'release' | undefined => {
  if (kind !== 'key' || control === undefined) return undefined;
  const { name, modifiers, isRelease } = parseKey(text);
  const isMeant =
    control === ESCAPE
      ? name === 'escape' && modifiers === 0
      : modifiers === CONTROL &&
        (name === controlName(control) || (control === CONTROL_BRACKET && name === '5'));
  if (!isMeant) return undefined;
  return isRelease ? 'release' : 'press';
};

const classify = (element: InputElement, context: InputContext, isPasted: boolean): readonly InputPart[] => {
  const { kind, text, passedOn = '' } = element;
  const answer = kind === 'answer' ? ownAnswer(passedOn + text, context, isPasted) : undefined;
  if (answer) return [{ type: 'answer', ...answer }];
  if (isPasted) return [{ type: 'forward', element: kind === 'answer' ? { kind: 'paste', text } : element }];
  const pressed = actionOn(element, context.hotkey);
  if (pressed) return pressed === 'press' ? [{ type: 'hotkey', element }] : [];
  if (kind === 'answer' && text.startsWith(STATES) && context.stateProxy?.takeAnswer() === false) return [];
  return [{ type: 'forward', element: translateForChild(element, context.geometry, context.mouse) }];
};

/** A part of an answer for the wrapper whose rest was lost, so that the next key has become a part of it. */
const isBrokenAnswer = (held: string, first: InputElement | undefined, { queries }: InputContext): boolean =>
  /^\x1b\[[?>]/.test(held) && first?.kind === 'key' && queries.hasOpenOwnQuery();

/** Sorts the elements of one read; an answer in pieces, too long to be held, is dropped whole. */
const sortElements = (
  elements: readonly InputElement[],
  before: InputState['inside'],
  context: InputContext,
) => {
  let isInPaste = before === 'paste';
  let isDropped = before === 'dropped answer';
  const parts = elements.flatMap((element) => {
    const { kind, piece } = element;
    if (piece === 'next' && isDropped) return [];
    const own = classify(element, context, isInPaste); // may be the answer that makes the wrapper's own answer due, so it comes first
    isDropped = piece === 'first' && own[0]?.type === 'answer';
    if (kind === 'paste-start' || kind === 'paste-end') isInPaste = kind === 'paste-start';
    return [...dueAnswers(context), ...own];
  });
  return { parts, isDropped };
};

/** A hotkey without anything else, after a silence: a paste without an end is over. */
const isLoneHotkey = (text: string, context: InputContext): boolean =>
  context.isQuiet &&
  text.length <= MAX_SINGLE_BYTES &&
  splitElements(text).every((element) => actionOn(element, context.hotkey) === 'press');

const MAX_SINGLE_BYTES = 64; // bytes of a hotkey held down

/** Reads input from the user's terminal, one character per byte. */
export const readInput = (
  state: InputState,
  text: string,
  context: InputContext,
): { readonly parts: readonly InputPart[]; readonly state: InputState } => {
  const isOver = state.inside === 'paste' && isLoneHotkey(state.held + text, context);
  const inside = isOver ? undefined : state.inside;
  const hasUtf8 = context.mouse?.hasUtf8;
  const whole = readElements({ ...state, inside }, text, hasUtf8);
  const read = isBrokenAnswer(state.held, whole.elements[0], context)
    ? readElements({ ...state, held: '', inside }, text, hasUtf8)
    : whole;
  const { parts, isDropped } = sortElements(read.elements, inside, context);
  const isStillDropped = isDropped && read.state.inside !== undefined;
  return { parts, state: isStillDropped ? { ...read.state, inside: 'dropped answer' } : read.state };
};
