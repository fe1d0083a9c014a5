// What the agent is asked to keep is typed into its prompt, so it must be nothing but text.
import { oneLine } from '../one-line.js';

/** In characters. */
export const LONGEST_FOCUS = 200;

/** The text as it may be typed behind a command; undefined when nothing is left of it. */
export const focusText = (text: string): string | undefined => {
  // composed, so that what the prompt shows can be compared with what was typed
  const plain = oneLine(text, Infinity).normalize('NFC').replaceAll('@', ' '); // which opens a list of files
  const line = oneLine(plain, LONGEST_FOCUS).replace(/[\\\s]+$/, ''); // a backslash makes a line break of Enter
  return line === '' ? undefined : line;
};
