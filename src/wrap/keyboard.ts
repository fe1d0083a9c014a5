import type { Millis } from '../core/reading.js';
import { overlayKeyOf } from '../core/overlay-keys.js';
import {
  elementsIn,
  flushElements,
  isAnswerBegun,
  isPressed,
  isTyped,
  keyOf,
  startInput,
  type InputElement,
} from '../core/terminal-input.js';
import { hasFooter } from '../terminal/filter/grid.js';
import { isAnswerHeld, readInput, type InputContext, type InputPart } from '../terminal/input.js';
import type { Overlay } from './overlay.js';
import { type Stage, survive } from './terminal-session.js';
import type { KeyHold } from './typing-steps.js';

/** The hotkey, and what a key means right after it. */
export interface HotkeyPress {
  /** the hotkey itself */
  readonly press: (element: InputElement) => void;
  /** true if these keys are the rest of a chord of ours, which is then done */
  readonly take: (elements: readonly InputElement[]) => boolean;
  /** another key has been pressed, so that the next press of the hotkey is not its second */
  readonly noteKey: () => void;
}

const TWICE_MS = 500; // the hotkey pressed again within this time is meant for the child
const CHORD_MS = 1_000; // a `c` within this time after the hotkey is ours

const isCompactKey = ({ kind, text }: InputElement): boolean => {
  if (kind !== 'text' && kind !== 'key') return false;
  const { name, modifiers, isRelease } = keyOf(text);
  return name === 'c' && modifiers === 0 && !isRelease;
};

const makeHotkeyPress = (
  { overlay, onHotkey, onCompactKey, onTyped }: KeysListener,
  forward: KeySink['forward'],
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
  return {
    press: (element) => {
      const isSecond = performance.now() - lastHotkey < TWICE_MS;
      lastHotkey = isSecond ? -Infinity : performance.now();
      const isTaken = isForOverlay();
      chordAt = isTaken ? -Infinity : lastHotkey;
      if (isSecond) forward([element]);
      else onTyped(); // a key like any other, for whoever waits until the user is quiet
      if (!isTaken) onHotkey(); // the second press takes back what the first one did
    },
    noteKey: () => {
      lastHotkey = -Infinity;
    },
    take: (elements) => {
      const [only, ...others] = elements;
      const isChord = performance.now() - chordAt < CHORD_MS && only !== undefined && others.length === 0;
      if (elements.some(isPressed)) chordAt = -Infinity;
      if (!onCompactKey || !isChord || !isCompactKey(only)) return false;
      onHotkey(); // takes back what the first key did
      onCompactKey();
      return true;
    },
  };
};

// Bytes for the child, the user's and ours, in one order.

export interface KeySink {
  /** what the user has typed, and what the terminal answers to the child */
  readonly forward: (elements: readonly InputElement[]) => void;
  /** bytes of ours; the recording shows them among the keys */
  readonly type: (bytes: Uint8Array) => void;
  /** keeps the user's keys back until they are released; a hold that is not released yet gives way to the new one */
  readonly hold: () => KeyHold;
  /** how often the user has typed so far, what is held included */
  readonly typed: () => number;
  /** when Enter went to the child last, by the clock on the wall; undefined while never */
  readonly enteredAt: () => Millis | undefined;
}

export interface SinkListener {
  /** what went to the child, but for what is ours */
  readonly onForward: (elements: readonly InputElement[]) => void;
  /** keys are among them */
  readonly onTyped: () => void;
}

const ESC = '\x1b';
const ESCAPE_MS = 50; // before the next key, or an agent takes both for one key with Alt

const textOf = (elements: readonly InputElement[]): string => elements.map(({ text }) => text).join('');

/** A line break of a paste in the terminal's own mode is one, too. */
const isEnter = ({ kind, text }: InputElement): boolean =>
  text.includes('\r') || (kind === 'key' && keyOf(text).name === 'enter');

