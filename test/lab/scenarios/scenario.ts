// The lab's stories, which know more of an agent than it takes to try it.
import type { Stage as AnyStage } from '../../../src/verify/stage.js';
import type { LabAgent } from '../agents/agent.js';

export type Stage = AnyStage<LabAgent>;

/** A story with an agent, and what must come of it. */
export interface Scenario {
  readonly name: string;
  /** a sentence for the table */
  readonly expects: string;
  /** undefined: for every agent */
  readonly isFor?: (agent: LabAgent) => boolean;
  /** of ctxwrap */
  readonly options?: readonly string[];
  /** to be there before the start, by their paths in the home; they come before what the agent has there. `program` runs ctxwrap in a shell */
  readonly files?: (program: string, agent: LabAgent) => Readonly<Record<string, string>>;
  readonly isVim?: boolean;
  /** the command as it is typed in this story; the agent's own strokes when absent */
  readonly strokes?: (agent: LabAgent) => readonly string[];
  /** how long the model takes for a summary, in milliseconds; SUMMARY_MS when absent */
  readonly summaryMs?: number;
  /** the terminal understands OSC 7501, and says so when it is asked */
  readonly hearsState?: boolean;
  /** how often the whole command is typed; undefined: the story judges the keys itself */
  readonly typed?: number;
  /** plays it, fails where it goes wrong, and gives what proves it, in a few words */
  readonly play: (stage: Stage) => Promise<string>;
}

/** A real one takes 10 to 120 s. */
export const SUMMARY_MS = 20_000;
/** For stories in which only what comes before the compaction counts. */
export const QUICK_SUMMARY_MS = 2_000;

/** Bounds of the tiers in every story, in tokens, and numbers that lie between them. */
export const BOUNDS = { warn: 30_000, auto: 50_000, hard: 70_000 } as const;
export const LITTLE = 10_000;
export const SOME = 20_000;
export const FULL = 55_000;
export const HARD = 75_000;
/** Longer than quiet, settled and countdown together. */
export const WATCH_MS = 20_000;
