// The type of the lab's scenarios, and the values they share.
import type { Size } from '../../../src/terminal/tty.js';
import type { TrialSession as AnyStage } from '../../../src/verify/trial.js';
import { canSwitch, type LabAgent } from '../agents/agent.js';

export type LabSession = AnyStage<LabAgent>;

/** A scenario with an agent, and what is expected of it. */
export interface Scenario {
  readonly name: string;
  /** a sentence for the table */
  readonly expects: string;
  /** undefined: for every agent */
  readonly isFor?: (agent: LabAgent) => boolean;
  /** the agent as the scenario needs it */
  readonly adapt?: (agent: LabAgent) => LabAgent;
  /** of ctxwrap */
  readonly options?: readonly string[];
  /** the tiers begin where they do for a user, and not at the lab's low bounds */
  readonly hasUsualBounds?: boolean;
  /** files written before the start, by their paths in the home; the agent's own content is appended. `program` runs ctxwrap in a shell */
  readonly files?: (program: string, agent: LabAgent) => Readonly<Record<string, string>>;
  readonly isVim?: boolean;
  /** of the user's terminal, which is then recorded as `terminal.cast` in the folder of the session */
  readonly recordedSize?: Size;
  /** its background is light */
  readonly isLight?: boolean;
  /** no tool asks for permission */
  readonly isUnasked?: boolean;
  /** the agent runs with its background server, where it has one */
  readonly isInBackground?: boolean;
  /** the command's keystrokes in this scenario; the agent's own ones when absent */
  readonly strokes?: (agent: LabAgent) => readonly string[];
  /** how long the model takes for a summary, in milliseconds; SUMMARY_MS when absent */
  readonly summaryMs?: number;
  /** the terminal supports OSC 7501, and answers the query for it */
  readonly hearsState?: boolean;
  /** how often the whole command is typed; undefined: the scenario checks the keys itself */
  readonly typed?: number;
  /** ctxwrap pastes drafts, of which the audit log does not keep the text */
  readonly hasDrafts?: boolean;
  /** runs it, throws where it fails, and returns the evidence in a few words */
  readonly play: (session: LabSession) => Promise<string>;
}

/** A real summary takes 10 to 120 s. */
export const SUMMARY_MS = 20_000;
/** For scenarios that are about the time before the compaction. */
export const QUICK_SUMMARY_MS = 2_000;

/** Bounds of the tiers in every scenario, in tokens, and numbers between them. */
export const BOUNDS = { warn: 30_000, auto: 50_000, hard: 70_000 } as const;
export const LITTLE = 10_000;
export const SOME = 25_000; // more than Kimi counts for its own instructions
export const FULL = 55_000;
export const HARD = 75_000;
/** Longer than quiet, settled and countdown together. */
export const WATCH_MS = 20_000;

/** Only for agents that can be told to go on with another session while they run. */
export const whileRunning = (scenario: Scenario): Scenario => ({
  ...scenario,
  isFor: (agent) => canSwitch(agent) && (scenario.isFor?.(agent) ?? true),
});
