import { isTyped } from './keyboard.js';
import { makeOutlet } from './notifier.js';
import type { Stage } from './terminal-session.js';

// What happens by the clock where we answer an agent's question about states: its title goes on, and a silent terminal is given up.

export interface TitleTurns {
  readonly noteOutput: () => void;
  /** bytes on their way to the child: whether the terminal has the focus is among them */
  readonly noteKeys: (bytes: Uint8Array) => void;
  readonly stop: () => void;
}

// Terminals answer in milliseconds, over a slow line in some hundreds; Claude waits for 2 s (facts/updates-2026-11-22.md).
const SILENT_MS = 1_000;
const FOCUS_IN = '\x1b[I'; // mode 1004, xterm ctlseqs
const FOCUS_OUT = '\x1b[O';

/** What an agent takes from its input for whether its terminal has the focus: a key says so, too. Undefined where it says nothing. */
const focusAfter = (bytes: Uint8Array): boolean | undefined => {
  const text = Buffer.from(bytes).toString('latin1');
  if (text.endsWith(FOCUS_OUT)) return false;
  return text.includes(FOCUS_IN) || isTyped(bytes) ? true : undefined;
};

/** A timeout or an interval. */
const cleared = (timer: NodeJS.Timeout | undefined): undefined => void clearTimeout(timer);

const none: TitleTurns = { noteOutput: () => undefined, noteKeys: () => undefined, stop: () => undefined };

/** `toChild` sends bytes that are no keys. */
export const makeTitleTurns = (stage: Stage, toChild: (bytes: Uint8Array) => void): TitleTurns => {
  const { standIn } = stage;
  const signs = stage.session.runtime.titleSigns?.(stage.session.env);
  if (!standIn || !signs) return none;
  const outlet = makeOutlet(stage);
  let silence: NodeJS.Timeout | undefined;
  let turning: NodeJS.Timeout | undefined;
  let hasFocus = true;

  const giveUp = (): void => {
    const bytes = standIn.due('giveUp');
    if (bytes) toChild(bytes);
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
    noteKeys: (bytes) => {
      hasFocus = focusAfter(bytes) ?? hasFocus;
      look();
    },
    stop: () => {
      silence = cleared(silence);
      turning = cleared(turning);
      outlet.stop();
    },
  };
};
