import type { Millis } from '../reading.js';

// What the user has marked in a recap, apart from it: what handles the keys needs nothing else of a recap.

/** Chosen lines of the recap of one compaction. */
export interface RecapChoice {
  /** the time of the compaction */
  readonly at: Millis;
  /** of the lines */
  readonly keys: readonly string[];
}

/** What the user has marked in a recap. */
export interface RecapSelection {
  /** the time of its compaction; undefined until a recap was drawn */
  readonly at?: Millis;
  /** the place of the line with the cursor */
  readonly line: number;
  /** keys of the chosen lines; undefined as long as the user has changed nothing of what is chosen at first */
  readonly chosen?: readonly string[];
  /** keys of the lines that were not chosen when others were given back: none of them is chosen at first again */
  readonly declined?: readonly string[];
}

export const noSelection: RecapSelection = { line: 0 };

/** The selection for the recap of this compaction: anew if it is of another one. */
export const selectionAt = (at: Millis, selection: RecapSelection): RecapSelection =>
  selection.at === at ? selection : { ...noSelection, at };

/** A recap as it was drawn. */
export interface ShownRecap extends RecapChoice {
  /** the keys of the chosen lines among them */
  readonly chosen: readonly string[];
}

/** Chooses the line with the cursor, or no longer. */
export const toggle = (selection: RecapSelection, shown: ShownRecap): RecapSelection => {
  const { chosen = shown.chosen } = selection;
  const key = shown.keys[selection.line];
  if (key === undefined) return selection;
  const others = chosen.filter((each) => each !== key);
  return { ...selection, chosen: others.length < chosen.length ? others : [...others, key] };
};

/** The selection at the first line, when the recap opens again: what the user has chosen stays as long as it is the same recap. */
export const openedAgain = (selection: RecapSelection): RecapSelection => ({ ...selection, line: 0 });

/** The selection after these lines were given back. */
export const afterGiving = ({ at, keys }: RecapChoice, shown: ShownRecap): RecapSelection => ({
  at,
  line: 0,
  declined: shown.keys.filter((key) => !keys.includes(key)),
});
