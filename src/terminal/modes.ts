/*
 * Operating system commands (OSC) that leave something behind: titles, hyperlinks, progress bars, agent states, colours (xterm ctlseqs;
 * OSC 8, 9;4 and 7501 as in facts/).
 */

const STRING_END = '\x1b\\';
const NO_LINK = `\x1b]8;;${STRING_END}`;

// Dynamic colours that OSC 10–19 set and 110–119 reset; 4 and 104 are the palette (xterm ctlseqs).
const colourReset = (number: number): string | undefined => {
  if (number === 4) return `\x1b]104${STRING_END}`;
  return number >= 10 && number <= 19 ? `\x1b]${number + 100}${STRING_END}` : undefined;
};

/** An operating system command: its bytes as Latin-1, of a long one the first; `isWhole`: these are all of them. */
export interface LastingCommand {
  readonly text: string;
  readonly isWhole: boolean;
}

const NOT_REPEATABLE = '\0'; // no text of a command holds it

/** Text that brings nothing to life when it is sent to the terminal inside a string. */
export const isHarmless = (text: string): boolean => !/[\x00-\x1f\x7f-\x9f]/.test(text);

/** OSC 8: parameters and address as characters, where they are known whole and can be sent again byte for byte. */
const linkCommand = (rest: string, isWhole: boolean): readonly [string, string] | undefined => {
  if (!isWhole) return ['link', NOT_REPEATABLE];
  const beforeAddress = rest.indexOf(';');
  if (beforeAddress < 0) return undefined;
  if (beforeAddress === rest.length - 1) return ['link', '']; // without an address it closes the one before
  const bytes = Buffer.from(rest, 'latin1');
  const text = bytes.toString();
  return ['link', isHarmless(text) && Buffer.from(text).equals(bytes) ? text : NOT_REPEATABLE];
};

/** Which of the lasting commands this is, with the text that counts, or undefined for one that leaves nothing behind. */
const commandOf = ({ text, isWhole }: LastingCommand): readonly [string, string] | undefined => {
  const [, digits = '', rest = ''] = /^(\d+);?([^]*)$/.exec(text) ?? [];
  const code = digits === '' ? -1 : Number(digits);
  if (code >= 0 && code <= 2) return ['title', rest];
  if (code === 8) return linkCommand(rest, isWhole);
  if (code === 9 && rest.startsWith('4;')) return ['progress', rest.startsWith('4;0') ? '' : rest];
  if (code === 7501 && rest === '?') return undefined;
  if (code === 7501) return ['agent', rest.includes('state=clear') ? '' : rest];
  if (code === 104 || code === 4) return ['4', code === 4 && !rest.endsWith('?') ? rest : ''];
  if (code >= 10 && code <= 19) return rest === '?' ? undefined : [`${code}`, rest];
  return code >= 110 && code <= 119 ? [`${code - 100}`, ''] : undefined;
};

/** What closes the hyperlink that is open, before something of ours is drawn, and opens it again. Empty where none is. */
export interface LinkPause {
  readonly close: string;
  readonly reopen: string;
}

/** `text` as `commandOf` has it. A link that cannot be repeated stays closed. */
const linkPause = (text: string | undefined): LinkPause => {
  if (text === undefined) return { close: '', reopen: '' };
  return { close: NO_LINK, reopen: text === NOT_REPEATABLE ? '' : `\x1b]8;${text}${STRING_END}` };
};

const commandRestore = (name: string, text: string, died: boolean): string => {
  if (name === 'link') return NO_LINK;
  if (name === 'progress') return `\x1b]9;4;0${STRING_END}`;
  if (name === 'title') return died ? `\x1b]0;${STRING_END}` : '';
  if (name === 'agent')
    return died ? `\x1b]7501;state=clear${/:app=[\w.-]+/.exec(text)?.[0] ?? ''}${STRING_END}` : '';
  return colourReset(Number.parseInt(name, 10)) ?? '';
};

/** Sequences in three parts, because the keyboard stack and the screen buffer have an order (facts/terminals.md §4). */
export interface LedgerRestore {
  readonly inBuffer: string;
  readonly modes: string;
  /** something was still on: the child did not clean up */
  readonly dirty: boolean;
}

// DEC private modes that are on in a fresh terminal: autorepeat, autowrap, cursor
const onByDefault = new Set([7, 8, 25]);
const SYNCHRONIZED = 2026;
const CURSOR = 25;
/** What to send first when nobody could be told of the last change. */
export const endOfFrame = `\x1b[?${SYNCHRONIZED}l\x1b[?${CURSOR}h`;

