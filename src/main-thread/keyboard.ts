import { directAction, firstAction, toOverviewKey } from '../core/overview-keys.js';
import {
  splitElements,
  flushElements,
  isPressed,
  isTyped,
  parseKey,
  startInput,
  type InputElement,
  type InputState,
} from '../core/terminal-input.js';
import { actionOn, readInput, type InputPart } from '../terminal/input.js';
import { contextOf, holdMs, isMouseAsked, isRestSure } from './input-context.js';
import { makeEnterHold } from './enter-hold.js';
import type { Footer } from './footer.js';
import type { LateKeys } from './late-keys.js';
import type { Overview } from './overview.js';
import type { Protection } from './protection.js';
import type { Emit } from './terminal-event.js';
import { type TerminalSession, runGuarded } from './terminal-session.js';
import type { KeyHold } from '../session/ports.js';

// Input from the terminal: recognizes the hotkey and answers to the wrapper's queries, and sends the rest to the overview or the child.

/** Handles the hotkey and the key pressed right after it. */
export interface HotkeyHandler {
  /** the hotkey was pressed */
  readonly press: (element: InputElement) => void;
  /** true if these keys complete a chord, hotkey + `c`, `u` or `b`, or a way out, which is then carried out */
  readonly takeChord: (elements: readonly InputElement[]) => boolean;
  /** true while the next key may complete the chord */
  readonly isChordOpen: () => boolean;
  /** another key was pressed, so the next hotkey is not a double press */
  readonly noteKey: () => void;
}

const TWICE_MS = 500; // a second hotkey within this time is sent to the child
const CHORD_MS = 1_000; // for the key after the hotkey

const makeHotkeyHandler = (
  { session: { agent } }: TerminalSession,
  { overview, protection, emit }: KeyboardParts,
  forward: ChildInput['forward'],
): HotkeyHandler => {
  let lastHotkey = -Infinity;
  let chordAt = -Infinity; // set only where no overview opens; an open overview gets the key itself
  let pressedAt = -Infinity;

  /** Opens or closes the overview; false where there is no overview that can be opened. */
  const isForOverview = (): boolean => {
    if (overview.isOpen()) overview.close();
    else if (overview.canOpen()) overview.open();
    else return false;
    return true;
  };
  /** Also where the overview turned out not to open after the press. */
  const isChordOpen = (): boolean =>
    performance.now() - (overview.isOpen() || overview.canOpen() ? chordAt : pressedAt) < CHORD_MS;
  return {
    press: (element) => {
      const isSecond = performance.now() - lastHotkey < TWICE_MS;
      lastHotkey = isSecond ? -Infinity : performance.now();
      // nothing has come of the first press yet, so the user presses again
      if (overview.isUnseen() && !isSecond) return emit({ type: 'typed' });
      const isTaken = isForOverview();
      chordAt = isTaken ? -Infinity : lastHotkey;
      pressedAt = lastHotkey;
      if (isSecond) forward([element]);
      else emit({ type: 'typed' }); // counts as a key for code that waits until the user stops typing
      if (!isTaken) emit({ type: 'hotkey-unused' }); // the second press undoes the first
    },
    isChordOpen,
    noteKey: () => {
      lastHotkey = -Infinity;
    },
    takeChord: (elements) => {
      const [only, ...others] = elements;
      const isChord = isChordOpen() && only !== undefined && others.length === 0;
      if (elements.some(isPressed)) [chordAt, pressedAt] = [-Infinity, -Infinity];
      if (isChord && toOverviewKey(only) === 'l') {
        overview.late?.noteLost(); // the footer says why there is no choice, and the agent is not meant
        return true;
      }
      const first = isChord ? firstAction(only) : undefined;
      if (first === 'close') return protection.onLeave();
      const action = directAction(first);
      if (!agent.recipe || action === undefined) return false; // the key goes to the child
      emit({ type: 'hotkey-unused' }); // undoes the effect of the hotkey
      emit({ type: 'direct-action', action });
      return true;
    },
  };
};

// The bytes written to the child, from the user and from the wrapper, in one order.

export interface ChildInput {
  /** sends what the user has typed and what the terminal answers to the child */
  readonly forward: (elements: readonly InputElement[]) => void;
  /** as `forward`, for printable ASCII of the user */
  readonly forwardText: (bytes: Uint8Array) => void;
  /** sends bytes of the wrapper; a recording contains them among the keys */
  readonly type: (bytes: Uint8Array) => void;
  /** holds the user's keys until they are released; a new hold replaces one that is not released yet */
  readonly hold: () => HeldKeys;
}

