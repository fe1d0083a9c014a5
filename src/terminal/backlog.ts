/** Bytes that wait to be parsed, handed out in slices so that nobody waits long for the event loop. */
export interface Backlog {
  add: (bytes: Uint8Array) => void;
  /** the next slice of at most so many bytes, or undefined when nothing waits */
  take: (most: number) => Uint8Array | undefined;
  /** bytes that wait */
  size: () => number;
  drop: () => void;
  /** drops everything and begins again with these bytes */
  startAnew: (bytes: Uint8Array) => void;
}

const MOST_TAKEN = 1024; // chunks kept after they were taken

export const makeBacklog = (): Backlog => {
  let chunks: Uint8Array[] = [];
  let first = 0; // those before it have been taken; shifting each would make a flood of small chunks slow
  let size = 0;
  const startAnew = (bytes?: Uint8Array): void => {
    chunks = bytes ? [bytes] : [];
    first = 0;
    size = bytes?.length ?? 0;
  };
  return {
    add: (bytes) => {
      if (bytes.length > 0) chunks.push(bytes);
      size += bytes.length;
    },
    take: (most) => {
      const chunk = chunks[first];
      if (chunk === undefined) return undefined;
      const taken = chunk.subarray(0, most);
      if (taken.length === chunk.length) first += 1;
      else chunks[first] = chunk.subarray(most);
      size -= taken.length;
      if (first === MOST_TAKEN || first === chunks.length) {
        chunks = chunks.slice(first);
        first = 0;
      }
      return taken;
    },
    size: () => size,
    drop: () => startAnew(),
    startAnew,
  };
};
