import { isTyped, type InputElement } from '../core/terminal-input.js';
import type { Emit } from './terminal-event.js';
import type { TerminalSession } from './terminal-session.js';
import { makeIdleWriter } from './idle-writer.js';

// The timers for answering an agent's query for agent states: animates the title in the agent's place, and gives up on a terminal that does
// not answer.

export interface TitleAnimation {
  readonly noteOutput: () => void;
  /** what is sent to the child; it includes focus reports */
  readonly noteKeys: (elements: readonly InputElement[]) => void;
  readonly stop: () => void;
}

// Terminals answer within milliseconds, over a slow line within some hundreds; Claude waits for 2 s (docs/facts/claude.md#state-reports).
const SILENT_MS = 1_000;
const FOCUS_IN = '\x1b[I'; // mode 1004, xterm ctlseqs

/**
 * Whether an agent with this input believes that its terminal has the focus; a key implies focus. Undefined where the input says nothing
 * about it.
 */
const focusAfter = (elements: readonly InputElement[]): boolean | undefined => {
  const last = elements.findLast((element) => element.kind === 'focus' || isTyped(element));
  return last && (last.kind !== 'focus' || last.text === FOCUS_IN);
};

/** Clears a timeout or an interval. */
const clearTimer = (timer: NodeJS.Timeout | undefined): undefined => void clearTimeout(timer);

const noAnimation: TitleAnimation = {
  noteOutput: () => undefined,
  noteKeys: () => undefined,
  stop: () => undefined,
};

export const makeTitleAnimation = (terminal: TerminalSession, emit: Emit): TitleAnimation => {
  const { stateProxy } = terminal;
  const signs = terminal.session.agent.titleSigns?.(terminal.session.env);
  if (!stateProxy || !signs) return noAnimation;
  const idleWriter = makeIdleWriter(terminal);
  let silence: NodeJS.Timeout | undefined;
  let animating: NodeJS.Timeout | undefined;
  let hasFocus = true;

  const giveUp = (): void => {
    const text = stateProxy.takeDueAnswer('giveUp');
    if (text !== undefined) emit({ type: 'answer-made', elements: [{ kind: 'answer', text }] });
  };
  const advance = (): void => {
    if (!terminal.overviewOutput) idleWriter.send(stateProxy.nextFrame);
  };
  const update = (): void => {
    if (stateProxy.isAsked()) silence ??= setTimeout(giveUp, SILENT_MS).unref();
    else silence = clearTimer(silence);
    if (hasFocus && stateProxy.isAnimated()) animating ??= setInterval(advance, signs.frameMs).unref();
    else animating = clearTimer(animating);
  };
  stateProxy.onLateAnswer((missed) => {
    idleWriter.send(() => missed);
    update();
  });
  return {
    noteOutput: update,
    noteKeys: (elements) => {
      hasFocus = focusAfter(elements) ?? hasFocus;
      update();
    },
    stop: () => {
      silence = clearTimer(silence);
      animating = clearTimer(animating);
      idleWriter.stop();
    },
  };
};
