import { endOfString } from './filter/strings.js';

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
export const cutCommands = (
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
