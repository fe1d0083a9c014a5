/*
 * Open queries of the wrapper and of the child to the terminal, which tell whose the terminal's next answer is. Terminals answer queries of
 * one kind in the order in which they were written, but not always those of different kinds: some have to ask a terminal around them. So
 * each kind has its own queue, and nothing expires by time.
 */

/** Kinds of queries; a terminal's answer shows which kind it belongs to. */
export type QueryKind =
  /** CPR: `CSI 6 n`, answered by `CSI row ; column R` */
  | 'cursor'
  /** DECXCPR: `CSI ? 6 n`, answered by `CSI ? row ; column R` */
  | 'extended cursor'
  /** DSR: `CSI 5 n`, answered by `CSI 0 n` */
  | 'status'
  /** DA1: `CSI c`, answered by `CSI ? … c` */
  | 'primary attributes'
  /** DA2: `CSI > c`, answered by `CSI > … c` */
  | 'secondary attributes'
  /** `OSC 11 ; ?`, answered by `OSC 11 ; colour` */
  | 'background'
  /** `CSI 14 t`, answered by `CSI 4 ; height ; width t`, in pixels */
  | 'text area'
  /** `OSC 7501 ; ?`, answered with the same bytes */
  | 'agent states';

/** Receives an answer to a query of the wrapper. */
export type AnswerHandler = (text: string) => void;

export interface QueryQueue {
  /** adds a query that the child has sent to the terminal; `isFirstRow`: its cursor is in row 1, so that the answer looks like a key */
  addChild: (kind: QueryKind, isFirstRow?: boolean) => void;
  /** adds a query of the wrapper; `onAnswer` gets its answer, however late it comes */
  addOwn: (kind: QueryKind, onAnswer?: AnswerHandler) => void;
  /** removes the query that this answer belongs to; undefined if the answer is not the wrapper's */
  takeAnswer: (kind: QueryKind) => AnswerHandler | undefined;
  /** as `takeAnswer`, for bytes inside a paste, which may be the user's: only an open query makes them an answer */
  takePasted: (kind: QueryKind) => AnswerHandler | undefined;
  /** notes a key that may be the answer to the child's oldest query; it is one only where the child's cursor is in row 1 */
  noteLookalike: (kind: QueryKind) => void;
  /** an answer to a query of the child may still come */
  isChildWaiting: (kind: QueryKind) => boolean;
  /** the wrapper waits for an answer of this kind */
  isOwnOpen: (kind: QueryKind) => boolean;
  /** an answer for the wrapper is probably on its way */
  isOwnAnswerExpected: () => boolean;
  /** a query of the wrapper has no answer, however old it is */
  hasOpenOwnQuery: () => boolean;
  /** calls back once, at the next answer after which none is expected for the wrapper */
  onceAnswered: (act: () => void) => void;
}

interface Query {
  /** place among all queries, in the order in which they were written to the terminal */
  readonly order: number;
  readonly askedAt: number;
  /** undefined for a query of the child */
  readonly onAnswer: AnswerHandler | undefined;
  /** its answer looks like a key */
  readonly isFirstRow: boolean;
}

const ignore: AnswerHandler = () => undefined;

/** Answers that are always the same: it matters how many each gets, but not which. The child's is not kept waiting for one that is lost. */
const sameAnswers: ReadonlySet<QueryKind> = new Set(['status', 'secondary attributes', 'background']);
const LOST_MS = 2_000; // a query of the wrapper that was unanswered for so long when the child asked the same
const MUTE_MS = 60_000; // a terminal that answers nothing for so long will not answer
const NEXT_MS = 2_000; // for the sentinel's answer after the one before it
// Limits for a terminal that never answers.
const MAX_OPEN = 4096;
const MAX_OWN = 64;

/** Removes the oldest queries of a kind when there are too many. */
const limitQueue = (queue: Query[]): void => {
  if (queue.length > MAX_OPEN) queue.shift();
  const own = queue.filter(({ onAnswer }) => onAnswer);
  if (own.length > MAX_OWN)
    queue.splice(
      queue.findIndex((query) => query === own[0]),
      1,
    );
};

/**
 * The query that an answer, which is no lookalike, belongs to: the oldest one that is due, or else the oldest one, whose answer was
 * overtaken by others.
 */
