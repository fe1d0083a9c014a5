// Bytes for the child, the user's and ours, in one order.
import type { Millis } from '../../core/reading.js';
import type { Stage } from '../stage.js';
import type { KeyHold } from './type-order.js';

export interface KeySink {
  /** the user's bytes */
  readonly forward: (bytes: Uint8Array) => void;
  /** bytes of ours; the recording shows them among the keys */
  readonly type: (bytes: Uint8Array) => void;
  /** keeps the user's bytes back until they are released; a hold that is not released yet gives way to the new one */
  readonly hold: () => KeyHold;
  /** how often the user has typed so far, what is held included */
  readonly typed: () => number;
  /** when Enter went to the child last, by the clock on the wall; undefined while never */
  readonly enteredAt: () => Millis | undefined;
}

export interface SinkListener {
  /** bytes of the user's that went to the child */
  readonly onForward: (bytes: Uint8Array) => void;
  /** keys are among them */
  readonly onTyped: () => void;
}

// What a terminal sends without a key: answers (CSI … c n R t u y, DCS, OSC), focus, and the mouse.
const UNTYPED =
  /\x1b\[[?>=]?[\d;:]*\$?[cnRty]|\x1b\[\?\d+u|\x1b\[[IO]|\x1b\[<[\d;]*[Mm]|\x1b\[M[^]{3}|\x1b[P\]][^\x07\x1b]*(?:\x07|\x1b\\)/g;

/** Whether a person pressed a key, or the terminal speaks for itself. */
export const isTyped = (bytes: Uint8Array): boolean => {
  if (!bytes.includes(0x1b)) return bytes.length > 0;
  return Buffer.from(bytes).toString('latin1').replaceAll(UNTYPED, '') !== '';
};

const ESC = 0x1b;
const ESCAPE_MS = 50; // before the next key, or an agent takes both for one key with Alt

/** Also as the keyboard protocols of kitty and xterm write it. */
const isEnter = (bytes: Uint8Array): boolean =>
  bytes.includes(0x0d) || /\x1b\[(?:13[;:\d]*u|27;\d+;13~)/.test(Buffer.from(bytes).toString('latin1'));

export const makeKeySink = (
  stage: Pick<Stage, 'child' | 'session'>,
  { onForward, onTyped }: SinkListener,
): KeySink => {
  let enteredAt: Millis | undefined;
  let held: Uint8Array[] | undefined;
  let releasing: NodeJS.Timeout | undefined;
  let typed = 0;

  const write = (bytes: Uint8Array): void => {
    stage.child?.write(bytes);
    stage.session.recording?.input(bytes);
  };
  const send = (bytes: Uint8Array, isKey: boolean): void => {
    write(bytes);
    if (isEnter(bytes)) enteredAt = Date.now();
    onForward(bytes);
    if (isKey) onTyped();
  };
  /** Read by read, as they were typed: what came in one read is one write, and a lone ESC stays one. */
  const release = (waiting: Uint8Array[]): void => {
    if (held !== waiting) return;
    for (let bytes = waiting.shift(); bytes; bytes = waiting.shift()) {
      send(bytes, true); // only keys wait
      if (bytes.at(-1) !== ESC || waiting.length === 0) continue;
      releasing = setTimeout(() => release(waiting), ESCAPE_MS);
      return;
    }
    held = undefined;
  };
  return {
    type: write,
    forward: (bytes) => {
      if (bytes.length === 0) return;
      const isKey = isTyped(bytes);
      if (isKey) typed += 1;
      // what the terminal answers to the child does not wait: some agents stand still for it
      if (held && isKey) held.push(Uint8Array.from(bytes));
      else send(bytes, isKey);
    },
    hold: () => {
      clearTimeout(releasing);
      const waiting = held?.splice(0) ?? [];
      held = waiting;
      return {
        waiting: () => waiting.length,
        releaseOne: (behind) => {
          const [next] = held === waiting ? waiting.splice(behind, 1) : [];
          if (next) send(next, true);
        },
        release: () => release(waiting),
      };
    },
    typed: () => typed,
    enteredAt: () => enteredAt,
  };
};
