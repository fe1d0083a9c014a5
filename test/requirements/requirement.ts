// One thing that a source asks for, what became of it, and where you can see that.

/** The answers that an item can have, in the order of the page, with what each one means. */
export const verdicts = {
  works: 'as it was asked for',
  adapted: 'the same purpose, in the form that fits a program around the agent',
  different: 'on purpose otherwise',
  'not for a wrapper': 'concerns what belongs to the agent or to another program; the nearest thing is named',
  'record of history': 'asks for nothing: a link, a reason, an estimate, a plan that is over',
  partly: 'a part is missing, and named',
  missing: 'not there, though it would make sense',
} as const;

export type Verdict = keyof typeof verdicts;

/** A test by its file below `test/` and its title, or its whole name where several have the same title. */
export type Evidence = readonly [file: `${string}.test.ts`, title: string];

export interface Requirement {
  /** `S2.05` is the fifth item of source 2, `C.3` the third of the product. */
  readonly id: string;
  /** What is asked for, in a sentence. */
  readonly asks: string;
  readonly verdict: Verdict;
  /** Why it is not exactly as asked; needed unless it works. */
  readonly why?: string;
  readonly shownBy: readonly [Evidence, ...Evidence[]];
}

export interface Source {
  /** What the ids of its items begin with. */
  readonly prefix: string;
  readonly title: string;
  /** What it is, in a line. */
  readonly about: string;
  /** How many items it has. */
  readonly count: number;
  readonly items: readonly Requirement[];
}
