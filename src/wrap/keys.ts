import { flushInput, readInput, startInput, type InputContext, type InputPart } from '../terminal/input.js';
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

const LEFT_MS = 1_000; // for reports of the mouse that were on their way when the overlay was closed, which had asked for them
const MOUSE_REPORT = /^\x1b\[<\d+;\d+;\d+[Mm]$/;

const mouseModes = [9, 1000, 1001, 1002, 1003];
const newMouseModes = [1005, 1006, 1015, 1016];

const contextOf = ({ filter, session, cover }: Stage): InputContext => {
  const { grid, ledger } = filter;
  const { terminalRows, rows: childRows, columns } = grid;
  const oldMouse = mouseModes.some(ledger.isSet) && !newMouseModes.some(ledger.isSet);
  return {
    hotkey: session.hotkey,
    frame: hasFooter(grid) ? { terminalRows, childRows, columns } : undefined,
    isOurs: ledger.questions.take,
    oldMouse: oldMouse && !cover,
    pixelMouse: ledger.isSet(1016) || cover !== undefined, // rows below the child's are ours as well
  };
};

/** Reports of the mouse that the overlay had asked for, and that come when it is closed. */
const makeLeftOver = ({ filter: { ledger } }: Stage): LeftOver => {
  let coveredAt = -Infinity;
  return {
    note: () => {
      coveredAt = performance.now();
    },
    matches: (bytes) =>
      performance.now() - coveredAt < LEFT_MS &&
      !mouseModes.some(ledger.isSet) &&
      MOUSE_REPORT.test(Buffer.from(bytes).toString('latin1')),
  };
};

interface LeftOver {
  /** something is pressed while it is open */
  readonly note: () => void;
  /** to be called only while it is closed */
  readonly matches: (bytes: Uint8Array) => boolean;
}

export const makeKeys = (stage: Stage, listener: KeysListener): Keys => {
  let state = startInput;
  let timer: NodeJS.Timeout | undefined;
  const leftOver = makeLeftOver(stage);
  const sink = makeKeySink(stage, listener);
  const { forward } = sink;
  const { overlay } = listener;
  const covering = overlay && makeOverlayInput(overlay, forward);
  const { questions } = stage.filter.ledger;

  const hotkey = makeHotkeyPress(listener, { forward, isTyped });
  const fromKeys = (bytes: Uint8Array): void => {
    if (!hotkey.take(bytes)) forward(bytes);
  };
  const notCovered = (bytes: Uint8Array, awaitsCursor: boolean): Uint8Array =>
    covering?.isWanted() ? covering.take(bytes, awaitsCursor) : bytes;
  const handle = (part: InputPart, awaitsCursor: boolean): void => {
    if (overlay?.isOpen()) leftOver.note();
    else if (part.type === 'forward' && leftOver.matches(part.bytes)) return undefined;
    switch (part.type) {
      case 'answer':
        return listener.onAnswer(part.text);
      case 'hotkey':
        return hotkey.press(part.bytes);
      case 'forward':
        hotkey.noteKeys(part.bytes);
        return fromKeys(notCovered(part.bytes, awaitsCursor));
    }
  };
  const flush = (): void => {
    const { bytes, state: after } = flushInput(state);
    state = after;
    hotkey.noteKeys(bytes);
    fromKeys(notCovered(bytes, questions.awaits('R')));
    covering?.flush();
    waitFor(covering?.waitMs());
  };
  const waitFor = (waitMs: number | undefined): void => {
    if (waitMs !== undefined) timer = setTimeout(flush, waitMs);
  };
  const read = (bytes: Uint8Array): void => {
    const awaitsCursor = questions.awaits('R');
    const { parts, state: after } = readInput(state, bytes, contextOf(stage));
    state = after;
    for (const part of parts) handle(part, awaitsCursor);
    waitFor(state.held.length > 0 ? HELD_MS : covering?.waitMs());
  };
  return {
    ...sink,
    fromUser: (bytes) => {
      clearTimeout(timer);
      if (stage.verbatim && stage.filter.ledger.questions.open() === 0) return forward(bytes);
      const isRead = survive(stage, 'reading keys', () => read(bytes));
      if (!isRead && !covering?.isWanted()) forward(bytes);
    },
    stop: () => clearTimeout(timer),
  };
};
