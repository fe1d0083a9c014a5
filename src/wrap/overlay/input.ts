import {
  flushOverlayKeys,
  isAnswerHeld,
  noOverlayKeys,
  readOverlayKeys,
  type OverlayInput as Read,
} from '../../terminal/cover/overlay-keys.js';
import type { Overlay } from './overlay.js';

/** The user's bytes while the overlay is open: its keys, and what the terminal says to the child. */
export interface OverlayInput {
  /** returns what is the child's: answers to it, and what comes behind the key that closes the overlay */
  readonly take: (bytes: Uint8Array, awaitsCursor: boolean) => Uint8Array;
  /** bytes go through `take`: it is open, or a paste is not over that began while it was */
  readonly isWanted: () => boolean;
  /** milliseconds after which `flush` has to be called; undefined when nothing is held */
  readonly waitMs: () => number | undefined;
  /** what is held is all there is */
  readonly flush: () => void;
}

const HELD_MS = 20; // an ESC that nothing follows within this time is a key by itself
const ANSWER_MS = 1_000; // an answer of the terminal may come in pieces
const PASTE_MS = 5_000; // of silence inside a paste: its end has got lost, and no key may be swallowed for ever

const nothing = new Uint8Array();

export const makeOverlayInput = (
  overlay: Pick<Overlay, 'isOpen' | 'onKey'>,
  toChild: (bytes: Uint8Array) => void,
): OverlayInput => {
  let state = noOverlayKeys;
  let takenAt = -Infinity;
  const forChild: Uint8Array[] = [];
  const handle = (read: Read): Uint8Array => {
    ({ state } = read);
    if (read.forChild) forChild.push(read.forChild);
    if (read.key) overlay.onKey(read.key);
    return read.rest;
  };
  const isWanted = (): boolean => overlay.isOpen() || state.isInPaste;
  return {
    isWanted,
    take: (bytes, awaitsCursor) => {
      let rest = bytes;
      if (bytes.length > 0) takenAt = performance.now();
      while (rest.length > 0 && isWanted()) rest = handle(readOverlayKeys(state, rest, awaitsCursor));
      return Buffer.concat([...forChild.splice(0), rest]);
    },
    waitMs: () => {
      if (state.isInPaste) return Math.max(1, Math.ceil(takenAt + PASTE_MS - performance.now()));
      if (state.held.length === 0) return undefined;
      return isAnswerHeld(state) ? ANSWER_MS : HELD_MS;
    },
    flush: () => {
      if (state.isInPaste) {
        if (performance.now() - takenAt >= PASTE_MS) state = noOverlayKeys;
        return;
      }
      if (state.held.length === 0) return;
      if (isAnswerHeld(state) && !overlay.isOpen()) toChild(state.held);
      if (overlay.isOpen()) handle(flushOverlayKeys(state));
      else state = { ...state, held: nothing };
    },
  };
};
