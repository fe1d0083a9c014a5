/** The four designated character sets, each as the bytes after ESC, and which of them the locking shifts SI, SO, LS2 or LS3 shifted in. */
export interface Charsets {
  readonly designations: readonly [string, string, string, string];
  readonly shifted: 0 | 1 | 2 | 3;
}

export const asciiCharsets: Charsets = { designations: ['(B', ')B', '*B', '+B'], shifted: 0 };

const lockingShifts = ['\x0f', '\x0e', '\x1bn', '\x1bo']; // SI, SO, LS2, LS3

/** Designates the child's character sets and shifts as it has. */
export const charsetSequence = ({ designations, shifted }: Charsets): string =>
  designations.map((designation) => `\x1b${designation}`).join('') + (lockingShifts[shifted] ?? '');