/** Held keys in the thread that holds them. */
export interface HeldKeys extends KeyHold {
  /** drops them and ends the hold */
  readonly drop: () => void;
}

const ESC = '\x1b';
const ESCAPE_MS = 50; // between ESC and the next key, or an agent takes both for one key with Alt

const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');

const bytesOf = (elements: readonly InputElement[]): Uint8Array =>
  Buffer.from(elements.map(({ text }) => text).join(''), 'latin1');

/** A line break inside a paste counts as Enter too, because it is pasted as `\r`. */
const isEnter = ({ kind, text }: InputElement): boolean =>
  text.includes('\r') || (kind === 'key' && parseKey(text).name === 'enter');

type InputTerminal = Pick<TerminalSession, 'child' | 'counters' | 'session'>;

const makeSender = (terminal: InputTerminal, emit: Emit) => {
  const write = (bytes: Uint8Array): void => {
    terminal.child?.write(bytes);
    terminal.session.recording?.input(bytes);
  };
  return {
    write,
    send: (elements: readonly InputElement[]): void => {
      write(bytesOf(elements));
      if (elements.some(isEnter)) emit({ type: 'entered' });
      emit({ type: 'input-forwarded', elements });
      if (elements.some(isTyped)) emit({ type: 'typed' });
    },
  };
};

export const makeChildInput = (terminal: InputTerminal, emit: Emit): ChildInput => {
  const { counters } = terminal;
  const { write, send } = makeSender(terminal, emit);
  let held: (readonly InputElement[])[] | undefined;
  let releasing: NodeJS.Timeout | undefined;

  const noteHeld = (): void => counters.set('held', held?.length ?? 0);
  const handleKeys = (elements: readonly InputElement[]): void => {
    counters.add('typed', 1);
    if (held) counters.set('held', held.push(elements));
    else send(elements);
  };
  /** Sends the held reads one write each, as they were typed, so that a lone ESC stays alone. */
  const release = (waiting: NonNullable<typeof held>): void => {
    if (held !== waiting) return;
    for (let elements = waiting.shift(); elements; elements = waiting.shift()) {
      send(elements);
      if (!elements.at(-1)?.text.endsWith(ESC) || waiting.length === 0) continue;
      releasing = setTimeout(() => release(waiting), ESCAPE_MS);
      return;
    }
    held = undefined;
    noteHeld();
  };
  return {
    type: write,
    forward: (elements) => {
      if (elements.every(({ text }) => text === '')) return;
      if (elements.some(isTyped)) handleKeys(elements);
      else send(elements); // the terminal's answers to the child are not held: some agents wait for them
    },
    forwardText: (bytes) => {
      if (held) return handleKeys([{ kind: 'text', text: latin1(bytes) }]);
      counters.add('typed', 1);
      write(bytes);
      emit({ type: 'typed' });
    },
    hold: () => {
      clearTimeout(releasing);
      const waiting = held?.splice(0) ?? [];
      held = waiting;
      noteHeld();
      return {
        waitingCount: () => waiting.length,
        releaseOne: (behind) => {
          const [next] = held === waiting ? waiting.splice(behind, 1) : [];
          noteHeld();
          if (next) send(next);
        },
        release: () => release(waiting),
        drop: () => {
          waiting.length = 0;
          release(waiting);
        },
      };
    },
  };
};

