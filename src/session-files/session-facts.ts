import type { Env, SessionLog } from '../agents/agent.js';
import type { SessionResult, Wanted } from '../agents/session-format.js';
import type { Boundary, Fact } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { leftTokens } from '../core/evidence.js';
import { present } from '../core/present.js';

// Makes facts for the core of the lines of a session file, and says when they cannot be read.

/** Collects the facts of a stretch of a session file and gives those that still matter at its end. */
export interface FactCoalescer {
  readonly add: (fact: Fact) => void;
  readonly flush: () => readonly Fact[];
}

/**
 * Of several readings at once only the last one counts, so a resumed session of any length gives one. Old compactions do not belong to this
 * session, and one that is read again (a rewritten file, a return to a session) is not a second one: both only void the reading.
 */
export const makeFactCoalescer = (startedAt: () => Millis): FactCoalescer => {
  const counted = new Set<Millis>();
  let waiting: readonly Fact[] = [];

  const asNew = (fact: Fact): Fact => {
    if (fact.type !== 'boundary') return fact;
    const { at } = fact.boundary;
    if (at < startedAt() || counted.has(at))
      return { type: 'voided', ...present({ leftTokens: leftTokens(fact.boundary) }) };
    counted.add(at);
    return fact;
  };

  return {
    add: (fact) => {
      if ((fact.type === 'context-added' || fact.type === 'message-refused') && fact.at < startedAt()) return;
      waiting = fact.type === 'initiator' ? withInitiator(waiting, fact) : added(waiting, asNew(fact));
    },
    flush: () => {
      const facts = waiting;
      waiting = [];
      return facts;
    },
  };
};

/**
 * The boundary and its initiator are written together, so the boundary is still waiting here. For one reported earlier the initiator is not
 * needed.
 */
const withInitiator = (
  waiting: readonly Fact[],
  { at, initiator }: Extract<Fact, { readonly type: 'initiator' }>,
): readonly Fact[] =>
  waiting.map((fact) =>
    fact.type === 'boundary' && fact.boundary.at === at
      ? { ...fact, boundary: { ...fact.boundary, initiator } }
      : fact,
  );

const added = (waiting: readonly Fact[], fact: Fact): readonly Fact[] => {
  switch (fact.type) {
    case 'growth': {
      const last = waiting.at(-1);
      if (last?.type !== 'growth') return [...waiting, fact];
      return [...waiting.slice(0, -1), { type: 'growth', tokens: last.tokens + fact.tokens }];
    }
    case 'window':
      return [...waiting.filter((each) => !isClaimFor(fact.claim.model, each)), fact];
    case 'context-added':
    case 'message-refused':
      return [...waiting, fact];
    case 'compact-result':
      return [...waiting.filter(({ type }) => type !== 'compact-result'), fact];
    case 'cache':
    case 'model':
    case 'limits':
    case 'work':
      return [...waiting.filter(({ type }) => type !== fact.type), fact];
    default:
      return [...waiting.filter(({ type }) => keptTypes.includes(type)), fact];
  }
};

/** Facts that a later reading does not replace. */
const keptTypes: readonly Fact['type'][] = [
  'boundary',
  'window',
  'model',
  'compact-result',
  'cache',
  'limits',
  'work',
  'context-added',
  'message-refused',
];

const isClaimFor = (model: string | undefined, fact: Fact): boolean =>
  fact.type === 'window' && fact.claim.model === model;

/** How well the lines of a session file match the agent's known format, since the last reading. */
interface FormatCheck {
  readonly hasReading: boolean;
  readonly lines: number;
  readonly parseErrors: number;
  readonly reason?: string;
}

const startFormatCheck: FormatCheck = { hasReading: false, lines: 0, parseErrors: 0 };

// A single broken line in a file that was readable so far means nothing.
const PARSE_ERRORS_AFTER_READING = 3;
// A conversation has an answer with its usage long before this.
const LINES_WITHOUT_READING = 200;

const checkLine = (formatCheck: FormatCheck, step: SessionResult): FormatCheck => {
  if (step.facts.some((fact) => fact.type === 'reading')) return { ...startFormatCheck, hasReading: true };
  const lines = formatCheck.lines + 1;
  return step.misfit === undefined
    ? { ...formatCheck, lines }
    : { ...formatCheck, lines, parseErrors: formatCheck.parseErrors + 1, reason: step.misfit };
};

/** Why the file cannot be read as a session of this agent; undefined where it can. */
const formatProblem = ({ hasReading, lines, parseErrors, reason }: FormatCheck): string | undefined => {
  if (parseErrors >= (hasReading ? PARSE_ERRORS_AFTER_READING : 1)) return reason;
  return !hasReading && lines >= LINES_WITHOUT_READING ? 'no usage in any record' : undefined;
};