export const makeKeySink = (
  stage: Pick<Stage, 'child' | 'session'>,
  { onForward, onTyped }: SinkListener,
): KeySink => {
  let enteredAt: Millis | undefined;
  let held: (readonly InputElement[])[] | undefined;
  let releasing: NodeJS.Timeout | undefined;
  let typed = 0;

  const write = (bytes: Uint8Array): void => {
    stage.child?.write(bytes);
    stage.session.recording?.input(bytes);
  };
  const send = (elements: readonly InputElement[]): void => {
    write(Buffer.from(textOf(elements), 'latin1'));
    if (elements.some(isEnter)) enteredAt = Date.now();
    onForward(elements);
    if (elements.some(isTyped)) onTyped();
  };
  /** Read by read, as they were typed: what came in one read is one write, and a lone ESC stays one. */
  const release = (waiting: (readonly InputElement[])[]): void => {
    if (held !== waiting) return;
    for (let elements = waiting.shift(); elements; elements = waiting.shift()) {
      send(elements);
      if (!elements.at(-1)?.text.endsWith(ESC) || waiting.length === 0) continue;
      releasing = setTimeout(() => release(waiting), ESCAPE_MS);
      return;
    }
    held = undefined;
  };
  return {
    type: write,
    forward: (elements) => {
      if (elements.every(({ text }) => text === '')) return;
      const isKey = elements.some(isTyped);
      if (isKey) typed += 1;
      // what the terminal answers to the child does not wait: some agents stand still for it
      if (held && isKey) held.push(elements);
      else send(elements);
    },
    hold: () => {
      clearTimeout(releasing);
      const waiting = held?.splice(0) ?? [];
      held = waiting;
      return {
        waiting: () => waiting.length,
        releaseOne: (behind) => {
          const [next] = held === waiting ? waiting.splice(behind, 1) : [];
          if (next) send(next);
        },
        release: () => release(waiting),
      };
    },
    typed: () => typed,
    enteredAt: () => enteredAt,
  };
};

