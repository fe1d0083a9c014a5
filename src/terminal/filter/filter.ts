import { makeModeTracker, type ModeTracker } from '../mode-tracker.js';
import { makeReusedBytes } from '../reused-bytes.js';
import { makeControlSequence } from './bytes.js';
import { control } from './cursor-rules.js';
import type { Grid } from './grid.js';
import { printCells } from './motion.js';
import {
  notePrinted,
  readCharacter,
  HOLD,
  insertBefore,
  concatBytes,
  replace,
  type FilterState,
  readEscape,
  readPartial,
  readString,
} from './parser.js';
import { readFastPath } from './fast-path.js';
import { makeNotedRenditions } from './rendition.js';

/**
 * Rewrites the child's output so that a terminal with a footer row shows what one without it would.
 * Bytes that need no change pass unchanged; a sequence that is split between two chunks is held until its end.
 */
export interface StreamFilter {
  readonly grid: Grid;
  readonly modeTracker: ModeTracker;
  /** child's bytes in, terminal's bytes out: they are valid until the next call, and as long as the chunk is */
  push: (chunk: Uint8Array) => readonly Uint8Array[];
  /** where `push` has failed: what comes of the chunk before that; all behind it is held */
  takeFiltered: () => Uint8Array;
  /** the held bytes of an unfinished sequence, for the end of the output */
  flush: () => Uint8Array;
  /** false inside an OSC, DCS, APC, PM or SOS string, where the wrapper must not write */
  isGround: () => boolean;
  /** no bytes are held: the last element is complete */
  isComplete: () => boolean;
}

const ESC = 0x1b;
const DEL = 0x7f;

const nothing = new Uint8Array();

const JOINED_BYTES = 72 * 1024; // a read and what was held before it

/**
 * Puts what is held before the next chunk. Two arrays take turns, because the output is still in the one when the rest of it is held: new
 * ones for each chunk would be memory that only a collection gives back.
 */
const makeHolder = (): FilterState['holder'] => {
  let [space, other] = [new Uint8Array(JOINED_BYTES), new Uint8Array(JOINED_BYTES)];
  return {
    hold: (rest) => {
      if (rest.length > space.length) return rest.slice();
      [space, other] = [other, space];
      space.set(rest);
      return space.subarray(0, rest.length);
    },
    join: (held, chunk) => {
      const length = held.length + chunk.length;
      if (held.buffer !== space.buffer || length > space.length) return concatBytes(held, chunk);
      space.set(chunk, held.length);
      return space.subarray(0, length);
    },
  };
};

const readText = (state: FilterState, start: number): number => {
  const { bytes, grid } = state;
  let end = start + 1;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (byte < 0x20 || byte >= DEL) break;
  }
  printCells(grid, end - start, start, state.insert);
  notePrinted(grid, bytes[end - 1] ?? 0, 1);
  return end;
};

const readControl = (state: FilterState, start: number): number => {
  const byte = state.bytes[start] ?? 0;
  if (byte === DEL) return start + 1;
  state.grid.lastWidth = 0;
  return replace(state, start, start + 1, control(state.grid, byte));
};

/** Reads one element at `start`; returns the offset after it, or HOLD. */
const readElement = (state: FilterState, start: number): number => {
  if (state.string) return readString(state, state.string, start);
  if (state.partialLength > 0) return readPartial(state, start, readControl);
  const byte = state.bytes[start] ?? 0;
  if (byte >= 0x20 && byte < DEL) return readText(state, start);
  if (byte >= 0x80) return readCharacter(state, start);
  if (byte !== ESC) return readControl(state, start);
  const end = readEscape(state, start);
  if (end > start) state.isStringOpen = false;
  return end;
};

/** Reads the chunk; returns what is sent of it. */
const readChunk = (state: FilterState): readonly Uint8Array[] => {
  let at = 0;
  while (at < state.bytes.length) {
    at = readFastPath(state, at);
    if (at === state.bytes.length) break;
    const next = readElement(state, at);
    if (next === HOLD) break;
    at = next;
  }
  const { bytes, sentUpTo, output } = state;
  const rest = bytes.subarray(sentUpTo, at);
  state.held = at < bytes.length ? state.holder.hold(bytes.subarray(at)) : nothing;
  if (output.length() === 0) return rest.length > 0 ? [rest] : [];
  if (rest.length > 0) output.add(rest);
  return [output.take()];
};

const pushChunk = (state: FilterState, chunk: Uint8Array): readonly Uint8Array[] => {
  const { partial, partialLength } = state;
  state.bytes = state.held.length > 0 ? state.holder.join(state.held, chunk) : chunk;
  state.sentUpTo = 0;
  if (state.output.length() > 0) state.output.take(); // of a chunk on which reading has failed
  try {
    return readChunk(state);
  } catch (error) {
    Object.assign(state, {
      held: concatBytes(partial.subarray(0, partialLength), state.bytes),
      partialLength: 0,
    }); // none of it has been sent
    throw error;
  }
};

export const makeStreamFilter = (grid: Grid): StreamFilter => {
  const state: FilterState = {
    grid,
    modeTracker: makeModeTracker(),
    sequence: makeControlSequence(),
    noted: makeNotedRenditions(),
    bytes: nothing,
    sentUpTo: 0,
    output: makeReusedBytes(),
    held: nothing,
    holder: makeHolder(),
    string: undefined,
    stringEnds: undefined,
    command: '',
    partial: nothing,
    partialLength: 0,
    isStringOpen: false,
    insert: (at, text) => insertBefore(state, at, text),
  };
  return {
    grid,
    modeTracker: state.modeTracker,
    push: (chunk) => pushChunk(state, chunk),
    takeFiltered: () => nothing,
    flush: () => {
      const rest = concatBytes(state.partial.subarray(0, state.partialLength), state.held);
      Object.assign(state, { held: nothing, partialLength: 0 });
      return rest;
    },
    isComplete: () => state.held.length === 0 && state.partialLength === 0,
    isGround: () => state.string === undefined && !state.isStringOpen,
  };
};
