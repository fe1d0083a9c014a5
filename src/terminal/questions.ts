/** Who waits for the terminal's next answer of a kind: terminals answer in order, and the child asks the same things. */
export interface Questions {
  /** `final` of the answer: `R` for CPR, `c` for DA2, `?c` for DA1; `7501` for agent states */
  ask: (final: string, ours: boolean) => void;
  /** true if the next answer of this kind is to a question of ours, which is then answered; `couldBeKey`: a key writes the same bytes */
  take: (final: string, couldBeKey?: boolean) => boolean;
  /** the child still waits for an answer of this kind */
  awaits: (final: string) => boolean;
  /** the child has asked for one, however long ago, and nothing that was asked later is answered */
  isOpen: (final: string) => boolean;
  /** questions of ours whose answers may be on their way */
  open: () => number;
  /** an answer to us may be on its way over a slow line, in pieces */
  isAwaited: () => boolean;
  /** a question of ours has had no answer, however long ago it was asked */
  isUnanswered: () => boolean;
}

interface Question {
  readonly final: string;
  readonly ours: boolean;
  readonly askedAt: number;
}

const EXPIRY_MS = 2_000; // after that it is a key: Shift-F3 looks like the cursor's position in row 1
const SLOW_MS = 15_000; // for a line over which even the pieces of an answer come apart
// A terminal that never answers must not make the list grow.
const MAX_OPEN = 4096;
const MAX_OURS = 64;

export const makeQuestions = (now: () => number = () => performance.now()): Questions => {
  const open: Question[] = [];
  const isFresh = ({ askedAt }: Question): boolean => now() - askedAt < EXPIRY_MS;
  /**
   * Whose the answer is: the oldest question's. One of ours that had no answer before the child asked has probably been lost; if it has
   * not, the child gets an answer too old instead of none, and we get the other.
   */
  const indexOf = (final: string, couldBeKey: boolean): number => {
    const isAsked = (question: Question): boolean =>
      question.final === final && (!couldBeKey || isFresh(question));
    const first = open.findIndex(isAsked);
    const oldest = open[first];
    if (!oldest?.ours) return first;
    const later = open.findIndex((question) => isAsked(question) && !question.ours);
    const isLost = later >= 0 && (open[later]?.askedAt ?? 0) - oldest.askedAt >= EXPIRY_MS;
    return isLost ? later : first;
  };
  return {
    ask: (final, ours) => {
      open.push({ final, ours, askedAt: now() });
      if (open.length > MAX_OPEN) open.shift();
      if (ours && open.filter((question) => question.ours).length > MAX_OURS)
        open.splice(
          open.findIndex((question) => question.ours),
          1,
        );
    },
    take: (final, couldBeKey = false) => {
      const index = indexOf(final, couldBeKey);
      const question = open[index];
      if (!question) return false;
      // a terminal answers in order: what was asked before and has no answer yet will not get one; but ours may only seem lost
      const before = open.splice(0, index + 1).filter(({ ours }) => ours && !question.ours);
      open.unshift(...before);
      return question.ours;
    },
    awaits: (final) =>
      open.some((question) => question.final === final && !question.ours && isFresh(question)),
    isOpen: (final) => open.some((question) => question.final === final && !question.ours),
    open: () => open.filter((question) => question.ours && isFresh(question)).length,
    isAwaited: () => open.some(({ ours, askedAt }) => ours && now() - askedAt < SLOW_MS),
    isUnanswered: () => open.some(({ ours }) => ours),
  };
};
