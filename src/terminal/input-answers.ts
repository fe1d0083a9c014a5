// Answers of the terminal among the user's keys: to questions of ours, and to those of the child's that tell us something.
import type { InputContext, InputPart, InputState } from './input.js';
import { mayBeStates } from './input-element.js';

export const LONGEST_ANSWER = 64; // bytes; a hotkey held down is no longer either
const MODIFIED_F3 = /^1;(?:[2-9]|1[0-6])R$/; // Shift-F3 and its like: the cursor in one of these columns of row 1 looks the same

const ALT_KEY = 2; // bytes
const DA1 = /^\x1b\[\?[\d;]*c$/; // the child's, but it tells that the terminal has not answered what was asked before

/** Answers to CPR (`CSI row ; column R`) and DA2 (`CSI > … c`), the two things we ask. */
export const answerOf = (sequence: string, context: InputContext): string | undefined => {
  if (context.states?.isAsked() && DA1.test(sequence)) context.isOurs('?c', false);
  const text = /^\x1b\[(\d+;\d+R)$/.exec(sequence)?.[1] ?? /^\x1b\[>([\d;]*c)$/.exec(sequence)?.[1];
  if (text === undefined) return undefined;
  return context.isOurs(text.slice(-1), MODIFIED_F3.test(text)) ? text : undefined;
};

/** What the child has to get before the terminal's next answer: it may wait no longer for the one that it has not got. */
export const dueParts = ({ states }: InputContext): readonly InputPart[] => {
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