/** Everything that is on now and was not in a fresh terminal. Changed in place by the ledger. */
export interface LeftOn {
  modes: Map<number, boolean>;
  ansi: Set<number>;
  stack: { main: readonly number[]; alternate: readonly number[] };
  keyboardFlags: number;
  modifiedKeys: Map<number, number>;
  cursorStyle: number;
  keypad: boolean;
  commands: Map<string, string>;
  changed: boolean;
}

const nothingOn = (): LeftOn => ({
  modes: new Map(),
  ansi: new Set(),
  stack: { main: [], alternate: [] },
  keyboardFlags: 0,
  modifiedKeys: new Map(),
  cursorStyle: 0,
  keypad: false,
  commands: new Map(),
  changed: true,
});

const modesRestore = ({ modes }: LeftOn): string =>
  [...modes]
    .filter(([mode, on]) => mode !== SYNCHRONIZED && on !== onByDefault.has(mode))
    .map(([mode, on]) => (on ? `\x1b[?${mode}l` : onByDefault.has(mode) ? `\x1b[?${mode}h` : ''))
    .join('');

const keysRestore = (state: LeftOn): string =>
  [...state.modifiedKeys.keys()].map((resource) => `\x1b[>${resource}m`).join('') +
  (state.keyboardFlags === 0 ? '' : '\x1b[=0;1u');

/** A child that is not told of a stop expects its modes to be as it left them. */
const reapplySequence = (state: LeftOn, alternate: boolean): string => {
  const modes = [...state.modes].filter(
    ([mode, on]) => mode !== SYNCHRONIZED && on !== onByDefault.has(mode),
  );
  const keys = [...state.modifiedKeys].map(([resource, value]) => `\x1b[>${resource};${value}m`).join('');
  const flags = state.keyboardFlags === 0 ? '' : `\x1b[=${state.keyboardFlags};1u`;
  return [
    ...state.stack[alternate ? 'alternate' : 'main'].map((pushed) => `\x1b[>${pushed}u`),
    flags + keys,
    ...modes.map(([mode, on]) => `\x1b[?${mode}${on ? 'h' : 'l'}`),
    ...[...state.ansi].map((mode) => `\x1b[${mode}h`),
    state.keypad ? '\x1b=' : '',
    state.cursorStyle === 0 ? '' : `\x1b[${state.cursorStyle} q`,
  ].join('');
};

const restoreOf = (state: LeftOn, died: boolean): LedgerRestore => {
  const commands = [...state.commands].map(([name, text]) => commandRestore(name, text, died)).join('');
  const ansi = [...state.ansi].map((mode) => `\x1b[${mode}l`).join('');
  const keypad = state.keypad ? '\x1b>' : '';
  const style = state.cursorStyle !== 0 ? '\x1b[0 q' : '';
  const modes = modesRestore(state);
  const synchronized = state.modes.get(SYNCHRONIZED) === true ? `\x1b[?${SYNCHRONIZED}l` : '';
  const popped = state.stack.alternate.length > 0 ? `\x1b[<${state.stack.alternate.length}u` : '';
  const main = state.stack.main.length > 0 ? `\x1b[<${state.stack.main.length}u` : '';
  const keys = keysRestore(state);
  const dirty = synchronized + popped + main + keys + modes + keypad !== '';
  return {
    inBuffer: synchronized + popped,
    modes: main + keys + modes + ansi + keypad + style + commands,
    dirty,
  };
};

/** Who waits for the terminal's next answer of a kind: terminals answer in order, and the child asks the same things. */
export interface Questions {
  /** `final` of the answer: `R` for CPR, `c` for DA2, `?c` for DA1; `7501` for agent states */
  ask: (final: string, ours: boolean) => void;
  /** true if the next answer of this kind is to a question of ours, which is then answered; `couldBeKey`: a key writes the same bytes */
  take: (final: string, couldBeKey?: boolean) => boolean;
  /** the child still waits for an answer of this kind */
  awaits: (final: string) => boolean;
  /** the child has asked for one, however long ago, and nothing that was asked later is answered */
  isOpen: (final: string) => boolean;
  /** questions of ours whose answers may be on their way */
  open: () => number;
  /** an answer to us may be on its way over a slow line, in pieces */
  isAwaited: () => boolean;
  /** a question of ours has had no answer, however long ago it was asked */
  isUnanswered: () => boolean;
}

