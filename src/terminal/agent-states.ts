import type { SignSet, TitleSigns } from '../core/reading.js';
import { endOfString } from './filter/bytes.js';
import type { StreamFilter } from './filter/filter.js';

/*
 * Finds the operating system commands (OSC, xterm ctlseqs) that set titles (0 and 2) or tell of an agent's state (7501) in a program's
 * output. Everything else passes as it comes; one of these waits for its end.
 */

export interface OutputCommand {
  /** what it is about: `0`, `2`, `7501` */
  readonly code: string;
  /** what follows `code;`, its bytes as Latin-1 */
  readonly text: string;
  /** BEL or ST */
  readonly end: string;
}

/** Bytes that lie together; `command` where they are one of the commands. */
export interface OutputPiece {
  readonly bytes: Uint8Array;
  readonly command?: OutputCommand;
}

const ESC = 0x1b;
const BACKSLASH = 0x5c;
const BEL = 0x07;
const START = '\x1b]';
const MAX_COMMAND = 8_192; // bytes; a state with its longest title and message has 3 100
const COMMAND = /^\x1b\](0|2|7501);([^]*?)(\x07|\x1b\\)$/;
const BEGINNING = /^\x1b(?:\](?:(?:0|2|7501)(?:;[^]*)?|7|75|750)?)?$/;

/** Offset behind the string that ends at `end`; undefined while that is not sure. ESC without `\` begins something else. */
const behind = (bytes: Uint8Array, end: number): number | undefined => {
  if (end < 0) return undefined;
  if (bytes[end] !== ESC) return bytes[end] === BEL ? end + 1 : end;
  if (end + 1 === bytes.length) return undefined;
  return bytes[end + 1] === BACKSLASH ? end + 2 : end;
};

/** One that the ESC of what follows cuts off counts in terminals as well: it gets an end here. */
const commandIn = (bytes: Uint8Array, next: number | undefined): OutputCommand | undefined => {
  const whole = Buffer.from(bytes).toString('latin1');
  const found = COMMAND.exec(whole) ?? (next === ESC ? COMMAND.exec(`${whole}\x07`) : undefined);
  const [, code, text = '', end = ''] = found ?? [];
  return code === undefined ? undefined : { code, text, end };
};

/** An ESC at the end may begin a command, also where it ends another. */
const lastEscape = (bytes: Buffer): number => (bytes.at(-1) === ESC ? bytes.length - 1 : bytes.length);

/** What at the end of the output may become one of the commands. */
const openFrom = (bytes: Buffer, start: number): number => {
  const isShort = bytes.length - start <= MAX_COMMAND;
  if (isShort && BEGINNING.test(bytes.toString('latin1', start))) return start;
  return lastEscape(bytes);
};

/** Cuts `held` and the chunk behind it; `held` of the result is to be given with the next chunk. */
const cutCommands = (
  held: Uint8Array,
  chunk: Uint8Array,
): { readonly pieces: readonly OutputPiece[]; readonly held: Uint8Array } => {
  const bytes =
    held.length > 0
      ? Buffer.concat([held, chunk])
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const pieces: OutputPiece[] = [];
  let from = 0;
  let stop = lastEscape(bytes);
  for (let start = bytes.indexOf(START); start >= 0;) {
    const end = behind(bytes, endOfString(bytes, start + START.length, 'command'));
    if (end === undefined) {
      stop = openFrom(bytes, start);
      break;
    }
    const command = commandIn(bytes.subarray(start, end), bytes[end]);
    if (command) {
      if (start > from) pieces.push({ bytes: bytes.subarray(from, start) });
      pieces.push({ bytes: bytes.subarray(start, end), command });
      from = end;
    }
    start = bytes.indexOf(START, end);
  }
  if (stop > from) pieces.push({ bytes: bytes.subarray(from, stop) });
  return { pieces, held: bytes.slice(Math.max(from, stop)) };
};

