import type { Bound, LadderChoice } from './ladder.js';

// A limit that the user sets by a key: below it the window is kept for the rest of the session, whatever the settings say.

/** Where the tier auto begins in this session; `none`: where it begins if nobody sets it. */
export type SessionLimit = Bound | 'none';

/** How long a chosen limit holds. */
export type LimitSpan = 'session' | 'always';

/** The user's choice. */
export interface LimitAnswer {
  readonly limit: SessionLimit;
  readonly span: LimitSpan;
}

const inThousands = (thousands: number): { readonly name: string; readonly limit: SessionLimit } => ({
  name: `${thousands}k`,
  limit: { value: thousands * 1_000, unit: 'tokens' },
});

/** The limits to choose from. A name is the value in a configuration file as well. */
export const limitChoices = [
  ...[200, 300, 500].map(inThousands),
  { name: 'no limit', limit: 'none' },
] as const satisfies readonly { readonly name: string; readonly limit: SessionLimit }[];

/** The name of one of them; undefined for any other limit. */
export const limitName = (limit: SessionLimit): string | undefined =>
  limitChoices.find((each) => isSameLimit(each.limit, limit))?.name;

export const isSameLimit = (a: SessionLimit, b: SessionLimit): boolean =>
  a === 'none' || b === 'none' ? a === b : a.unit === b.unit && a.value === b.value;

/** What is marked in the list of choices. */
export interface LimitSelection {
  /** index in `limitChoices`; absent until the user or the drawing has marked one */
  readonly choice?: number;
  readonly span: LimitSpan;
}

/** The boundaries with the session's own limit in place of those of the settings. */
export const withSessionLimit = (choice: LadderChoice, limit: SessionLimit | undefined): LadderChoice => {
  if (limit === undefined) return choice;
  const { auto: _, limits: __, ...rest } = choice;
  return limit === 'none' ? rest : { ...rest, auto: limit };
};

/** The session's boundaries, and its own limit above them. */
export interface LimitedLadder {
  readonly ladder: LadderChoice;
  readonly limit?: SessionLimit | undefined;
}

/** What a chosen limit changes. One that the user's file has as well is one of the settings. */
export const afterLimit = (
  { ladder }: LimitedLadder,
  { limit, isSaved }: { readonly limit: SessionLimit; readonly isSaved?: true },
): LimitedLadder => {
  if (!isSaved) return { ladder, limit };
  const { auto: _, ...rest } = ladder;
  return { ladder: limit === 'none' ? rest : { ...rest, auto: limit }, limit: undefined };
};