// What is sent with every request, the system prompt and the tools, is in the agent's counts but not in every agent's estimate of what a
// compaction leaves. The first count of a conversation tells how much it is.

/** What the lines so far tell of it. */
interface FixedPart {
  /** tokens, at most */
  readonly tokens?: number;
  /** of all text that the next count holds besides, by estimate; undefined if that is not known */
  readonly textTokens?: number | undefined;
  /** the last count */
  readonly usedTokens?: number;
}

const NOTHING_READ: FixedPart = { textTokens: 0 };

const updateFixed = (before: FixedPart, fact: Fact): FixedPart => {
  const { tokens = Infinity, textTokens } = before;
  switch (fact.type) {
    case 'growth':
      return textTokens === undefined ? before : { ...before, textTokens: textTokens + fact.tokens };
    case 'reading': {
      const { source, usedTokens } = fact.reading;
      if (source !== 'log' || usedTokens === undefined) return before;
      const rest = textTokens === undefined ? usedTokens : Math.max(0, usedTokens - textTokens);
      const isKnown = textTokens !== undefined || before.tokens !== undefined;
      return { usedTokens, ...(isKnown ? { tokens: Math.min(tokens, rest) } : {}) };
    }
    case 'boundary':
      return { ...before, textTokens: fact.boundary.postTokens };
    case 'voided':
      return { ...before, textTokens: undefined };
    default:
      return before;
  }
};

/** The boundary with the fixed part, unless that would leave as much as there was. */
const withFixed = ({ tokens, usedTokens = Infinity }: FixedPart, boundary: Boundary): Boundary => {
  const { preTokens = usedTokens, postTokens = 0 } = boundary;
  return tokens === undefined || tokens + postTokens >= preTokens
    ? boundary
    : { ...boundary, fixedTokens: tokens };
};

/** Where a line is: its number from 0, and the bytes before it. */
export interface LinePosition {
  readonly line?: number;
  readonly offset?: number | undefined;
}

/** Reads the lines of a session file into an inbox. */
export const makeFileReader = (
  log: SessionLog,
  env: Env,
  { add }: Pick<FactCoalescer, 'add'>,
  wanted: Wanted = {},
) => {
  let reader = log.reader(env, wanted);
  let formatCheck = startFormatCheck;
  let fixed = NOTHING_READ;
  let reportedProblem: string | undefined;
  let compactedAt: number | undefined; // where the record of a compaction began that was not reported yet
  let pendingBoundary: Boundary | undefined;
  const whole = (fact: BoundaryFact): BoundaryFact =>
    log.leavesOutFixed ? { ...fact, boundary: withFixed(fixed, fact.boundary) } : fact;
  return {
    read: (text: string, now: Millis, { line, offset }: LinePosition = {}): SessionResult => {
      const step = reader(text, now, line);
      reader = step.next;
      formatCheck = checkLine(formatCheck, step);
      for (const fact of step.facts) {
        add(fact.type === 'boundary' ? placed(whole(fact), compactedAt ?? offset) : fact);
        fixed = updateFixed(fixed, fact);
      }
      if (step.pendingBoundary) [pendingBoundary, compactedAt] = [step.pendingBoundary, offset];
      else if (step.facts.some(({ type }) => type === 'boundary'))
        [pendingBoundary, compactedAt] = [undefined, undefined];
      return step;
    },
    /** the file ends here: what would be reported with a later line */
    end: (): void => {
      if (pendingBoundary) add(placed(whole({ type: 'boundary', boundary: pendingBoundary }), compactedAt));
      pendingBoundary = undefined;
    },
    /** only what has to be remembered for the lines that follow */
    skim: (line: string, now: Millis): void => {
      const step = reader(line, now);
      reader = step.next;
      fixed = step.facts.reduce(updateFixed, fixed);
    },
    /** the text until the next count tells how much of that is fixed */
    needsText: (): boolean => log.leavesOutFixed === true && fixed.textTokens !== undefined,
    /** another file, or the same one written anew */
    restart: (): void => {
      reader = log.reader(env, wanted);
      formatCheck = startFormatCheck;
      fixed = NOTHING_READ;
      [pendingBoundary, compactedAt] = [undefined, undefined];
    },
    /** why it cannot be read, when that is new */
    problem: (): string | undefined => {
      const problem = formatProblem(formatCheck);
      const isNew = problem !== reportedProblem;
      reportedProblem = problem;
      return isNew ? problem : undefined;
    },
  };
};

type BoundaryFact = Extract<Fact, { readonly type: 'boundary' }>;

const placed = (fact: BoundaryFact, offset: number | undefined): Fact =>
  offset === undefined ? fact : { ...fact, boundary: { ...fact.boundary, offset } };
