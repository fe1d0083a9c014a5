// Bytes of a text file become lines, whatever the chunks are.

// Longer lines are skipped: they hold pictures or whole histories, and parsing them would hold up the terminal.
const LONGEST_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface LineSplitterOptions {
  /** lines with more bytes are left out */
  readonly longestBytes?: number;
  /** the first bytes may belong to a line that began earlier: nothing is given until a newline has passed */
  readonly startsInside?: boolean;
}

export interface LineSplitter {
  readonly push: (chunk: Buffer) => void;
}

/** Cuts bytes into lines, without their newlines; the bytes of a line are decoded together, so no character is torn. */
export const lineSplitter = (
  onLine: (line: string) => void,
  { longestBytes = LONGEST_LINE_BYTES, startsInside = false }: LineSplitterOptions = {},
): LineSplitter => {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isSkipping = startsInside;
  let isFirst = !startsInside;

  const keep = (piece: Buffer): void => {
    bytes += piece.length;
    isSkipping ||= bytes > longestBytes;
    if (isSkipping) pieces = [];
    else if (piece.length > 0) pieces.push(Buffer.from(piece)); // a copy: the chunk's memory is used again
  };

  const end = (piece: Buffer): void => {
    const isLeftOut = isSkipping || bytes + piece.length > longestBytes;
    const whole = pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
    const start = isFirst && hasMark(whole) ? BYTE_ORDER_MARK_BYTES.length : 0;
    pieces = [];
    bytes = 0;
    isSkipping = false;
    isFirst = false;
    if (!isLeftOut) onLine(whole.toString('utf8', start));
  };

  return {
    push: (chunk) => {
      let start = 0;
      for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, start)) {
        end(chunk.subarray(start, newline));
        start = newline + 1;
      }
      keep(chunk.subarray(start));
    },
  };
};

// Editors of other systems put one at the start of a file; JSON does not know it.
const BYTE_ORDER_MARK_BYTES = Buffer.from([0xef, 0xbb, 0xbf]);

const hasMark = (line: Buffer): boolean =>
  line.subarray(0, BYTE_ORDER_MARK_BYTES.length).equals(BYTE_ORDER_MARK_BYTES);
