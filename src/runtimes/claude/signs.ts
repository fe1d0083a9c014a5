// The signs that Claude draws change from version to version; what kind of sign stands where has not. Each class holds those that were
// seen (facts/claude.md §5, facts/updates-2026-11-22.md) and their relatives, so that another one of the kind still reads.

/** Points to the right: before what the user types, and before what the user has said. `❯`, `>` in old versions. */
export const POINTER = '[>›»❯❱⟩〉➜➤→▶▸►▷▹⏵‣]';

/** Hangs an answer under what it belongs to: `⎿`. */
export const CORNER = '[⎿└╰┗╚↳⌊∟]';

/** Before what Claude says and does: `●`, `⏺` on other systems. */
export const BULLET = '[●⏺•◆■○◉◦∙]';

/** Before the row that tells of work: Claude draws these in turns. */
export const SPINNER = '[·✢✳✶✻✽*]';

/** What begins a message as it is known: a row with such a sign tells nothing of Claude's own state. */
export const TALK = `(?:${POINTER}|[●⏺])`;

/** Any other sign that is no letter, no digit, and no part of a picture or a line. */
export const ANY_SIGN = String.raw`(?!${TALK})[^\p{L}\p{N}\s\u2500-\u259f…]`;

// One character over the whole width. No dashes: in a dialog they separate what is shown from what is asked.
const SOLID = '─━═⎯—―_‾▁';

/** The character of a bar that goes over the whole width; undefined where the row holds anything else. */
export const barOf = (row: string, columns: number): string | undefined => {
  const [sign] = row;
  return sign !== undefined && SOLID.includes(sign) && row === sign.repeat(columns) ? sign : undefined;
};