interface Question {
  readonly final: string;
  readonly ours: boolean;
  readonly askedAt: number;
}

const EXPIRY_MS = 2_000; // after that it is a key: Shift-F3 looks like the cursor's position in row 1
const SLOW_MS = 15_000; // for a line over which even the pieces of an answer come apart
// A terminal that never answers must not make the list grow.
const MAX_OPEN = 4096;
const MAX_OURS = 64;

export const makeQuestions = (now: () => number = () => performance.now()): Questions => {
  const open: Question[] = [];
  const isFresh = ({ askedAt }: Question): boolean => now() - askedAt < EXPIRY_MS;
  /**
   * Whose the answer is: the oldest question's. One of ours that had no answer before the child asked has probably been lost; if it has
   * not, the child gets an answer too old instead of none, and we get the other.
   */
  const indexOf = (final: string, couldBeKey: boolean): number => {
    const isAsked = (question: Question): boolean =>
      question.final === final && (!couldBeKey || isFresh(question));
    const first = open.findIndex(isAsked);
    const oldest = open[first];
    if (!oldest?.ours) return first;
    const later = open.findIndex((question) => isAsked(question) && !question.ours);
    const isLost = later >= 0 && (open[later]?.askedAt ?? 0) - oldest.askedAt >= EXPIRY_MS;
    return isLost ? later : first;
  };
  return {
    ask: (final, ours) => {
      open.push({ final, ours, askedAt: now() });
      if (open.length > MAX_OPEN) open.shift();
      if (ours && open.filter((question) => question.ours).length > MAX_OURS)
        open.splice(
          open.findIndex((question) => question.ours),
          1,
        );
    },
    take: (final, couldBeKey = false) => {
      const index = indexOf(final, couldBeKey);
      const question = open[index];
      if (!question) return false;
      // a terminal answers in order: what was asked before and has no answer yet will not get one; but ours may only seem lost
      const before = open.splice(0, index + 1).filter(({ ours }) => ours && !question.ours);
      open.unshift(...before);
      return question.ours;
    },
    awaits: (final) =>
      open.some((question) => question.final === final && !question.ours && isFresh(question)),
    isOpen: (final) => open.some((question) => question.final === final && !question.ours),
    open: () => open.filter((question) => question.ours && isFresh(question)).length,
    isAwaited: () => open.some(({ ours, askedAt }) => ours && now() - askedAt < SLOW_MS),
    isUnanswered: () => open.some(({ ours }) => ours),
  };
};

/**
 * The modes that the child has turned on and not off again, so that a child that dies without cleaning up leaves the terminal as
 * the user's shell needs it. One value changed in place; the filter reports to it.
 */
export interface Ledger {
  privateMode: (mode: number, on: boolean) => void;
  ansiMode: (mode: number, on: boolean) => void;
  /** kitty keyboard protocol, `CSI > flags u`; each screen buffer has its own stack */
  pushKeyboard: (flags: number, alternate: boolean) => void;
  /** `CSI < n u` */
  popKeyboard: (count: number, alternate: boolean) => void;
  /** `CSI = flags ; mode u` */
  keyboardFlags: (flags: number) => void;
  /** XTMODKEYS `CSI > resource ; value m` */
  modifyKeys: (resource: number, value: number) => void;
  cursorStyle: (style: number) => void;
  keypad: (application: boolean) => void;
  /** an operating system command that has come to its end */
  command: (command: LastingCommand) => void;
  /** `softly`: DECSTR; else RIS */
  reset: (softly: boolean) => void;
  isSet: (mode: number) => boolean;
  /** `isSet` as it is now, for later */
  modesNow: () => (mode: number) => boolean;
  /** flags of the kitty keyboard protocol in this buffer */
  keyboardNow: (alternate: boolean) => number;
  /** DECSCUSR; 0 = the user's own */
  cursorStyleNow: () => number;
  /** whose the terminal's next answers are */
  readonly questions: Questions;
  /** how to interrupt the hyperlink (OSC 8) that is open, if one is */
  linkPause: () => LinkPause;
  /** true if what `restore` sends has changed since the last call, frames aside */
  takeChanged: () => boolean;
  /** turns everything on again, after a stop during which the shell had the terminal */
  reapply: (alternate: boolean) => string;
  /** what to send so that nothing stays on; `died`: the title and agent state are cleared too */
  restore: (died: boolean) => LedgerRestore;
}

