import type { Millis } from '../core/reading.js';
import { flushInput, readInput, startInput, type InputContext, type InputPart } from '../terminal/input.js';
import { hasFooter } from '../terminal/filter/grid.js';
import type { Stage } from './stage.js';
import { survive } from './stage.js';

/** The user's bytes on their way to the child. */
export interface Keys {
  fromUser: (bytes: Uint8Array) => void;
  /** when Enter went to the child last, by the clock on the wall; undefined while never */
  enteredAt: () => Millis | undefined;
  stop: () => void;
}

export interface KeysListener {
  onHotkey: () => void;
  onAnswer: (text: string) => void;
  /** bytes that went to the child */
  onForward: (bytes: Uint8Array) => void;
}

const HELD_MS = 20; // an ESC that nothing follows within this time is a key by itself
const TWICE_MS = 500; // the hotkey pressed again within this time is meant for the child

const mouseModes = [9, 1000, 1001, 1002, 1003];
const newMouseModes = [1005, 1006, 1015, 1016];

/** Also as the keyboard protocols of kitty and xterm write it. */
const isEnter = (bytes: Uint8Array): boolean =>
  bytes.includes(0x0d) || /\x1b\[(?:13[;:\d]*u|27;\d+;13~)/.test(Buffer.from(bytes).toString('latin1'));

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
  let enteredAt: Millis | undefined;

  const forward = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    stage.child?.write(bytes);
    if (isEnter(bytes)) enteredAt = Date.now();
    stage.session.recording?.input(bytes);
    listener.onForward(bytes);
  };
  const hotkey = (bytes: Uint8Array): void => {
    const isSecond = performance.now() - lastHotkey < TWICE_MS;
    lastHotkey = isSecond ? -Infinity : performance.now();
    if (isSecond) forward(bytes);
    listener.onHotkey(); // the second press takes back what the first one did
  };
  const handle = (part: InputPart): void => {
    if (part.type === 'answer') return listener.onAnswer(part.text);
    (part.type === 'hotkey' ? hotkey : forward)(part.bytes);
  };
  const flush = (): void => {
    const { bytes, state: after } = flushInput(state);
    state = after;
    forward(bytes);
  };
  const read = (bytes: Uint8Array): void => {
    const { parts, state: after } = readInput(state, bytes, contextOf(stage));
    state = after;
    for (const part of parts) handle(part);
    if (state.held.length > 0) timer = setTimeout(flush, HELD_MS);
  };
  return {
    fromUser: (bytes) => {
      clearTimeout(timer);
      if (stage.verbatim && stage.filter.ledger.questions.open() === 0) return forward(bytes);
      if (!survive(stage, 'reading keys', () => read(bytes))) forward(bytes);
    },
    enteredAt: () => enteredAt,
    stop: () => clearTimeout(timer),
  };
};
