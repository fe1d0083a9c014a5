import { mayEndWork } from '../core/conversation/command-evidence.js';
import type { SessionResult } from '../agents/session-format.js';
import type { Step } from '../core/conversation/conversation.js';
import {
  inNewWindow,
  noWorkRecords,
  withEntry,
  workOf,
  type Work,
  type WorkRecords,
} from '../core/conversation/work-progress.js';
import type { FactCoalescer } from './session-facts.js';

// Tells where the agent is in its work, from the lines of a session file that are read for their numbers anyway.

/** In the lines of all calls of plan tools. */
const PLANS = /[Pp]lan|[Tt]odo|Task/;
const LONGEST_CALL = 20_000; // characters of its line
const LONGEST_LINE = 200_000;

/** Cheap, because it is asked of every line that is parsed; most steps need not be made then. */
const mayTell = ({ ended, calls }: WorkRecords, line: string): boolean => {
  if (line.length > LONGEST_LINE) return false;
  if (ended !== undefined) return true;
  if (line.length <= LONGEST_CALL && (PLANS.test(line) || mayEndWork(line))) return true;
  for (const [id, call] of calls) if (call !== undefined && line.includes(id)) return true;
  return false;
};

/** Puts what the lines of one file tell of the work into an inbox, when it has changed. */
export const makeWorkFollower = ({ add }: Pick<FactCoalescer, 'add'>) => {
  let records = noWorkRecords;
  let last: Work = {};
  const tell = (): void => {
    const work = workOf(records);
    if (isSame(work, last)) return;
    last = work;
    add({ type: 'work', work });
  };
  return {
    read: (line: string, { facts, steps }: SessionResult): void => {
      if (facts.some(({ type }) => type === 'boundary' || type === 'voided')) records = inNewWindow(records);
      if (steps && mayTell(records, line)) records = steps().reduce(withStep, records);
      tell();
    },
    /** another file, or the same one written anew */
    restart: (): void => {
      records = noWorkRecords;
      tell();
    },
  };
};

const withStep = (records: WorkRecords, step: Step): WorkRecords => {
  switch (step.kind) {
    case 'record':
      return step.entries.reduce(withEntry, records);
    case 'rewritten':
    case 'rewound':
    case 'rewound-turns':
      return inNewWindow(records);
    default:
      return records;
  }
};

const isSame = (one: Work, other: Work): boolean =>
  one.ended === other.ended &&
  (one.plan === undefined) === (other.plan === undefined) &&
  one.tasks?.done === other.tasks?.done &&
  one.tasks?.total === other.tasks?.total &&
  one.tasks?.current === other.tasks?.current;
