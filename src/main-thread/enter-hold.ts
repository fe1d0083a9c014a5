import { isPressed, parseKey, type InputElement } from '../core/terminal-input.js';
import type { ChildInput } from './keyboard.js';
import type { Footer } from './footer.js';
import type { Emit } from './terminal-event.js';
import type { TerminalSession } from './terminal-session.js';

// The user's Enter at hard, with the setting `atHard: "hold"`: it is held back once, and the footer asks. The footer on the screen decides: an
// Enter whose question does not appear is sent after all.

/** A busy terminal may delay the footer by half a second. */
const ASK_MS = 1_000;

export interface EnterHold {
  /** true if this key of the user is kept back; `isLone`: nothing else was read with it, as with pasted lines */
  readonly take: (element: InputElement, isLone: boolean) => boolean;
  /** the user goes on: an Enter whose question is not to be seen yet is sent before that */
  readonly settle: () => void;
  /** it is not decided yet whether the last Enter is sent */
  readonly isOpen: () => boolean;
  readonly stop: () => void;
}

export interface EnterHoldParts {
  readonly footer: Pick<Footer, 'enter'>;
  readonly emit: Emit;
  readonly forward: ChildInput['forward'];
}

/** Enter alone: with Shift or Alt it is a line break in most agents. */
const enterAction = ({ kind, text }: InputElement): 'press' | 'release' | undefined => {
  if (kind !== 'key') return undefined;
  const { name, modifiers, isRelease } = parseKey(text);
  if (name !== 'enter' || modifiers !== 0) return undefined;
  return isRelease ? 'release' : 'press';
};

export const makeEnterHold = (
  terminal: TerminalSession,
  { footer, emit, forward }: EnterHoldParts,
): EnterHold => {
  let open: { readonly element: InputElement; readonly timer: NodeJS.Timeout } | undefined;
  let isTaken = false; // until the same key is released, which some keyboard protocols report

  const close = (): InputElement | undefined => {
    const element = open?.element;
    clearTimeout(open?.timer);
    open = undefined;
    return element;
  };
  const settle = (): void => {
    const element = close();
    const isAsked = footer.enter() === 'asked' && !terminal.overviewOutput;
    if (element && !isAsked) forward([element]);
  };
  return {
    take: (element, isLone) => {
      const action = enterAction(element);
      if (action === undefined) {
        if (isPressed(element)) settle();
        return false;
      }
      if (action === 'release') return isTaken;
      const isSecond = close() !== undefined; // pressed twice, it is sent once
      isTaken = isLone && !isSecond && !terminal.overviewOutput && footer.enter() === 'holds';
      if (!isTaken) return false;
      open = { element, timer: setTimeout(settle, ASK_MS) };
      emit({ type: 'enter-held' });
      return true;
    },
    settle,
    isOpen: () => open !== undefined,
    stop: () => void close(),
  };
};
