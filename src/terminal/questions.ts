/** Who waits for the terminal's next answer of a kind: terminals answer in order, and the child asks the same things. */
export interface Questions {
  /** `final` of the answer: `R` for CPR, `c` for DA2 */
  ask: (final: string, ours: boolean) => void;
  /** true if the next answer of this kind is to a question of ours, which is then answered */
  take: (final: string) => boolean;
  /** the child still waits for an answer of this kind */
  awaits: (final: string) => boolean;
  /** questions of ours that are still open */
  open: () => number;
}

const EXPIRY_MS = 2_000; // after that it is a key: Shift-F3 looks like the cursor's position in row 1
const MAX_OPEN = 64; // a terminal that never answers must not make the list grow

export const makeQuestions = (): Questions => {
  let open: { readonly final: string; readonly ours: boolean; readonly askedAt: number }[] = [];
  const isFresh = ({ askedAt }: { readonly askedAt: number }): boolean =>
    performance.now() - askedAt < EXPIRY_MS;
  return {
    ask: (final, ours) => {
      open = [...open, { final, ours, askedAt: performance.now() }].slice(-MAX_OPEN);
    },
    take: (final) => {
      open = open.filter(isFresh);
      const index = open.findIndex((question) => question.final === final);
      const question = open[index];
      // a terminal answers in order: what was asked before and has no answer yet will not get one
      if (question) open = open.slice(index + 1);
      return question?.ours ?? false;
    },
    awaits: (final) =>
      open.some((question) => question.final === final && !question.ours && isFresh(question)),
    open: () => open.filter((question) => question.ours && isFresh(question)).length,
  };
};