const LEFT_MS = 1_000; // for reports of the mouse that were on their way when the overlay was closed, which had asked for them
const CURSOR_REPORT = /^\x1b\[\d+;\d+R$/;

const mouseModes = [9, 1000, 1001, 1002, 1003];
const newMouseModes = [1005, 1006, 1015, 1016];

/** What is the overlay's while it is open, and for a moment after that. */
const makeOverlayInput = ({ overlay }: KeysListener, { filter: { ledger } }: Stage) => {
  let isInPaste = false; // it began while the overlay was open: the rest of it is nobody's
  let openAt = -Infinity;

  const isLeftOver = ({ kind, text }: InputElement): boolean =>
    kind === 'mouse' &&
    text.startsWith('\x1b[<') &&
    performance.now() - openAt < LEFT_MS &&
    !mouseModes.some(ledger.isSet);
  /** Gives it the characters up to the one that closes it; returns the others. */
  const press = (keys: Pick<Overlay, 'isOpen' | 'onKey'>, kind: 'text' | 'key' | 'mouse', text: string) => {
    const each = kind === 'text' ? 1 : text.length;
    let at = 0;
    for (; at < text.length && keys.isOpen(); at += each) {
      const key = overlayKeyOf({ kind, text: text.slice(at, at + each) });
      if (key) keys.onKey(key);
    }
    return text.slice(at);
  };
  const isWanted = (): boolean => overlay?.isOpen() === true || isInPaste;
  return {
    isWanted,
    isInPaste: () => isInPaste,
    endPaste: () => {
      isInPaste = false;
    },
    /** What of an element is the child's. `awaitsCursor`: it has asked where its cursor is, so a report of that is no key. */
    forChild: (element: InputElement, awaitsCursor: boolean): InputElement | undefined => {
      const { kind, text } = element;
      if (!isWanted()) return isLeftOver(element) ? undefined : element;
      openAt = overlay?.isOpen() ? performance.now() : openAt;
      switch (kind) {
        case 'answer':
          return awaitsCursor || !CURSOR_REPORT.test(text) ? element : undefined;
        case 'focus':
          return element;
        case 'paste-start':
        case 'paste':
        case 'paste-end':
          isInPaste = kind !== 'paste-end';
          return undefined;
        default: {
          const rest = overlay ? press(overlay, kind, text) : text;
          return rest === '' ? undefined : { kind, text: rest };
        }
      }
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
const STRING_MS = 1_000; // for the rest of an answer that no key looks like
const QUIET_MS = 1_000; // of silence inside a paste: a hotkey that comes then is no part of it
const PASTE_MS = 5_000; // of silence inside a paste that is nobody's: its end has got lost, and no key may be swallowed for ever
const MOST_UNREAD = 4 * 1024 * 1024; // bytes that the child has not read yet; with more the terminal has to keep what is typed

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

/** Does what the parts of the input ask for. What one read of the terminal brings for the child is one write. */
const makePartHandler = (stage: Stage, listener: KeysListener, { forward }: KeySink) => {
  const hotkey = makeHotkeyPress(listener, forward);
  const covering = makeOverlayInput(listener, stage);
  let ready: InputElement[] = [];

  const send = (): void => {
    const elements = ready;
    ready = [];
    if (elements.length > 0 && !hotkey.take(elements)) forward(elements);
  };
  /** Only the hotkey, and answers that the child's own have to wait for, come between. */
  const handle = (part: InputPart, awaitsCursor: boolean): void => {
    if (part.type === 'hotkey' || (part.type === 'answer' && listener.overlay?.isOpen())) send();
    if (part.type === 'answer') return listener.onAnswer(part.text);
    if (part.type === 'hotkey') {
      covering.endPaste();
      return hotkey.press(part.element);
    }
    if (isPressed(part.element)) hotkey.noteKey();
    const element = covering.forChild(part.element, awaitsCursor);
    if (element) ready.push(element);
  };
  return { handle, send, covering };
};

export const makeKeys = (stage: Stage, listener: KeysListener): Keys => {
  let state = startInput;
  let timer: NodeJS.Timeout | undefined;
  let readAt = performance.now();
  const sink = makeKeySink(stage, listener);
  const { handle, send, covering } = makePartHandler(stage, listener, sink);
  const { questions } = stage.filter.ledger;

  const waitMs = (): number | undefined => {
    if (state.held === '') return covering.isInPaste() ? PASTE_MS : undefined;
    if (isAnswerBegun(state.held)) return STRING_MS;
    const isSought = questions.isUnanswered() || stage.standIn !== undefined;
    return isSought && isAnswerHeld(state, questions.isAwaited()) ? ANSWER_MS : HELD_MS;
  };
  const wait = (): void => {
    const ms = waitMs();
    if (ms !== undefined) timer = setTimeout(flush, ms);
  };
  const flush = (): void => {
    const { elements, state: after } = flushElements(state);
    if (elements.length === 0) covering.endPaste();
    state = elements.length === 0 ? startInput : after;
    for (const element of elements) handle({ type: 'forward', element }, questions.awaits('R'));
    send();
    wait();
  };
  const read = (text: string): void => {
    const awaitsCursor = questions.awaits('R');
    const isQuiet = performance.now() - readAt > QUIET_MS;
    readAt = performance.now();
    const { held } = state;
    const { parts, state: after } = readInput(state, text, contextOf(stage, isQuiet));
    state = after;
    for (const part of parts) handle(part, awaitsCursor);
    // held as a whole, but not twice: keys that come without a pause must not wait for ever
    if (state.held === '' || held !== '') send();
    wait();
  };
  return {
    ...sink,
    fromUser: (bytes) => {
      clearTimeout(timer);
      const text = Buffer.from(bytes).toString('latin1');
      if (stage.verbatim && !questions.isUnanswered() && state.held === '') sink.forward(elementsIn(text));
      else if (!survive(stage, 'reading keys', () => read(text)) && !covering.isWanted())
        sink.forward([{ kind: 'text', text }]);
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