const likeliest = (queue: readonly Query[], isDue: (query: Query) => boolean): Query | undefined => {
  const candidates = queue.filter(({ isFirstRow }) => !isFirstRow);
  return candidates.find(isDue) ?? candidates[0] ?? queue[0];
};

/** The child's query that gets the answer although one of the wrapper is older. */
const preferred = (kind: QueryKind, queue: readonly Query[], oldest: Query): Query | undefined => {
  if (!oldest.onAnswer || !sameAnswers.has(kind)) return undefined;
  return queue.find(({ onAnswer, askedAt }) => !onAnswer && askedAt - oldest.askedAt >= LOST_MS);
};

/**
 * In row 1 it is the answer. Elsewhere it is a key; if the row was wrong, the answer to a later query shows that no better one comes.
 */
const noteLookalikeIn = (queue: Query[], isDue: (query: Query) => boolean): void => {
  const query = queue.find((each) => !each.onAnswer && isDue(each));
  if (query?.isFirstRow) queue.splice(queue.indexOf(query), 1);
};

/** It was asked so long ago that its answer, if it still comes, comes without warning. `answeredAt`: time of the last answer of any kind. */
const isOverdue = (kind: QueryKind, { askedAt }: Query, answeredAt: number, now: number): boolean =>
  kind === 'status' ? now - Math.max(askedAt, answeredAt) >= NEXT_MS : now - askedAt >= MUTE_MS;

export const makeQueryQueue = (now: () => number = () => performance.now()): QueryQueue => {
  const queues = new Map<QueryKind, Query[]>();
  const askedByUs = new Set<QueryKind>();
  let asked = 0;
  let answered = 0; // the latest query that has been answered
  let answeredAt = -Infinity;
  let waiting: (() => void) | undefined;

  const queueOf = (kind: QueryKind): Query[] => queues.get(kind) ?? [];
  /** No later query has been answered yet, so its answer is most likely still to come. */
  const isDue = ({ order }: Query): boolean => order > answered;
  const isOwnAnswerExpected = (): boolean =>
    [...queues].some(([kind, queue]) =>
      queue.some((query) => query.onAnswer && isDue(query) && !isOverdue(kind, query, answeredAt, now())),
    );

  const add = (kind: QueryKind, onAnswer: AnswerHandler | undefined, isFirstRow = false): void => {
    const queue = queueOf(kind);
    queues.set(kind, queue);
    asked += 1;
    queue.push({ order: asked, askedAt: now(), onAnswer, isFirstRow });
    if (onAnswer ? queue.length > MAX_OWN : queue.length > MAX_OPEN) limitQueue(queue);
  };
  const take = (kind: QueryKind): Query | undefined => {
    const queue = queueOf(kind);
    const likely = likeliest(queue, isDue);
    if (!likely) return undefined;
    const query = preferred(kind, queue, likely) ?? likely;
    queue.splice(queue.indexOf(query), 1);
    answered = Math.max(answered, likely.order); // at least this one
    answeredAt = now();
    if (waiting && !isOwnAnswerExpected()) {
      waiting();
      waiting = undefined;
    }
    return query;
  };
  return {
    addChild: (kind, isFirstRow) => add(kind, undefined, isFirstRow),
    addOwn: (kind, onAnswer = ignore) => {
      askedByUs.add(kind);
      add(kind, onAnswer);
    },
    takeAnswer: (kind) => {
      const query = take(kind);
      if (query) return query.onAnswer;
      return askedByUs.has(kind) ? ignore : undefined; // the terminal has answered a query twice
    },
    takePasted: (kind) => take(kind)?.onAnswer,
    noteLookalike: (kind) => noteLookalikeIn(queueOf(kind), isDue),
    isChildWaiting: (kind) => queueOf(kind).some((query) => !query.onAnswer && isDue(query)),
    isOwnOpen: (kind) => queueOf(kind).some(({ onAnswer }) => onAnswer),
    isOwnAnswerExpected,
    hasOpenOwnQuery: () => [...queues.values()].some((queue) => queue.some(({ onAnswer }) => onAnswer)),
    onceAnswered: (act) => void (waiting = act),
  };
};
