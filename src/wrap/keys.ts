import { flushInput, readInput, startInput, type InputContext, type InputPart } from '../terminal/input.js';
import { hasFooter } from '../terminal/filter/grid.js';
import { isTyped, makeKeySink, type KeySink, type SinkListener } from './key-sink.js';
import type { Stage } from './stage.js';
import { survive } from './stage.js';

/** The user's bytes on their way to the child. */
export interface Keys extends KeySink {
  fromUser: (bytes: Uint8Array) => void;
  stop: () => void;
}

export interface KeysListener extends SinkListener {
  onHotkey: () => void;
  /** the hotkey and then `c`; undefined where that means nothing, and `c` is the child's */
  onCompactKey?: (() => void) | undefined;
  onAnswer: (text: string) => void;
}

const HELD_MS = 20; // an ESC that nothing follows within this time is a key by itself
const TWICE_MS = 500; // the hotkey pressed again within this time is meant for the child
const CHORD_MS = 1_000; // a `c` within this time after the hotkey is ours
const COMPACT_KEY = /^(?:c|\x1b\[99(?:;1(?::1)?)?u)$/; // also as the keyboard protocol of kitty writes it

const mouseModes = [9, 1000, 1001, 1002, 1003];
const newMouseModes = [1005, 1006, 1015, 1016];

const contextOf = ({ filter, session }: Stage): InputContext => {
  const { grid, ledger } = filter;
  const { terminalRows, rows: childRows, columns } = grid;
  const oldMouse = mouseModes.some(ledger.isSet) && !newMouseModes.some(ledger.isSet);
  return {
    hotkey: session.hotkey,
    frame: hasFooter(grid) ? { terminalRows, childRows, columns } : undefined,
    isOurs: ledger.questions.take,
    oldMouse,
    pixelMouse: ledger.isSet(1016),
  };
};

export const makeKeys = (stage: Stage, listener: KeysListener): Keys => {
  let state = startInput;
  let timer: NodeJS.Timeout | undefined;
  let lastHotkey = -Infinity;
  let chordAt = -Infinity;
  const sink = makeKeySink(stage, listener);
  const { forward } = sink;

  const hotkey = (bytes: Uint8Array): void => {
    const isSecond = performance.now() - lastHotkey < TWICE_MS;
    lastHotkey = isSecond ? -Infinity : performance.now();
    chordAt = lastHotkey;
    if (isSecond) forward(bytes);
    else listener.onTyped(); // a key like any other, for whoever waits until the user is quiet
    listener.onHotkey(); // the second press takes back what the first one did
  };
  const isCompactKey = (bytes: Uint8Array): boolean =>
    performance.now() - chordAt < CHORD_MS && COMPACT_KEY.test(Buffer.from(bytes).toString('latin1'));
  const fromKeys = (bytes: Uint8Array): void => {
    const { onCompactKey } = listener;
    const isOurs = onCompactKey !== undefined && isCompactKey(bytes);
    if (chordAt > -Infinity && isTyped(bytes)) chordAt = -Infinity;
    if (!isOurs) return forward(bytes);
    listener.onHotkey(); // takes back what the first key did
    onCompactKey();
  };
  const handle = (part: InputPart): void => {
    switch (part.type) {
      case 'answer':
        return listener.onAnswer(part.text);
      case 'hotkey':
        return hotkey(part.bytes);
      case 'forward':
        return fromKeys(part.bytes);
    }
  };
  const flush = (): void => {
    const { bytes, state: after } = flushInput(state);
    state = after;
    fromKeys(bytes);
  };
  const read = (bytes: Uint8Array): void => {
    const { parts, state: after } = readInput(state, bytes, contextOf(stage));
    state = after;
    for (const part of parts) handle(part);
    if (state.held.length > 0) timer = setTimeout(flush, HELD_MS);
  };
  return {
    ...sink,
    fromUser: (bytes) => {
      clearTimeout(timer);
      if (stage.verbatim && stage.filter.ledger.questions.open() === 0) return forward(bytes);
      if (!survive(stage, 'reading keys', () => read(bytes))) forward(bytes);
    },
    stop: () => clearTimeout(timer),
  };
};
