import { mayEndWork, workOutcome } from './command-evidence.js';
import { present } from '../present.js';
import { planAfter, type Call, type Entry, type PlanItem, type Result } from './conversation.js';

// Where the agent is in its work, told by its records alone and while they are written: its plan, and what ends a piece of work.

/** What has ended a piece of work: a commit, an item of the plan or all of it done, tests that passed. */
export type WorkEnd = 'commit' | 'item' | 'plan' | 'tests';

/** Where the agent is in its work. */
export interface Work {
  /** of a plan that is being worked on: an item is active, and one was done since the last compaction */
  readonly plan?: PlanProgress;
  /** of any plan that the agent has written */
  readonly tasks?: Tasks;
  /** a piece of work has just ended: no file was changed since, and the user has said nothing */
  readonly ended?: WorkEnd;
}

/** How many items of the plan are done, without those that were dropped. */
export interface PlanProgress {
  readonly done: number;
  readonly total: number;
}

/** The items of a plan, and the one that is active, in the agent's words. */
export interface Tasks extends PlanProgress {
  readonly current?: string;
}

/** What the records so far tell of it. */
export interface WorkRecords {
  readonly plan: readonly PlanItem[];
  /** an item was done since the last compaction */
  readonly hasDone: boolean;
  readonly ended?: WorkEnd | undefined;
  /** the last calls that may tell of it, by their ids; undefined for those that have their result */
  readonly calls: ReadonlyMap<string, Call | undefined>;
}

export const noWorkRecords: WorkRecords = { plan: [], hasDone: false, calls: new Map() };

/** After a compaction, or when the user has gone back: the plan holds, what was done of it is no longer known to the model. */
export const inNewWindow = (records: WorkRecords): WorkRecords => ({
  ...records,
  hasDone: false,
  ended: undefined,
});

/** After one more entry. */
export const withEntry = (records: WorkRecords, entry: Entry): WorkRecords => {
  if (entry.isCopy) return records;
  switch (entry.kind) {
    case 'prompt':
      return { ...records, ended: undefined };
    case 'call':
      return withCall(records, entry);
    case 'result':
      return withResult(records, entry);
    default:
      return records;
  }
};

export const workOf = ({ plan, hasDone, ended }: WorkRecords): Work => {
  const wanted = plan.filter(({ status }) => status !== 'cancelled');
  const current = wanted.find(({ status }) => status === 'active');
  const progress = { done: wanted.filter(isDone).length, total: wanted.length };
  return {
    ...(hasDone && current ? { plan: progress } : {}),
    ...(wanted.length > 0 ? { tasks: { ...progress, ...present({ current: current?.text }) } } : {}),
    ...(ended === undefined ? {} : { ended }),
  };
};

const MOST_CALLS = 50;

const withCall = (records: WorkRecords, call: Call): WorkRecords => {
  const { callId, commands, plan, files } = call;
  if (records.calls.has(callId)) return records; // the record was written again
  const changed = files.some(({ access }) => access === 'edit') ? { ...records, ended: undefined } : records;
  if (plan === undefined && !commands?.some(mayEndWork)) return changed;
  const calls = [...records.calls, [callId, call] as const].slice(-MOST_CALLS);
  return { ...changed, calls: new Map(calls) };
};

const withResult = (records: WorkRecords, result: Result): WorkRecords => {
  const call = records.calls.get(result.callId);
  if (!call) return records;
  const calls = new Map(records.calls).set(result.callId, undefined);
  const after = withPlan({ ...records, calls }, planAfter(records.plan, { call, result }));
  switch (workOutcome({ call, result })) {
    case 'commit':
      return { ...after, ended: 'commit' };
    case 'tests-passed':
      return { ...after, ended: 'tests' };
    case 'tests-failed':
      return { ...after, ended: undefined };
    default:
      return after;
  }
};

const withPlan = (records: WorkRecords, plan: readonly PlanItem[]): WorkRecords => {
  if (plan === records.plan) return records;
  const known = new Set(records.plan.filter(isDone).map(nameOf));
  // a plan that is written for the first time may begin with what was done before it
  if (records.plan.length === 0 || !plan.some((item) => isDone(item) && !known.has(nameOf(item))))
    return { ...records, plan };
  const isOver = plan.every(({ status }) => status === 'done' || status === 'cancelled');
  return { ...records, plan, hasDone: true, ended: isOver ? 'plan' : 'item' };
};

const isDone = ({ status }: PlanItem): boolean => status === 'done';
const nameOf = ({ id, text }: PlanItem): string => id ?? text;
