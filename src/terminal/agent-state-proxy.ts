import type { SignSet, TitleSigns } from '../core/reading.js';
import { endOfString } from './filter/bytes.js';
import type { StreamFilter } from './filter/filter.js';
import { concatBytes } from './filter/parser.js';
import { SENTINEL } from './questions.js';

/*
 * Agent states (OSC 7501) for a terminal that does not support them: the wrapper answers the agent's query in the terminal's place and
 * shows the states in the title. The first part finds the operating system commands (OSC, xterm ctlseqs) that set titles (0 and 2) or
 * report a state (7501) in the agent's output; all other bytes pass at once, one of these commands is held until its end.
 */

export interface OscCommand {
  /** number of the command: `0`, `2`, `7501` */
  readonly code: string;
  /** what follows `code;`, its bytes as Latin-1 */
  readonly text: string;
  /** terminator: BEL or ST */
  readonly end: string;
}

/** Contiguous bytes of the output; `command` if they are one of the commands. */
export interface OutputPiece {
  readonly bytes: Uint8Array;
  readonly command?: OscCommand;
}

const ESC = 0x1b;
const BACKSLASH = 0x5c;
const BEL = 0x07;
const BRACKET = 0x5d; // `]`, which starts a command after ESC
const noBytes = new Uint8Array();
const MAX_COMMAND = 8_192; // bytes; a state with its longest title and message has 3 100
const COMMAND = /^\x1b\](0|2|7501);([^]*?)(\x07|\x1b\\)$/;
const COMMAND_PREFIX = /^\x1b(?:\](?:(?:0|2|7501)(?:;[^]*)?|7|75|750)?)?$/;

/** Offset after the string that ends at `end`; undefined while the next byte is missing. ESC without `\` starts another sequence. */
const offsetAfterString = (bytes: Uint8Array, end: number): number | undefined => {
  if (end < 0) return undefined;
  if (bytes[end] !== ESC) return bytes[end] === BEL ? end + 1 : end;
  if (end + 1 === bytes.length) return undefined;
  return bytes[end + 1] === BACKSLASH ? end + 2 : end;
};

/** Terminals also accept a command that the ESC of the next sequence ends; such a command gets a BEL here. */
const parseCommand = (bytes: Uint8Array, next: number | undefined): OscCommand | undefined => {
  const whole = Buffer.from(bytes).toString('latin1');
  const found = COMMAND.exec(whole) ?? (next === ESC ? COMMAND.exec(`${whole}\x07`) : undefined);
  const [, code, text = '', end = ''] = found ?? [];
  return code === undefined ? undefined : { code, text, end };
};

/** Length without a final ESC, which may start a command, even when it also ends another one. */
const endWithoutEscape = (bytes: Buffer): number => (bytes.at(-1) === ESC ? bytes.length - 1 : bytes.length);

/** Offset of the bytes at the end that may be the start of one of the commands. */
const startOfPartialCommand = (bytes: Buffer, start: number): number => {
  const isShort = bytes.length - start <= MAX_COMMAND;
  if (isShort && COMMAND_PREFIX.test(bytes.toString('latin1', start))) return start;
  return endWithoutEscape(bytes);
};

/** Offset of the next `ESC ]` from `from` on; −1 if there is none. Output has far fewer brackets than ESCs, so that is what is searched for. */
const nextStart = (bytes: Buffer, from: number): number => {
  let at = bytes.indexOf(BRACKET, from + 1);
  while (at >= 0 && bytes[at - 1] !== ESC) at = bytes.indexOf(BRACKET, at + 1);
  return at < 0 ? -1 : at - 1;
};

/** Nothing in it belongs to a command: of most reads no more has to be known, and echoed keys do not wait for it. */
const hasNoCommand = (chunk: Uint8Array): boolean =>
  !chunk.includes(BRACKET) && chunk[chunk.length - 1] !== ESC;

/** Splits `held` plus the chunk into pieces; the caller passes the returned `held` with the next chunk. */
const splitCommands = (
  held: Uint8Array,
  chunk: Uint8Array,
): { readonly pieces: readonly OutputPiece[]; readonly held: Uint8Array } => {
  // the pieces are no Buffers, which are slower to cut, and as a second kind of array slow the filter down
  const whole = held.length > 0 ? concatBytes(held, chunk) : chunk;
  const bytes = Buffer.from(whole.buffer, whole.byteOffset, whole.length);
  const pieces: OutputPiece[] = [];
  let from = 0;
  let stop = endWithoutEscape(bytes);
  for (let start = nextStart(bytes, 0); start >= 0;) {
    const end = offsetAfterString(bytes, endOfString(bytes, start + 2, 'command'));
    if (end === undefined) {
      stop = startOfPartialCommand(bytes, start);
      break;
    }
    const command = parseCommand(bytes.subarray(start, end), bytes[end]);
    if (command) {
      if (start > from) pieces.push({ bytes: whole.subarray(from, start) });
      pieces.push({ bytes: whole.subarray(start, end), command });
      from = end;
    }
    start = nextStart(bytes, end);
  }
  if (stop > from) pieces.push({ bytes: whole.subarray(from, stop) });
  return { pieces, held: whole.slice(Math.max(from, stop)) };
};

