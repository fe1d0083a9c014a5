import { HOLD, replace, type Pass, type StringEnds } from './pass.js';
import { disputedInString, endOfHeader, endOfString, type StringKind } from './strings.js';
import { decodeAt, encodedLength, INCOMPLETE, INVALID } from './utf8.js';

/* OSC, DCS, SOS, PM and APC strings: they pass as they are, and what an operating system command leaves behind goes into the ledger. */

const ESC = 0x1b;
const CAN = 0x18;
const SUB = 0x1a;
const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const COMMAND_HEAD = 4096; // bytes of an OSC that the ledger gets to see; hyperlinks are the longest that matter, VTE takes 2083

/** Keeps what the ledger wants to see of a command; one byte more says that it is not all. */
const keepCommand = (pass: Pass, start: number, end: number): number => {
  for (let at = start; at < end && pass.command.length <= COMMAND_HEAD; at += 1)
    pass.command.push(pass.bytes[at] ?? 0);
  return end > start ? end : HOLD;
};

/** BEL and ST end a command; ESC does too, whatever comes after it; CAN and SUB make it void. */
const endCommand = ({ ledger, command }: Pass, byte: number): void => {
  if (byte === CAN || byte === SUB) return;
  const text = String.fromCharCode(...command.slice(0, COMMAND_HEAD));
  ledger.command({ text, isWhole: command.length <= COMMAND_HEAD });
};

/** Looks for the ends of the string that goes on at `start`, unless that is known of these bytes. */
const endsFrom = (pass: Pass, kind: StringKind, start: number): StringEnds => {
  const { bytes, stringEnds: known } = pass;
  const isValid = known?.bytes === bytes && known.kind === kind && (known.end < 0 || known.end >= start);
  if (known && isValid && (known.header < 0 || known.header > start)) return known;
  const end = endOfString(bytes, start, kind);
  const header = kind === 'header' ? endOfHeader(bytes, start, end < 0 ? bytes.length : end) : -1;
  pass.stringEnds = { bytes, kind, end, header };
  return pass.stringEnds;
};

/** Reads on in the string at `start`; returns the next offset. */
export const readString = (pass: Pass, kind: StringKind, start: number): number => {
  const { bytes } = pass;
  const { end: found, header } = endsFrom(pass, kind, start);
  const end = found < 0 ? bytes.length : found;
  const disputed = disputedInString(bytes, start, header < 0 ? end : header, kind);
  if (disputed >= 0) return readDisputed(pass, start, disputed);
  if (header >= 0) {
    pass.string = 'device';
    return header;
  }
  if (found < 0) {
    const isHalf = bytes[end - 1] === C1_LEAD; // perhaps of ST
    return keepCommand(pass, start, isHalf ? end - 1 : end);
  }
  if (bytes[end] === ESC && end + 1 === bytes.length) return keepCommand(pass, start, end);
  keepCommand(pass, start, end);
  if (kind === 'command') endCommand(pass, bytes[end] ?? 0);
  pass.string = pass.stringEnds = undefined;
  pass.unterminated = bytes[end] === ESC;
  return pass.unterminated ? end : end + (bytes[end] === C1_LEAD ? 2 : 1);
};

/** The character at `at`: left out, since terminals disagree about it, except in xterm.js, which leaves the string there. */
const readDisputed = (pass: Pass, start: number, at: number): number => {
  if (at > start) return keepCommand(pass, start, at);
  const codePoint = decodeAt(pass.bytes, at);
  if (codePoint === INCOMPLETE) return HOLD;
  const end = codePoint === INVALID ? at + 1 : at + encodedLength(codePoint);
  if (!pass.grid.quirks.isXtermJs) return replace(pass, at, end, '');
  if (codePoint === INVALID) return end;
  pass.string = pass.stringEnds = undefined;
  return codePoint < 0xa0 ? at : end;
};
