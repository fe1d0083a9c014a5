import type { SignSet, TitleSigns } from '../core/reading.js';
import { endOfString, latin1 } from './filter/bytes.js';
import type { StreamFilter } from './filter/filter.js';
import { concatBytes } from './filter/parser.js';
import { SENTINEL } from './questions.js';
import { makeReusedBytes } from './reused-bytes.js';

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

/** The command's bytes as Latin-1. */
export const commandText = ({ code, text, end }: OscCommand): string => `\x1b]${code};${text}${end}`;

/** One of the commands in the output: its first byte, and the offset after it. */
interface FoundCommand extends OscCommand {
  readonly start: number;
  readonly after: number;
}

const ESC = 0x1b;
const BACKSLASH = 0x5c;
const BEL = 0x07;
const BRACKET = 0x5d; // `]`, which starts a command after ESC
const INTRODUCER = 2; // bytes: `ESC ]`
const SEMICOLON = 0x3b;
const noBytes = new Uint8Array();
const MAX_COMMAND = 8_192; // bytes; a state with its longest title and message has 3 100
const STATE_CODE = '7501';
const CODES = ['0', '2', STATE_CODE] as const;
const COMMAND_PREFIX = /^\x1b(?:\](?:(?:0|2|7501)(?:;[^]*)?|7|75|750)?)?$/;

/** Offset after the string that ends at `end`; undefined while the next byte is missing. ESC without `\` starts another sequence. */
const offsetAfterString = (bytes: Uint8Array, end: number): number | undefined => {
  if (end < 0) return undefined;
  if (bytes[end] !== ESC) return bytes[end] === BEL ? end + 1 : end;
  if (end + 1 === bytes.length) return undefined;
  return bytes[end + 1] === BACKSLASH ? end + 2 : end;
};

/** The number of the command that starts here, if it is one of the commands. */
const codeAt = (bytes: Uint8Array, start: number): string | undefined => {
  const first = start + INTRODUCER;
  const isCode = (code: string): boolean => {
    for (let at = 0; at < code.length; at += 1) if (bytes[first + at] !== code.charCodeAt(at)) return false;
    return bytes[first + code.length] === SEMICOLON;
  };
  return CODES.find(isCode);
};

/**
 * The command from `start` to `after`. Terminals also accept a command that the ESC of the next sequence ends; such a command gets a BEL
 * here.
 */
const parseCommand = (bytes: Uint8Array, start: number, after: number): FoundCommand | undefined => {
  const code = codeAt(bytes, start);
  if (code === undefined) return undefined;
  const first = start + INTRODUCER + code.length + 1;
  const command = (length: number, end: string): FoundCommand => ({
    code,
    text: latin1(bytes, first, after - length),
    end,
    start,
    after,
  });
  if (bytes[after - 1] === BEL) return command(1, '\x07');
  if (bytes[after - 2] === ESC && after - 2 >= first) return command(2, '\x1b\\');
  return bytes[after] === ESC ? command(0, '\x07') : undefined;
};

/** Length without a final ESC, which may start a command, even when it also ends another one. */
const endWithoutEscape = (bytes: Uint8Array): number =>
  bytes[bytes.length - 1] === ESC ? bytes.length - 1 : bytes.length;

/** Offset of the bytes at the end that may be the start of one of the commands. */
const startOfPartialCommand = (bytes: Uint8Array, start: number): number => {
  const isShort = bytes.length - start <= MAX_COMMAND;
  if (isShort && COMMAND_PREFIX.test(latin1(bytes, start, bytes.length))) return start;
  return endWithoutEscape(bytes);
};

/** `indexOf` of a Buffer is many times faster than that of other arrays, and takes those, too. */
const bracketAt = (bytes: Uint8Array, from: number): number =>
  Buffer.prototype.indexOf.call(bytes, BRACKET, from);

/** Offset of the next `ESC ]` from `from` on; −1 if there is none. Output has far fewer brackets than ESCs, so that is what is searched for. */
const nextStart = (bytes: Uint8Array, from: number): number => {
  let at = bracketAt(bytes, from + 1);
  while (at >= 0 && bytes[at - 1] !== ESC) at = bracketAt(bytes, at + 1);
  return at < 0 ? -1 : at - 1;
};

