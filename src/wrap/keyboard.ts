import type { Millis } from '../core/reading.js';
import { hasFooter } from '../terminal/filter/grid.js';
import {
  flushInput,
  isHeld,
  readInput,
  startInput,
  type InputContext,
  type InputPart,
  isAnswerHeld,
} from '../terminal/input.js';
import {
  flushOverlayKeys,
  isAnswerHeld as isAnswerHeldInOverlayKeys,
  noOverlayKeys,
  readOverlayKeys,
  type OverlayInput as Read,
} from '../terminal/overlay/keys.js';
import type { Overlay } from './overlay.js';
import { type Stage, survive } from './terminal-session.js';
import type { KeyHold } from './typing-steps.js';

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

const makeHotkeyPress = (
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

// Bytes for the child, the user's and ours, in one order.

export interface KeySink {
  /** the user's bytes */
  readonly forward: (bytes: Uint8Array) => void;
  /** bytes of ours; the recording shows them among the keys */
  readonly type: (bytes: Uint8Array) => void;
  /** keeps the user's bytes back until they are released; a hold that is not released yet gives way to the new one */
  readonly hold: () => KeyHold;
  /** how often the user has typed so far, what is held included */
  readonly typed: () => number;
  /** when Enter went to the child last, by the clock on the wall; undefined while never */
  readonly enteredAt: () => Millis | undefined;
}

export interface SinkListener {
  /** bytes of the user's that went to the child */
  readonly onForward: (bytes: Uint8Array) => void;
  /** keys are among them */
  readonly onTyped: () => void;
}

// What a terminal sends without a key: answers (CSI … c n R t u y, DCS, OSC), focus, and the mouse.
const UNTYPED =
  /\x1b\[[?>=]?[\d;:]*\$?[cnRty]|\x1b\[\?\d+u|\x1b\[[IO]|\x1b\[<[\d;]*[Mm]|\x1b\[M[^]{3}|\x1b[P\]][^\x07\x1b]*(?:\x07|\x1b\\)/g;

/** Whether a person pressed a key, or the terminal speaks for itself. */
export const isTyped = (bytes: Uint8Array): boolean => {
  if (!bytes.includes(0x1b)) return bytes.length > 0;
  return Buffer.from(bytes).toString('latin1').replaceAll(UNTYPED, '') !== '';
};

const ESC = 0x1b;
const ESCAPE_MS = 50; // before the next key, or an agent takes both for one key with Alt

/** Also as the keyboard protocols of kitty and xterm write it. */
const isEnter = (bytes: Uint8Array): boolean =>
  bytes.includes(0x0d) || /\x1b\[(?:13[;:\d]*u|27;\d+;13~)/.test(Buffer.from(bytes).toString('latin1'));

export const makeKeySink = (
  stage: Pick<Stage, 'child' | 'session'>,
  { onForward, onTyped }: SinkListener,
): KeySink => {
  let enteredAt: Millis | undefined;
  let held: Uint8Array[] | undefined;
  let releasing: NodeJS.Timeout | undefined;
  let typed = 0;

  const write = (bytes: Uint8Array): void => {
    stage.child?.write(bytes);
    stage.session.recording?.input(bytes);
  };
  const send = (bytes: Uint8Array, isKey: boolean): void => {
    write(bytes);
    if (isEnter(bytes)) enteredAt = Date.now();
    onForward(bytes);
    if (isKey) onTyped();
  };
  /** Read by read, as they were typed: what came in one read is one write, and a lone ESC stays one. */
  const release = (waiting: Uint8Array[]): void => {
    if (held !== waiting) return;
    for (let bytes = waiting.shift(); bytes; bytes = waiting.shift()) {
      send(bytes, true); // only keys wait
      if (bytes.at(-1) !== ESC || waiting.length === 0) continue;
      releasing = setTimeout(() => release(waiting), ESCAPE_MS);
      return;
    }
    held = undefined;
  };
  return {
    type: write,
    forward: (bytes) => {
      if (bytes.length === 0) return;
      const isKey = isTyped(bytes);
      if (isKey) typed += 1;
      // what the terminal answers to the child does not wait: some agents stand still for it
      if (held && isKey) held.push(Uint8Array.from(bytes));
      else send(bytes, isKey);
    },
    hold: () => {
      clearTimeout(releasing);
      const waiting = held?.splice(0) ?? [];
      held = waiting;
      return {
        waiting: () => waiting.length,
        releaseOne: (behind) => {
          const [next] = held === waiting ? waiting.splice(behind, 1) : [];
          if (next) send(next, true);
        },
        release: () => release(waiting),
      };
    },
    typed: () => typed,
    enteredAt: () => enteredAt,
  };
};

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

const INPUT_HELD_MS = 20; // an ESC that nothing follows within this time is a key by itself
const INPUT_ANSWER_MS = 1_000; // an answer of the terminal may come in pieces
const PASTE_MS = 5_000; // of silence inside a paste: its end has got lost, and no key may be swallowed for ever

const nothing = new Uint8Array();

const makeOverlayInput = (
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
      return isAnswerHeldInOverlayKeys(state) ? INPUT_ANSWER_MS : INPUT_HELD_MS;
    },
    flush: () => {
      if (state.isInPaste) {
        if (performance.now() - takenAt >= PASTE_MS) state = noOverlayKeys;
        return;
      }
      if (state.held.length === 0) return;
      if (isAnswerHeldInOverlayKeys(state) && !overlay.isOpen()) toChild(state.held);
      if (overlay.isOpen()) handle(flushOverlayKeys(state));
      else state = { ...state, held: nothing };
    },
  };
};

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
  const { hotkey } = session.values;
  const oldMouse = mouseModes.some(ledger.isSet) && !newMouseModes.some(ledger.isSet);
  return {
    hotkey: hotkey === 'none' ? undefined : hotkey,
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

export interface KeysListener extends SinkListener {
  /** the hotkey, where there is no overlay to be opened */
  onHotkey: () => void;
  /** gets the keys while it is open; the hotkey opens it and closes it */
  overlay?: Pick<Overlay, 'canOpen' | 'isOpen' | 'open' | 'close' | 'onKey'> | undefined;
  /** the hotkey and then `c`; undefined where that means nothing, and `c` is the child's */
  onCompactKey?: (() => void) | undefined;
  onAnswer: (text: string) => void;
}
