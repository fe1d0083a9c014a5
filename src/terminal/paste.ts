// Bracketed paste (mode 2004, xterm ctlseqs): everything between its marks is the child's, also where a slow line cuts a mark in pieces.

export const PASTE_START = Buffer.from('\x1b[200~');
const PASTE_END = Buffer.from('\x1b[201~');
const ESC = 0x1b;

export interface PasteState {
  readonly inPaste: boolean;
  /** bytes at the end of what the child has got that begin the paste's start, or inside a paste its end */
  readonly matched: number;
}

/** Bytes that are the child's, whatever they look like, and what holds behind them. */
interface Marked extends PasteState {
  /** offset behind them */
  readonly end: number;
}

/** Looks for the end of a paste behind `matched` bytes of it. */
const readPaste = (bytes: Buffer, matched: number): Marked => {
  let count = matched;
  for (let at = 0; at < bytes.length; at += 1) {
    if (count === 0) at = bytes.indexOf(ESC, at);
    if (at < 0) break;
    count = bytes[at] === PASTE_END[count] ? count + 1 : bytes[at] === ESC ? 1 : 0;
    if (count === PASTE_END.length) return { end: at + 1, inPaste: false, matched: 0 };
  }
  return { end: bytes.length, inPaste: true, matched: count };
};

/** Looks for the rest of a paste's start that came in pieces; `end` is 0 where something else comes. */
const readPasteStart = (bytes: Buffer, matched: number): Marked => {
  const rest = PASTE_START.subarray(matched);
  const end = Math.min(rest.length, bytes.length);
  if (!bytes.subarray(0, end).equals(rest.subarray(0, end))) return { end: 0, inPaste: false, matched: 0 };
  const isWhole = end === rest.length;
  return { end, inPaste: isWhole, matched: isWhole ? 0 : matched + end };
};

/** To be asked inside a paste, and while the child has got the beginning of its start. */
export const readMarked = (bytes: Buffer, { inPaste, matched }: PasteState): Marked =>
  inPaste ? readPaste(bytes, matched) : readPasteStart(bytes, matched);