/** Nothing in it belongs to a command: of most reads no more has to be known, and echoed keys do not wait for it. */
export const hasNoCommand = (chunk: Uint8Array): boolean =>
  bracketAt(chunk, 0) < 0 && chunk[chunk.length - 1] !== ESC;

/** The commands in `bytes`, and the offset of what may be the start of one more. */
export const findCommands = (
  bytes: Uint8Array,
): { readonly commands: readonly FoundCommand[]; readonly end: number } => {
  const commands: FoundCommand[] = [];
  let from = 0;
  for (let start = nextStart(bytes, 0); start >= 0;) {
    const after = offsetAfterString(bytes, endOfString(bytes, start + 2, 'command'));
    if (after === undefined) return { commands, end: Math.max(from, startOfPartialCommand(bytes, start)) };
    const command = parseCommand(bytes, start, after);
    if (command) {
      commands.push(command);
      from = after;
    }
    start = nextStart(bytes, after);
  }
  return { commands, end: Math.max(from, endWithoutEscape(bytes)) };
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
    return commandText({ code, text: next, end });
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
        return commandText(given);
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

export const decodeLatin1 = (encodeLatin1: string): string => Buffer.from(encodeLatin1, 'latin1').toString();

const isQuery = ({ code, text }: OscCommand): boolean => code === STATE_CODE && text === QUERY;

interface CommandRules {
  /** what the inner filter gets in place of a command, '' for nothing; undefined if it gets the command */
  readonly replace: (command: OscCommand) => string | undefined;
  /** the inner filter has got the query; returns the wrapper's own bytes behind it */
  readonly follow: () => string;
}

/** A filter that replaces commands in the output before the inner filter reads them. */
const wrapFilter = (inner: StreamFilter, { replace, follow }: CommandRules): StreamFilter => {
  let held: Uint8Array = noBytes;
  let passed = 0; // offset in a read up to which the inner filter has got it, or what is in its place
  const output = makeReusedBytes();
  const instead = makeReusedBytes(); // no Buffer: a second kind of array slows the filter down

  const push = (bytes: Uint8Array): void => {
    if (bytes.length > 0) inner.push(bytes).forEach(output.add); // copied, because it is valid until the next push
  };
  const pushUpTo = (whole: Uint8Array, end: number): void => {
    const bytes = whole.subarray(passed, end);
    passed = end; // before it: where the inner filter fails it has kept these bytes
    push(bytes);
  };
  /** Pushes what is before the command and in its place. */
  const pushCommand = (whole: Uint8Array, command: FoundCommand): void => {
    const isAsked = isQuery(command);
    const other = isAsked ? undefined : replace(command);
    if (other === undefined && !isAsked) return;
    pushUpTo(whole, isAsked ? command.after : command.start);
    if (isAsked) return output.addLatin1(follow());
    passed = command.after;
    instead.addLatin1(other ?? '');
    push(instead.take());
  };
  const readCommands = (whole: Uint8Array): readonly Uint8Array[] => {
    passed = 0;
    const { commands, end } = findCommands(whole);
    for (const command of commands) pushCommand(whole, command);
    held = end < whole.length ? whole.slice(end) : noBytes;
    if (passed > 0) {
      pushUpTo(whole, end);
      return [output.take()];
    }
    passed = end;
    return end > 0 ? inner.push(whole.subarray(0, end)) : [];
  };
  return {
    ...inner,
    push: (chunk) => {
      if (held.length === 0 && hasNoCommand(chunk)) return inner.push(chunk);
      const whole = held.length > 0 ? concatBytes(held, chunk) : chunk;
      try {
        return readCommands(whole);
      } catch (error) {
        held = whole.slice(passed);
        throw error;
      }
    },
    takeFiltered: output.take,
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

  const follow = (): string => {
    if (isStopped) return '';
    isAsked = true;
    queries.addChild('agent states');
    queries.addOwn('status');
    return SENTINEL;
  };
  const replace = (command: OscCommand): string | undefined => {
    if (isStopped) return undefined;
    const isState = command.code === STATE_CODE;
    if (isState) lastState = command.text;
    if (isEmulating) return isState ? title.applyState(command) : title.addSign(command);
    if (!isState && !isSupported) title.noteTitle(command);
    return undefined;
  };
  return {
    filter: wrapFilter(inner, { replace, follow }),
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