/**
 * Rebuilds the title that an agent sets in a terminal without agent states (status sign + name) from the titles and states that it sends
 * to a terminal with them. All texts are bytes as Latin-1. The functions return what to send to the terminal; '' if its title stays.
 */
export interface TitleEmulation {
  /** records a title that reaches the terminal unchanged */
  readonly noteTitle: (title: OscCommand) => void;
  /** takes a title without a sign; returns the one with it */
  readonly addSign: (title: OscCommand) => string;
  /** takes an agent state; returns the title that replaces it */
  readonly applyState: (state: OscCommand) => string;
  /** advances the animation to the next sign */
  readonly nextFrame: () => string;
  /** the agent works, so the sign is animated */
  readonly isAnimated: () => boolean;
  /** the title as the agent set it, for a terminal that shows the one with the sign */
  readonly unsigned: () => string;
}

const encodeLatin1 = (text: string): string => Buffer.from(text).toString('latin1');

const encodeSignSet = ({ rest, busy: [first, ...others] }: SignSet): SignSet => ({
  rest: encodeLatin1(rest),
  busy: [encodeLatin1(first), ...others.map(encodeLatin1)],
});

/** The sign at the start of a title, the set it belongs to, and the name after it. */
const parseSign = (
  sets: readonly SignSet[],
  text: string,
): { set: SignSet; addSign: string; name: string } | undefined => {
  const [sign = ''] = /^[^ ]+(?= )/.exec(text) ?? [];
  const set = sets.find(({ rest, busy }) => rest === sign || busy.includes(sign));
  return set && { set, addSign: sign, name: text.slice(sign.length + 1) };
};

const makeTitleEmulation = ({ sets, isWorking }: TitleSigns): TitleEmulation => {
  const known = sets.map(encodeSignSet);
  /** undefined for an agent that puts no sign into its title */
  let set = known.at(0);
  let title: OscCommand | undefined; // `text` is the name without the sign
  let lastTitle: string | undefined; // text of the last title that the terminal received
  let hasOwnSign = false; // the agent sends states, but also puts the sign into its titles
  let isBusy = false;
  let frame = 0;

  const text = (name: string): string => {
    if (!set || name === '') return name;
    const busy = set.busy[frame % set.busy.length] ?? set.rest;
    return `${isBusy ? busy : set.rest} ${name}`;
  };
  const show = ({ code, text: next, end }: OscCommand): string => {
    if (next === lastTitle) return '';
    lastTitle = next;
    return `\x1b]${code};${next}${end}`;
  };
  const refresh = (): string => (title && !hasOwnSign ? show({ ...title, text: text(title.text) }) : '');
  /** A title of another program that uses the terminal for a while: its code differs from the agent's. */
  const isFromOtherProgram = ({ code }: OscCommand): boolean => title !== undefined && title.code !== code;
  const noteTitle = (given: OscCommand): void => {
    const found = parseSign(known, given.text);
    if (isFromOtherProgram(given) && !found) return; // not a title of the agent
    lastTitle = given.text;
    if (given.text !== '') set = found?.set;
    title = { ...given, text: found?.name ?? given.text };
    if (found) frame = Math.max(0, found.set.busy.indexOf(found.addSign));
  };
  return {
    noteTitle,
    addSign: (given) => {
      hasOwnSign ||= parseSign(known, given.text) !== undefined;
      if (isFromOtherProgram(given) || hasOwnSign) {
        noteTitle(given);
        return `\x1b]${given.code};${given.text}${given.end}`;
      }
      title = given;
      return refresh();
    },
    applyState: ({ text: stateText }) => {
      isBusy = isWorking(stateText) ?? isBusy;
      return refresh();
    },
    nextFrame: () => {
      frame = (frame + 1) % (set?.busy.length ?? 1);
      return refresh();
    },
    isAnimated: () =>
      isBusy && !hasOwnSign && title !== undefined && title.text !== '' && (set?.busy.length ?? 1) > 1,
    unsigned: () => (title ? show(title) : ''),
  };
};

/**
 * Answers the agent's query for agent states (`OSC 7501;?`) if the terminal does not. The wrapper forwards the query and adds one that
 * every terminal answers (DSR). Terminals answer in order: if the answer to DSR comes first, the terminal does not support states. Such a
 * terminal then receives what the agent sends without support: titles with their sign, and no states.
 */
