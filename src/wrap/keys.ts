import {
  flushInput,
  isHeld,
  readInput,
  startInput,
  type InputContext,
  type InputPart,
} from '../terminal/input.js';
import { isAnswerHeld } from '../terminal/input-answers.js';
import { hasFooter } from '../terminal/filter/grid.js';
import { makeHotkeyPress } from './overlay/hotkey-press.js';
import { isTyped, makeKeySink, type KeySink } from './compacting/key-sink.js';
import { makeOverlayInput } from './overlay/input.js';
import type { Stage } from './stage.js';
import { survive } from './stage.js';
import type { KeysListener } from './keys-listener.js';

/** The user's bytes on their way to the child. */
export interface Keys extends KeySink {
  fromUser: (bytes: Uint8Array) => void;
  stop: () => void;
}

const HELD_MS = 20; // an ESC that nothing follows within this time is a key by itself
const ANSWER_MS = 300; // for the rest of an answer to a question of ours
const QUIET_MS = 1_000; // of silence inside a paste: a hotkey that comes then is no part of it
const MOST_UNREAD = 4 * 1024 * 1024; // bytes that the child has not read yet; with more the terminal has to keep what is typed

const LEFT_MS = 1_000; // for reports of the mouse that were on their way when the overlay was closed, which had asked for them
const MOUSE_REPORTS = /\x1b\[<\d+;\d+;\d+[Mm]/g;

const mouseModes = [9, 1000, 1001, 1002, 1003];
const newMouseModes = [1005, 1006, 1015, 1016];

const contextOf = ({ filter, session, cover, standIn }: Stage, isQuiet: boolean): InputContext => {
  const { grid, ledger } = filter;
  const { terminalRows, rows: childRows, columns } = grid;
  const oldMouse = mouseModes.some(ledger.isSet) && !newMouseModes.some(ledger.isSet);
  return {
    hotkey: session.hotkey,
    frame: hasFooter(grid) ? { terminalRows, childRows, columns } : undefined,
    isOurs: ledger.questions.take,
    states: standIn,
    oldMouse: oldMouse && !cover,
    pixelMouse: ledger.isSet(1016) || cover !== undefined, // rows below the child's are ours as well
    isQuiet,
  };
};

/** Reports of the mouse that the overlay had asked for, and that come when it is closed. */
const makeLeftOver = ({ filter: { ledger } }: Stage): LeftOver => {
  let coveredAt = -Infinity;
  const isLeft = (): boolean => performance.now() - coveredAt < LEFT_MS && !mouseModes.some(ledger.isSet);
  return {
    note: () => {
      coveredAt = performance.now();
    },
    without: (bytes) =>
      isLeft()
        ? Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll(MOUSE_REPORTS, ''), 'latin1')
        : bytes,
  };
};

interface LeftOver {
  /** something is pressed while it is open */
  readonly note: () => void;
  /** the bytes without such reports; to be called only while it is closed */
  readonly without: (bytes: Uint8Array) => Uint8Array;
}

/** Does what the parts of the input ask for. */
const makePartHandler = (stage: Stage, listener: KeysListener, { forward }: KeySink) => {
  const { overlay } = listener;
  const leftOver = makeLeftOver(stage);
  const hotkey = makeHotkeyPress(listener, { forward, isTyped });
  const covering = overlay && makeOverlayInput(overlay, forward);
  const isOpen = (): boolean => overlay?.isOpen() === true;
  const withoutLeft = (bytes: Uint8Array): Uint8Array => (isOpen() ? bytes : leftOver.without(bytes));

  const handleForward = (bytes: Uint8Array, awaitsCursor: boolean): void => {
    if (isOpen()) leftOver.note();
    const wanted = withoutLeft(bytes);
    hotkey.noteKeys(wanted);
    const forChild = covering?.isWanted() ? withoutLeft(covering.take(wanted, awaitsCursor)) : wanted;
    if (!hotkey.take(forChild)) forward(forChild);
  };
  /** What the child gets is one write; only the hotkey, and answers that its own have to wait for, come between. */
  const handle = (parts: readonly InputPart[], awaitsCursor: boolean): void => {
    let forChild: Uint8Array[] = [];
    const send = (): void => {
      if (forChild.length > 0) handleForward(Buffer.concat(forChild), awaitsCursor);
      forChild = [];
    };
    for (const part of parts) {
      if (part.type === 'forward') {
        forChild.push(part.bytes);
        continue;
      }
      if (part.type === 'hotkey' || isOpen()) send();
      if (part.type === 'hotkey') hotkey.press(part.bytes);
      else listener.onAnswer(part.text);
    }
    send();
  };
  return { handle, handleForward, covering };
};

export const makeKeys = (stage: Stage, listener: KeysListener): Keys => {
  let state = startInput;
  let timer: NodeJS.Timeout | undefined;
  let readAt = performance.now();
  const sink = makeKeySink(stage, listener);
  const { handle, handleForward, covering } = makePartHandler(stage, listener, sink);
  const { questions } = stage.filter.ledger;

  const waitFor = (waitMs: number | undefined): void => {
    if (waitMs !== undefined) timer = setTimeout(flush, waitMs);
  };
  const flush = (): void => {
    const { bytes, state: after } = flushInput(state);
    state = after;
    handleForward(bytes, questions.awaits('R'));
    covering?.flush();
    waitFor(covering?.waitMs());
  };
  const heldMs = (): number => {
    const isSought = questions.isUnanswered() || stage.standIn !== undefined;
    const isAnswer = isSought && isAnswerHeld(state, questions.isAwaited());
    return isAnswer ? ANSWER_MS : HELD_MS;
  };
  const read = (bytes: Uint8Array): void => {
    const awaitsCursor = questions.awaits('R');
    const isQuiet = performance.now() - readAt > QUIET_MS;
    readAt = performance.now();
    const { parts, state: after } = readInput(state, bytes, contextOf(stage, isQuiet));
    state = after;
    handle(parts, awaitsCursor);
    waitFor(isHeld(state) ? heldMs() : covering?.waitMs());
  };
  const take = (bytes: Uint8Array): void => {
    clearTimeout(timer);
    if (stage.verbatim && !questions.isUnanswered() && !isHeld(state)) return sink.forward(bytes);
    const isRead = survive(stage, 'reading keys', () => read(bytes));
    if (!isRead && !covering?.isWanted()) sink.forward(bytes);
  };
  return {
    ...sink,
    fromUser: (bytes) => {
      take(bytes);
      if ((stage.child?.pending() ?? 0) > MOST_UNREAD) stage.tty.pauseInput();
    },
    stop: () => clearTimeout(timer),
  };
};
