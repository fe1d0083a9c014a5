const ESC = 0x1b;
const C1_LEAD = 0xc2; // first byte of a C1 control in UTF-8
const finals = new Set(Buffer.from('npu\\')); // of questions about the moment, and of ST

/**
 * Cuts output behind everything that may be the end of a question about the moment, so that whoever reads it piece by piece meets the
 * question as things stand then. Pieces may end in other places, too.
 */
export const makeCutter = (): ((bytes: Uint8Array) => readonly Uint8Array[]) => {
  let isInside = true; // an escape sequence has begun, perhaps before the first piece
  return (bytes) => {
    if (!isInside && !bytes.includes(ESC) && !bytes.includes(C1_LEAD)) return [bytes];
    const pieces: Uint8Array[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      const isEnd = isInside && finals.has(byte);
      if (byte === ESC || byte === C1_LEAD) isInside = true;
      else if (byte >= 0x40 && byte < 0x80 && byte !== 0x5b) isInside = false;
      if (!isEnd) continue;
      pieces.push(bytes.subarray(from, at + 1));
      from = at + 1;
    }
    if (from < bytes.length) pieces.push(bytes.subarray(from));
    return pieces;
  };
};