export interface AgentStateProxy {
  /** to use instead of the filter passed to `makeAgentStateProxy` */
  readonly filter: StreamFilter;
  /** the terminal has not answered the query yet */
  readonly isAsked: () => boolean;
  /** handles the terminal's answer; true to forward it to the child, false if the wrapper has already answered the child */
  readonly takeAnswer: () => boolean;
  /** the answer to send to the child in the terminal's place, if it is due; `giveUp`: the time limit for the terminal is over */
  readonly takeDueAnswer: (giveUp?: 'giveUp') => string | undefined;
  /** the next frame of the animated title, as characters for the terminal; '' if nothing is animated */
  readonly nextFrame: () => string;
  readonly isAnimated: () => boolean;
  /** called when the terminal answers after all; `missed` is the child's output that it has not received */
  readonly onLateAnswer: (act: (missed: string) => void) => void;
  /** from now on output passes unchanged and no query is answered */
  readonly stop: () => void;
}

const QUERY = '?';
/** The answer has the same bytes as the query (Claude Code 2.1.330, docs/facts/claude.md#state-reports). */
const ANSWER = '\x1b]7501;?\x1b\\';
const STATE_CODE = '7501';

const decodeLatin1 = (encodeLatin1: string): string => Buffer.from(encodeLatin1, 'latin1').toString();

/** A filter that splits the output and gives each piece to `pass`, which calls the inner filter. */
const wrapFilter = (
  inner: StreamFilter,
  pass: (piece: OutputPiece) => readonly Uint8Array[],
): StreamFilter => {
  let held: Uint8Array = noBytes;
  return {
    ...inner,
    push: (chunk) => {
      if (held.length === 0 && hasNoCommand(chunk)) return pass({ bytes: chunk });
      const cut = splitCommands(held, chunk);
      ({ held } = cut);
      const [only, ...others] = cut.pieces;
      if (only && others.length === 0) return pass(only);
      return cut.pieces.map((piece) => Buffer.concat(pass(piece))); // what comes out is valid until the next one
    },
    flush: () => {
      const rest = Buffer.concat([inner.flush(), held]);
      held = noBytes;
      return rest;
    },
    isComplete: () => held.length === 0 && inner.isComplete(),
  };
};

export const makeAgentStateProxy = (inner: StreamFilter, signs: TitleSigns): AgentStateProxy => {
  const { queries } = inner.modeTracker;
  const title = makeTitleEmulation(signs);
  let isAsked = false;
  let isEmulating = false; // the wrapper handles the child's states; the terminal receives none
  let isSupported = false; // the terminal has answered: it supports states
  let lastState = '';
  let isStopped = false;
  let onLateAnswer: (missed: string) => void = () => undefined;

  const forwardQuery = (parts: readonly Uint8Array[]): readonly Uint8Array[] => {
    isAsked = true;
    queries.addChild('agent states');
    queries.addOwn('status');
    return [...parts, Buffer.from(SENTINEL)];
  };
  const replacementFor = (command: OscCommand): string | undefined => {
    const isState = command.code === STATE_CODE;
    if (isState) lastState = command.text;
    if (isEmulating) return isState ? title.applyState(command) : title.addSign(command);
    if (!isState && !isSupported) title.noteTitle(command);
    return undefined;
  };
  const pass = ({ bytes, command }: OutputPiece): readonly Uint8Array[] => {
    if (!command) return inner.push(bytes);
    if (command.code === STATE_CODE && command.text === QUERY) return forwardQuery(inner.push(bytes));
    const other = replacementFor(command);
    if (other === undefined) return inner.push(bytes);
    return other === '' ? [] : inner.push(Buffer.from(other, 'latin1'));
  };
  return {
    filter: wrapFilter(inner, (piece) => (isStopped ? inner.push(piece.bytes) : pass(piece))),
    isAsked: () => isAsked,
    takeAnswer: () => {
      const wasEmulating = isEmulating;
      const isForChild = isAsked || !wasEmulating;
      queries.takeAnswer('agent states');
      [isAsked, isEmulating, isSupported] = [false, false, true];
      if (wasEmulating)
        onLateAnswer(decodeLatin1(title.unsigned() + (lastState && `\x1b]${STATE_CODE};${lastState}\x1b\\`)));
      return isForChild;
    },
    takeDueAnswer: (giveUp) => {
      if (!isAsked || isStopped || (queries.isChildWaiting('agent states') && !giveUp)) return undefined;
      [isAsked, isEmulating, isSupported] = [false, true, false];
      return ANSWER;
    },
    nextFrame: () => (isEmulating && !isStopped ? decodeLatin1(title.nextFrame()) : ''),
    isAnimated: () => isEmulating && !isStopped && title.isAnimated(),
    onLateAnswer: (act) => {
      onLateAnswer = act;
    },
    stop: () => {
      isStopped = true;
    },
  };
};
