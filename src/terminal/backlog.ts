/** Bytes that wait to be parsed, handed out in slices so that nobody waits long for the event loop. */
export interface Backlog {
  add: (bytes: Uint8Array) => void;
  /** the next slice, or undefined when nothing waits */
  take: () => Uint8Array | undefined;
  /** bytes that wait */
  size: () => number;
  /** drops everything and begins again with these bytes */
  startAnew: (bytes: Uint8Array) => void;
}

export const makeBacklog = (slice: number): Backlog => {
  let chunks: Uint8Array[] = [];
  let size = 0;
  return {
    add: (bytes) => {
      chunks.push(bytes);
      size += bytes.length;
    },
    take: () => {
      const [first] = chunks;
      if (first === undefined) return undefined;
      const taken = first.subarray(0, slice);
      if (taken.length === first.length) chunks.shift();
      else chunks[0] = first.subarray(slice);
      size -= taken.length;
      return taken;
    },
    size: () => size,
    startAnew: (bytes) => {
      chunks = [bytes];
      size = bytes.length;
    },
  };
};
