import { type Stage, survive } from './terminal-session.js';

/** The child's bytes on their way to the terminal: written first, looked at afterwards. */
export interface Output {
  fromChild: (bytes: Uint8Array) => void;
  /** keeps the child's bytes back, while the terminal is being prepared for them */
  hold: () => void;
  /** some of the child's bytes are kept back: what has been filtered is not all that has been written */
  isHeld: () => boolean;
  /** some of the child's bytes are kept back, or the child is stopped: the screen model does not show what it has drawn */
  isHolding: () => boolean;
  release: () => void;
  /** bytes that the child has written so far */
  written: () => number;
  /** the terminal has taken everything it was sent */
  drained: () => void;
}

export interface OutputListener {
  /** before each chunk: true if the terminal has another size now, so that the chunk has to wait */
  isResized: () => boolean;
  onOutput: (bytes: Uint8Array) => void;
  onFailure: () => void;
}

export const HIGH_WATER = 64 * 1024; // bytes the terminal has not taken yet; with more the child is stopped (facts/terminals.md §6)
const HELD_HIGH_WATER = 1024 * 1024;

/** Stops a child that writes more than the terminal takes, until it has. */
export const pauseIfBehind = ({ tty, child }: Stage): void => {
  if (tty.pending() > HIGH_WATER) child?.pause();
};

const writeParts = (stage: Stage, parts: readonly Uint8Array[]): void => {
  if (stage.cover) return stage.cover.take(parts);
  const [first] = parts;
  if (first !== undefined) stage.tty.write(parts.length === 1 ? first : Buffer.concat(parts));
};

/** Filters and writes the pieces in turn; returns those behind one over which a part of ours has failed. */
const writePieces = (stage: Stage, pieces: readonly Uint8Array[]): readonly Uint8Array[] | undefined => {
  for (const [index, piece] of pieces.entries()) {
    let parts: readonly Uint8Array[] = [];
    const isRead = survive(stage, 'the stream filter', () => (parts = stage.filter.push(piece)));
    if (!isRead) return pieces.slice(index + 1);
    writeParts(stage, parts);
  }
  return undefined;
};

/** Writes the child's bytes as the terminal has to get them, whatever of ours fails over them. */
const send = (stage: Stage, bytes: Uint8Array, onFailure: () => void): void => {
  const { tty, filter, screen, verbatim, cover } = stage;
  if (verbatim) {
    tty.write(bytes);
    survive(stage, 'the stream filter', () => filter.push(bytes)); // it only counts modes
    return;
  }
  const unread = writePieces(stage, cover ? cover.cut(bytes) : [bytes]);
  if (unread) {
    onFailure(); // which sends what the filter holds
    for (const piece of unread) tty.write(piece);
    return;
  }
  if (!survive(stage, 'the screen model', () => screen.feed(bytes))) onFailure();
};

export const makeOutput = (stage: Stage, listener: OutputListener): Output => {
  const { tty, session } = stage;
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let holds = 0;
  let written = 0;
  let isFollowed = true; // what has failed once is not tried again with each chunk

  const tell = (bytes: Uint8Array): void => {
    if (!isFollowed) return;
    isFollowed = survive(stage, 'following the output', () => listener.onOutput(bytes));
    if (!isFollowed) listener.onFailure();
  };
  const deliver = (bytes: Uint8Array): void => {
    send(stage, bytes, listener.onFailure);
    session.recording?.output(bytes);
    pauseIfBehind(stage);
    tell(bytes);
  };
  const keep = (bytes: Uint8Array): void => {
    held.push(bytes);
    heldBytes += bytes.length;
    if (heldBytes > HELD_HIGH_WATER) stage.child?.pause();
  };
  return {
    fromChild: (bytes) => {
      written += bytes.length;
      if (holds > 0 || listener.isResized()) keep(bytes);
      else deliver(bytes);
    },
    hold: () => {
      holds += 1;
    },
    isHeld: () => holds > 0 || held.length > 0,
    isHolding: () => holds > 0 || held.length > 0 || tty.pending() > HIGH_WATER,
    release: () => {
      holds -= 1;
      if (holds > 0) return;
      const waiting = held;
      held = [];
      heldBytes = 0;
      for (const bytes of waiting) deliver(bytes);
      if (tty.pending() <= HIGH_WATER) stage.child?.resume();
    },
    written: () => written,
    drained: () => {
      if (holds === 0) stage.child?.resume();
    },
  };
};
