import { isTyped, type InputElement } from '../core/terminal-input.js';
import { makeOutlet } from './notifier.js';
import type { Stage } from './terminal-session.js';

// What happens by the clock where we answer an agent's question about states: its title goes on, and a silent terminal is given up.

export interface TitleTurns {
  readonly noteOutput: () => void;
  /** what goes to the child: whether the terminal has the focus is among it */
  readonly noteKeys: (elements: readonly InputElement[]) => void;
  readonly stop: () => void;
}

// Terminals answer in milliseconds, over a slow line in some hundreds; Claude waits for 2 s (facts/updates-2026-11-22.md).
const SILENT_MS = 1_000;
const FOCUS_IN = '\x1b[I'; // mode 1004, xterm ctlseqs

/** What an agent takes from its input for whether its terminal has the focus: a key says so, too. Undefined where it says nothing. */
const focusAfter = (elements: readonly InputElement[]): boolean | undefined => {
  const last = elements.findLast((element) => element.kind === 'focus' || isTyped(element));
  return last && (last.kind !== 'focus' || last.text === FOCUS_IN);
};

/** A timeout or an interval. */
const cleared = (timer: NodeJS.Timeout | undefined): undefined => void clearTimeout(timer);

const none: TitleTurns = { noteOutput: () => undefined, noteKeys: () => undefined, stop: () => undefined };

/** `toChild` sends what no user has typed. */
export const makeTitleTurns = (
  stage: Stage,
  toChild: (elements: readonly InputElement[]) => void,
): TitleTurns => {
  const { standIn } = stage;
  const signs = stage.session.runtime.titleSigns?.(stage.session.env);
  if (!standIn || !signs) return none;
  const outlet = makeOutlet(stage);
  let silence: NodeJS.Timeout | undefined;
  let turning: NodeJS.Timeout | undefined;
  let hasFocus = true;

  const giveUp = (): void => {
    const text = standIn.due('giveUp');
    if (text !== undefined) toChild([{ kind: 'answer', text }]);
  };
  const turn = (): void => {
    if (!stage.cover) outlet.send(standIn.turn);
  };
  const look = (): void => {
    if (standIn.isAsked()) silence ??= setTimeout(giveUp, SILENT_MS).unref();
    else silence = cleared(silence);
    if (hasFocus && standIn.isMoving()) turning ??= setInterval(turn, signs.frameMs).unref();
    else turning = cleared(turning);
  };
  standIn.onLate((missed) => {
    outlet.send(() => missed);
    look();
  });
  return {
    noteOutput: look,
    noteKeys: (elements) => {
      hasFocus = focusAfter(elements) ?? hasFocus;
      look();
    },
    stop: () => {
      silence = cleared(silence);
      turning = cleared(turning);
      outlet.stop();
    },
  };
};