// Switching these back is the caller's business (buffer), or they have no state of their own, or a user preference (meta keys).
const notCounted = new Set([2, 3, 40, 47, 1034, 1035, 1036, 1037, 1039, 1047, 1048, 1049]);
const switchesBuffer = new Set([47, 1047, 1049]);
// Programs switch these with every frame: who restores without being told switches them back in any case.
const everyFrame = new Set([SYNCHRONIZED, CURSOR]);

const ansiCounted = new Set([2, 4, 20]); // KAM, IRM, LNM

const MAX_PUSHES = 99;
const MAX_MODES = 256; // no terminal knows as many

type KeyboardRecorder = Pick<
  Ledger,
  'pushKeyboard' | 'popKeyboard' | 'keyboardFlags' | 'modifyKeys' | 'cursorStyle' | 'keypad'
>;

/** Keyboard protocols and the cursor's style. `change` applies something to the state and remembers that it has changed. */
const keyboardRecorder = (change: (apply: (state: LeftOn) => void) => void): KeyboardRecorder => ({
  pushKeyboard: (flags, alternate) => {
    const buffer = alternate ? 'alternate' : 'main';
    change(({ stack }) => (stack[buffer] = [...stack[buffer], flags].slice(-MAX_PUSHES)));
  },
  popKeyboard: (count, alternate) => {
    const buffer = alternate ? 'alternate' : 'main';
    change(({ stack }) => (stack[buffer] = stack[buffer].slice(0, -count)));
  },
  keyboardFlags: (flags) => change((state) => (state.keyboardFlags = flags)),
  modifyKeys: (resource, value) =>
    change(({ modifiedKeys }) =>
      value === 0 ? modifiedKeys.delete(resource) : modifiedKeys.set(resource, value),
    ),
  cursorStyle: (style) => change((state) => (state.cursorStyle = style)),
  keypad: (application) => change((state) => (state.keypad = application)),
});

const recordMode = (state: LeftOn, mode: number, on: boolean): void => {
  state.changed ||= switchesBuffer.has(mode);
  if (notCounted.has(mode) || state.modes.get(mode) === on) return;
  if (state.modes.size >= MAX_MODES && !state.modes.has(mode)) return;
  state.modes.set(mode, on);
  state.changed ||= !everyFrame.has(mode);
};

const recordCommand = (state: LeftOn, command: LastingCommand): void => {
  const lasting = commandOf(command);
  if (!lasting) return;
  const [name, value] = lasting;
  state.changed ||= state.commands.has(name) !== (value !== '');
  if (value === '') state.commands.delete(name);
  else state.commands.set(name, value);
};

/** DECSTR resets what DEC's terminals know, and leaves the modes that xterm and others have added. */
const afterReset = (before: LeftOn, softly: boolean): LeftOn =>
  softly
    ? { ...before, modes: new Map([...before.modes].filter(([mode]) => mode > 99)), changed: true }
    : nothingOn();

export const makeLedger = (): Ledger => {
  let state = nothingOn();
  const change = (apply: (state: LeftOn) => void): void => {
    apply(state);
    state.changed = true;
  };
  return {
    ...keyboardRecorder(change),
    questions: makeQuestions(),
    privateMode: (mode, on) => recordMode(state, mode, on),
    ansiMode: (mode, on) => {
      if (ansiCounted.has(mode)) change(({ ansi }) => (on ? ansi.add(mode) : ansi.delete(mode)));
    },
    command: (command) => recordCommand(state, command),
    reset: (softly) => {
      state = afterReset(state, softly);
    },
    isSet: (mode) => state.modes.get(mode) ?? onByDefault.has(mode),
    modesNow: () => {
      const modes = new Map(state.modes);
      return (mode) => modes.get(mode) ?? onByDefault.has(mode);
    },
    keyboardNow: (alternate) => state.stack[alternate ? 'alternate' : 'main'].at(-1) ?? state.keyboardFlags,
    cursorStyleNow: () => state.cursorStyle,
    linkPause: () => linkPause(state.commands.get('link')),
    takeChanged: () => {
      const { changed } = state;
      state.changed = false;
      return changed;
    },
    reapply: (alternate) => reapplySequence(state, alternate),
    restore: (died) => restoreOf(state, died),
  };
};
