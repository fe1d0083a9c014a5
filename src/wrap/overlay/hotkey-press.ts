import type { KeysListener } from '../keys-listener.js';

/** The hotkey, and what a key means right after it. */
export interface HotkeyPress {
  /** the hotkey itself */
  readonly press: (bytes: Uint8Array) => void;
  /** true if these keys are the rest of a chord of ours, which is then done */
  readonly take: (bytes: Uint8Array) => boolean;
  /** another key has been pressed, so that the next press of the hotkey is not its second */
  readonly noteKeys: (bytes: Uint8Array) => void;
}

const TWICE_MS = 500; // the hotkey pressed again within this time is meant for the child
const CHORD_MS = 1_000; // a `c` within this time after the hotkey is ours
// Keys that are let go, and the modifiers by themselves (57441 to 57454), as the keyboard protocol of kitty tells them.
const NO_KEY = /\x1b\[(?:[\d:]+;\d*:3[;\d:]*u|574(?:4[1-9]|5[0-4])(?:;[\d:]*)*u)/g;
const COMPACT_KEY = /^(?:c|\x1b\[99(?:;1(?::1)?)?u)$/; // also as the keyboard protocol of kitty writes it

export const makeHotkeyPress = (
  { overlay, onHotkey, onCompactKey, onTyped }: KeysListener,
  { forward, isTyped }: { forward: (bytes: Uint8Array) => void; isTyped: (bytes: Uint8Array) => boolean },
): HotkeyPress => {
  let lastHotkey = -Infinity;
  let chordAt = -Infinity; // only where there is no overlay, which gets the key itself

  /** True where the overlay is what the hotkey is about: it opens and closes it. */
  const isForOverlay = (): boolean => {
    if (overlay?.isOpen()) overlay.close();
    else if (overlay?.canOpen()) overlay.open();
    else return false;
    return true;
  };
  const isCompactKey = (bytes: Uint8Array): boolean =>
    performance.now() - chordAt < CHORD_MS && COMPACT_KEY.test(Buffer.from(bytes).toString('latin1'));
  return {
    press: (bytes) => {
      const isSecond = performance.now() - lastHotkey < TWICE_MS;
      lastHotkey = isSecond ? -Infinity : performance.now();
      const isTaken = isForOverlay();
      chordAt = isTaken ? -Infinity : lastHotkey;
      if (isSecond) forward(bytes);
      else onTyped(); // a key like any other, for whoever waits until the user is quiet
      if (!isTaken) onHotkey(); // the second press takes back what the first one did
    },
    noteKeys: (bytes) => {
      const rest = Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll(NO_KEY, ''), 'latin1');
      if (isTyped(rest)) lastHotkey = -Infinity;
    },
    take: (bytes) => {
      const isOurs = onCompactKey !== undefined && isCompactKey(bytes);
      if (chordAt > -Infinity && isTyped(bytes)) chordAt = -Infinity;
      if (!isOurs) return false;
      onHotkey(); // takes back what the first key did
      onCompactKey();
      return true;
    },
  };
};