const LEFT_MS = 1_000; // mouse reports may still arrive for so long after the overview, which requested them, was closed
const MODIFIED_F3 = /^\x1b\[1;\d+R$/; // or a cursor report for row 1

/** What is left of an element without the keys at its beginning that were meant for the overview. */
const withoutLate = (element: InputElement, late: LateKeys | undefined): InputElement | undefined => {
  const { kind, text } = element;
  if (!late?.isOpen() || (kind !== 'text' && kind !== 'key') || !isPressed(element)) return element;
  const each = kind === 'text' ? 1 : text.length;
  let at = 0;
  while (at < text.length && late.takes(toOverviewKey({ kind, text: text.slice(at, at + each) }))) at += each;
  return at === text.length ? undefined : { kind, text: text.slice(at) };
};

/** Routes input to the overview while it is open, and drops its late mouse reports after it was closed. */
const makeOverviewInput = (
  { filter: { modeTracker } }: TerminalSession,
  { overview }: Pick<KeyboardParts, 'overview'>,
) => {
  let paste: 'dropped' | 'child' | undefined; // what becomes of one that began while the overview was open, to its end
  let openAt = -Infinity;

  const isLeftOver = ({ kind, text }: InputElement): boolean =>
    kind === 'mouse' &&
    text.startsWith('\x1b[<') &&
    performance.now() - openAt < LEFT_MS &&
    !isMouseAsked(modeTracker);
  /** Passes the characters to the overview until one of them closes it; returns the remaining ones. */
  const press = (keys: Pick<Overview, 'isOpen' | 'onKey'>, kind: 'text' | 'key' | 'mouse', text: string) => {
    const each = kind === 'text' ? 1 : text.length;
    let at = 0;
    for (; at < text.length && keys.isOpen(); at += each) {
      const key = toOverviewKey({ kind, text: text.slice(at, at + each) });
      if (key) keys.onKey(key);
    }
    return text.slice(at);
  };
  const isWanted = (): boolean => overview.isOpen() || paste !== undefined;
  return {
    isWanted,
    isLateKeyExpected: () => overview.late?.isOpen() === true,
    isInPaste: () => paste !== undefined,
    endPaste: () => {
      paste = undefined;
    },
    /**
     * The part of an element that goes to the child. `awaitsCursor`: the child has asked for the cursor position, so a report of it is no
     * key.
     */
    forChild: (element: InputElement, awaitsCursor: boolean): InputElement | undefined => {
      const { kind, text } = element;
      if (!isWanted()) return isLeftOver(element) ? undefined : withoutLate(element, overview.late);
      openAt = overview.isOpen() ? performance.now() : openAt;
      switch (kind) {
        case 'answer':
          return awaitsCursor || !MODIFIED_F3.test(text) ? element : undefined;
        case 'focus':
          return element;
        case 'paste-start':
        case 'paste':
        case 'paste-end': {
          const to = (paste ??= overview.isUnseen() ? 'child' : 'dropped');
          if (kind === 'paste-end') paste = undefined;
          return to === 'child' ? element : undefined;
        }
        default: {
          const rest = press(overview, kind, text);
          return rest === '' ? undefined : withoutLate({ kind, text: rest }, overview.late);
        }
      }
    },
  };
};

/** The user's input on its way to the child. */
export interface Keyboard extends ChildInput {
  fromUser: (bytes: Uint8Array) => void;
  stop: () => void;
}

const QUIET_MS = 1_000; // after so much silence inside a paste, a hotkey does not belong to the paste
const PASTE_MS = 5_000; // after so much silence a dropped paste counts as ended: its end marker was lost, and keys must not be dropped forever
const MOST_UNREAD = 4 * 1024 * 1024; // bytes that the child has not read yet; above this the wrapper stops reading the terminal

const MAX_TYPED = 64; // bytes: a longer read is a paste

/** Printable ASCII now can only be keys, so it needs no parsing. */
const isGround = ({ held, flushed, inside }: InputState): boolean =>
  held === '' && flushed === '' && inside === undefined;

const isPrintable = (byte: number): boolean => byte >= 0x20 && byte < 0x7f;

const isPlainText = (bytes: Uint8Array): boolean => bytes.length <= MAX_TYPED && bytes.every(isPrintable);

/** Handles the parsed parts of the input. Input of one read that goes to the child is one write. */
const makePartHandler = (terminal: TerminalSession, parts: KeyboardParts, { forward }: ChildInput) => {
  const { footer, overview, emit } = parts;
  const hotkey = makeHotkeyHandler(terminal, parts, forward);
  const overviewInput = makeOverviewInput(terminal, parts);
  let ready: InputElement[] = [];

  const enterHold = makeEnterHold(terminal, { ...parts, forward });

  let isNotNow = false; // until the same key is released, which some keyboard protocols report

  /** The user's "not now" to a countdown that can be seen is not the child's key. */
  const takeNotNow = (element: InputElement): boolean => {
    const action = actionOn(element, terminal.session.values.notNow);
    if (action === undefined || overviewInput.isWanted()) return false;
    if (action === 'release') return isNotNow;
    isNotNow = footer.countsDown() && !terminal.overviewOutput;
    if (isNotNow) emit({ type: 'not-now' });
    return isNotNow;
  };
  const send = (): void => {
    const elements = ready;
    ready = [];
    if (elements.length > 0 && !hotkey.takeChord(elements)) forward(elements);
  };
  /** Sends the elements collected so far before it handles a hotkey, or an answer while the overview is open, to keep the order. */
  const handle = (part: InputPart, awaitsCursor: boolean, isLone = false): void => {
    if (part.type === 'hotkey' || (part.type === 'answer' && overview.isOpen())) send();
    if (part.type === 'answer') return part.accept(part.text);
    if (part.type === 'hotkey') {
      overviewInput.endPaste();
      enterHold.settle();
      return hotkey.press(part.element);
    }
    if (isPressed(part.element)) hotkey.noteKey();
    if (takeNotNow(part.element) || enterHold.take(part.element, isLone)) return;
    const element = overviewInput.forChild(part.element, awaitsCursor);
    if (element) ready.push(element);
  };
  /** the next key may mean something to ctxwrap, whatever it is */
  const isKeyAwaited = (): boolean =>
    overviewInput.isWanted() ||
    overviewInput.isLateKeyExpected() ||
    enterHold.isOpen() ||
    hotkey.isChordOpen();
  return { handle, send, hotkey, overviewInput, enterHold, isKeyAwaited };
};

/** Calls back after a time without input. On a busy machine input may be there when the timer fires: it is read before an immediate runs. */
const makeSilenceTimer = (onSilence: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  let waits = 0;
  const cancel = (): void => {
    waits += 1;
    clearTimeout(timer);
  };
  return {
    cancel,
    wait: (ms: number): void => {
      cancel();
      const own = waits;
      timer = setTimeout(() => setImmediate(() => own === waits && onSilence()), ms);
    },
  };
};

/** What it is built from. */
export interface KeyboardParts {
  readonly footer: Pick<Footer, 'countsDown' | 'enter'>;
  /** receives the keys while it is open; the hotkey opens and closes it */
  readonly overview: Pick<Overview, 'canOpen' | 'isOpen' | 'isUnseen' | 'open' | 'close' | 'onKey' | 'late'>;
  readonly protection: Pick<Protection, 'onLeave'>;
  readonly emit: Emit;
}

export const makeKeyboard = (terminal: TerminalSession, parts: KeyboardParts): Keyboard => {
  let state = startInput;
  let readAt = performance.now();
  const silence = makeSilenceTimer(() => flush());
  const childInput = makeChildInput(terminal, parts.emit);
  const handler = makePartHandler(terminal, parts, childInput);
  const { handle, send, hotkey, overviewInput, enterHold, isKeyAwaited } = handler;
  const { modeTracker } = terminal.filter;
  const { queries } = modeTracker;

  const wait = (): void => {
    const { held, inside } = state;
    if (isRestSure(state, modeTracker)) return;
    if (held !== '' || inside === 'dropped answer') silence.wait(holdMs(state, modeTracker));
    else if (overviewInput.isInPaste()) silence.wait(PASTE_MS);
  };
  const flush = (): void => {
    const { elements, state: after } = flushElements(state);
    if (elements.length === 0) overviewInput.endPaste();
    state = elements.length === 0 ? startInput : after;
    for (const element of elements) handle({ type: 'forward', element }, queries.isChildWaiting('cursor'));
    send();
    wait();
  };
  const read = (text: string): void => {
    const awaitsCursor = queries.isChildWaiting('cursor');
    const isQuiet = performance.now() - readAt > QUIET_MS;
    readAt = performance.now();
    const { held } = state;
    const { parts, state: after } = readInput(state, text, contextOf(terminal, isQuiet));
    state = after;
    for (const part of parts) handle(part, awaitsCursor, parts.length === 1);
    // input whose end is incomplete waits as a whole, but only once: keys that arrive without a pause must not wait forever
    if (state.held === '' || held !== '' || isRestSure(state, modeTracker)) send();
    wait();
  };
  const forwardText = (bytes: Uint8Array): void => {
    hotkey.noteKey();
    readAt = performance.now();
    childInput.forwardText(bytes);
  };
  return {
    ...childInput,
    fromUser: (bytes) => {
      if (isPlainText(bytes) && isGround(state) && !isKeyAwaited()) return forwardText(bytes);
      silence.cancel();
      const text = latin1(bytes);
      if (terminal.isPassthrough) enterHold.settle();
      if (terminal.isPassthrough && !queries.hasOpenOwnQuery() && state.held === '')
        childInput.forward(splitElements(text));
      else if (!runGuarded(terminal, 'reading keys', () => read(text)) && !overviewInput.isWanted())
        childInput.forward([{ kind: 'text', text }]);
      if ((terminal.child?.pending() ?? 0) > MOST_UNREAD) terminal.tty.pauseInput();
    },
    stop: () => {
      silence.cancel();
      enterHold.stop();
    },
  };
};