/**
 * The title as an agent would have set it for a terminal that understands no states, made of the titles and states that it sends to one
 * that does. All texts are bytes as Latin-1. What it returns is for the terminal; '' where nothing changes there.
 */
export interface SignedTitle {
  /** a title that reaches the terminal as it is */
  readonly note: (title: OutputCommand) => void;
  /** a title without its sign */
  readonly sign: (title: OutputCommand) => string;
  /** a state, in its place */
  readonly tell: (state: OutputCommand) => string;
  /** the next sign of those that take turns */
  readonly turn: () => string;
  /** the signs take turns now */
  readonly isMoving: () => boolean;
  /** the title as the agent has set it, for a terminal that has the signed one */
  readonly bare: () => string;
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const inLatin1 = ({ rest, busy: [first, ...others] }: SignSet): SignSet => ({
  rest: latin1(rest),
  busy: [latin1(first), ...others.map(latin1)],
});

/** Which of the sets a title has its sign of, and the name behind it. */
const signIn = (
  sets: readonly SignSet[],
  text: string,
): { set: SignSet; sign: string; name: string } | undefined => {
  const [sign = ''] = /^[^ ]+(?= )/.exec(text) ?? [];
  const set = sets.find(({ rest, busy }) => rest === sign || busy.includes(sign));
  return set && { set, sign, name: text.slice(sign.length + 1) };
};

const makeSignedTitle = ({ sets, isWorking }: TitleSigns): SignedTitle => {
  const known = sets.map(inLatin1);
  /** undefined for an agent that puts no sign there */
  let set = known.at(0);
  let title: OutputCommand | undefined; // its name alone is the text
  let shown: string | undefined; // text of the agent's last title that the terminal has got
  let keepsSign = false; // it tells states, and leaves nothing out
  let works = false;
  let frame = 0;

  const text = (name: string): string => {
    if (!set || name === '') return name;
    const busy = set.busy[frame % set.busy.length] ?? set.rest;
    return `${works ? busy : set.rest} ${name}`;
  };
  const show = ({ code, text: next, end }: OutputCommand): string => {
    if (next === shown) return '';
    shown = next;
    return `\x1b]${code};${next}${end}`;
  };
  const again = (): string => (title && !keepsSign ? show({ ...title, text: text(title.text) }) : '');
  /** Of another program that has the terminal for a while: it uses another code. */
  const isForeign = ({ code }: OutputCommand): boolean => title !== undefined && title.code !== code;
  const note = (given: OutputCommand): void => {
    const found = signIn(known, given.text);
    if (isForeign(given) && !found) return; // the agent does not see it either
    shown = given.text;
    if (given.text !== '') set = found?.set;
    title = { ...given, text: found?.name ?? given.text };
    if (found) frame = Math.max(0, found.set.busy.indexOf(found.sign));
  };
  return {
    note,
    sign: (given) => {
      keepsSign ||= signIn(known, given.text) !== undefined;
      if (isForeign(given) || keepsSign) {
        note(given);
        return `\x1b]${given.code};${given.text}${given.end}`;
      }
      title = given;
      return again();
    },
    tell: ({ text: told }) => {
      works = isWorking(told) ?? works;
      return again();
    },
    turn: () => {
      frame = (frame + 1) % (set?.busy.length ?? 1);
      return again();
    },
    isMoving: () =>
      works && !keepsSign && title !== undefined && title.text !== '' && (set?.busy.length ?? 1) > 1,
    bare: () => (title ? show(title) : ''),
  };
};

/**
 * Answers an agent that asks whether the terminal understands agent states (`OSC 7501;?`), where the terminal does not. The question goes
 * to the terminal, and behind it one of ours that every terminal answers: terminals answer in order, so whose answer comes first tells.
 * A terminal that does not understand gets what it would have got without an answer: titles with their sign, and no states.
 */
export interface StandIn {
  /** in place of the filter that it was made with */
  readonly filter: StreamFilter;
  /** the terminal has still to be heard */
  readonly isAsked: () => boolean;
  /** an answer of the terminal: true where it is the child's, false where the child has had one from us */
  readonly hear: () => boolean;
  /** what the child gets now in the terminal's place; `giveUp`: the terminal has had its time */
  readonly due: (giveUp?: 'giveUp') => string | undefined;
  /** the next title of those that take turns, as characters for the terminal; '' while there is none */
  readonly turn: () => string;
  readonly isMoving: () => boolean;
  /** told once the terminal has answered too late: what it has missed of the child's */
  readonly onLate: (act: (missed: string) => void) => void;
  /** from here on nothing is changed and nobody is answered */
  readonly stop: () => void;
}

const QUESTION = '?';
/** The answer has the question's own bytes (Claude Code 2.1.330, facts/updates-2026-11-22.md). */
const ANSWER = '\x1b]7501;?\x1b\\';
const STATES = '7501';
const FENCE = '\x1b[6n'; // CPR, which the start of a session asks for as well

const characters = (latin1: string): string => Buffer.from(latin1, 'latin1').toString();

const nothing = new Uint8Array();

/** The filter with something else that passes pieces to it. */
const cutting = (inner: StreamFilter, pass: (piece: OutputPiece) => readonly Uint8Array[]): StreamFilter => {
  let held: Uint8Array = nothing;
  return {
    ...inner,
    push: (chunk) => {
      const cut = cutCommands(held, chunk);
      ({ held } = cut);
      const [only, ...others] = cut.pieces;
      return only && others.length === 0 ? pass(only) : cut.pieces.flatMap(pass);
    },
    flush: () => {
      const rest = Buffer.concat([inner.flush(), held]);
      held = nothing;
      return rest;
    },
    isWhole: () => held.length === 0 && inner.isWhole(),
  };
};

export const makeStandIn = (inner: StreamFilter, signs: TitleSigns): StandIn => {
  const { questions } = inner.ledger;
  const title = makeSignedTitle(signs);
  let isAsked = false;
  let isOurs = false; // the child reports to us, and the terminal gets none of it
  let isTheirs = false; // the terminal has answered
  let lastState = '';
  let isStopped = false;
  let late: (missed: string) => void = () => undefined;

  const ask = (parts: readonly Uint8Array[]): readonly Uint8Array[] => {
    isAsked = true;
    questions.ask(STATES, false);
    questions.ask('R', true);
    return [...parts, Buffer.from(FENCE)];
  };
  const instead = (command: OutputCommand): string | undefined => {
    const isState = command.code === STATES;
    if (isState) lastState = command.text;
    if (isOurs) return isState ? title.tell(command) : title.sign(command);
    if (!isState && !isTheirs) title.note(command);
    return undefined;
  };
  const pass = ({ bytes, command }: OutputPiece): readonly Uint8Array[] => {
    if (!command) return inner.push(bytes);
    if (command.code === STATES && command.text === QUESTION) return ask(inner.push(bytes));
    const other = instead(command);
    if (other === undefined) return inner.push(bytes);
    return other === '' ? [] : inner.push(Buffer.from(other, 'latin1'));
  };
  return {
    filter: cutting(inner, (piece) => (isStopped ? inner.push(piece.bytes) : pass(piece))),
    isAsked: () => isAsked,
    hear: () => {
      const wasOurs = isOurs;
      const isChilds = isAsked || !wasOurs;
      questions.take(STATES);
      [isAsked, isOurs, isTheirs] = [false, false, true];
      if (wasOurs) late(characters(title.bare() + (lastState && `\x1b]${STATES};${lastState}\x1b\\`)));
      return isChilds;
    },
    due: (giveUp) => {
      if (!isAsked || isStopped || (questions.isOpen(STATES) && !giveUp)) return undefined;
      [isAsked, isOurs, isTheirs] = [false, true, false];
      return ANSWER;
    },
    turn: () => (isOurs && !isStopped ? characters(title.turn()) : ''),
    isMoving: () => isOurs && !isStopped && title.isMoving(),
    onLate: (act) => {
      late = act;
    },
    stop: () => {
      isStopped = true;
    },
  };
};
