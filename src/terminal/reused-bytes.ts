// Bytes that are put together in one array, which the next ones overwrite: a new array for each read of the child's output would be memory
// that only a collection gives back.

/** Collects bytes. What `take` returns is valid until the next `add`. */
export interface ReusedBytes {
  readonly add: (bytes: Uint8Array) => void;
  /** a character for each byte */
  readonly addLatin1: (text: string) => void;
  readonly addText: (text: string) => void;
  readonly length: () => number;
  readonly take: () => Uint8Array;
}

const FIRST_BYTES = 8 * 1024; // a read of a pseudo-terminal on Linux is half of it

const isAscii = (text: string): boolean => {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) >= 0x80) return false;
  return true;
};

export const makeReusedBytes = (): ReusedBytes => {
  let space = new Uint8Array(FIRST_BYTES);
  let length = 0;
  const makeRoom = (bytes: number): void => {
    if (length + bytes <= space.length) return;
    const grown = new Uint8Array(2 * (length + bytes));
    grown.set(space.subarray(0, length));
    space = grown;
  };
  const add = (bytes: Uint8Array): void => {
    makeRoom(bytes.length);
    space.set(bytes, length);
    length += bytes.length;
  };
  const addLatin1 = (text: string): void => {
    makeRoom(text.length);
    for (let at = 0; at < text.length; at += 1) space[length + at] = text.charCodeAt(at);
    length += text.length;
  };
  return {
    add,
    addLatin1,
    addText: (text) => (isAscii(text) ? addLatin1(text) : add(Buffer.from(text))),
    length: () => length,
    take: () => {
      const taken = space.subarray(0, length);
      length = 0;
      return taken;
    },
  };
};
