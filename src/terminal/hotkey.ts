/**
 * The hotkey in the three forms in which terminals send a control key: the control byte, `CSI code ; modifiers u` (kitty keyboard
 * protocol, with its event types) and `CSI 27 ; modifiers ; code ~` (xterm's modifyOtherKeys).
 */

const CONTROL = 4;
const LOCKS = 64 | 128; // caps lock and num lock count as modifiers in the kitty protocol

/** The key that Ctrl turns into this control byte: 0x1d → `]`, 0x07 → `g`. */
const codePointOf = (control: number): number => {
  const upper = control + 0x40;
  return upper >= 0x41 && upper <= 0x5a ? upper + 0x20 : upper;
};

const modifiersOf = (text: string | undefined): number => (Number.parseInt(text ?? '1', 10) - 1) & ~LOCKS;

/** What a complete control sequence from the keyboard says about the hotkey; a release must not reach the child either. */
export type KeyMeaning = 'press' | 'release' | 'other';

export const keyMeaning = (sequence: string, hotkey: number): KeyMeaning => {
  const code = codePointOf(hotkey);
  const kitty = /^\x1b\[(\d+)(?::[\d:]*)?;(\d+)(?::(\d+))?(?:;[\d:]*)?u$/.exec(sequence);
  if (kitty) {
    const matches = Number(kitty[1]) === code && modifiersOf(kitty[2]) === CONTROL;
    return !matches ? 'other' : kitty[3] === '3' ? 'release' : 'press';
  }
  const other = /^\x1b\[27;(\d+);(\d+)~$/.exec(sequence);
  return other && Number(other[2]) === code && modifiersOf(other[1]) === CONTROL ? 'press' : 'other';
};
