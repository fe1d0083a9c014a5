import type { TriedAgent } from './agents/agent.js';
import type { Stage } from './stage.js';

/** A real one takes 10 to 120 s. */
export const SUMMARY_MS = 20_000;

/** A story with an agent, and what must come of it. */
export interface Scenario<Agent extends TriedAgent = TriedAgent> {
  readonly name: string;
  /** a sentence for the table */
  readonly expects: string;
  /** undefined: for every agent */
  readonly isFor?: (agent: Agent) => boolean;
  /** of ctxwrap */
  readonly options?: readonly string[];
  /** to be there before the start, by their paths in the home; they come before what the agent has there. `program` runs ctxwrap in a shell */
  readonly files?: (program: string, agent: Agent) => Readonly<Record<string, string>>;
  readonly isVim?: boolean;
  /** the command as it is typed in this story; the agent's own strokes when absent */
  readonly strokes?: (agent: Agent) => readonly string[];
  /** how long the model takes for a summary, in milliseconds; SUMMARY_MS when absent */
  readonly summaryMs?: number;
  /** the terminal understands OSC 7501, and says so when it is asked */
  readonly hearsState?: boolean;
  /** how often the whole command is typed; undefined: the story judges the keys itself */
  readonly typed?: number;
  /** plays it, fails where it goes wrong, and gives what proves it, in a few words */
  readonly play: (stage: Stage<Agent>) => Promise<string>;
}

/** Rejects with the sentence unless the condition holds. */
export const must = (isTrue: boolean, sentence: string): void => {
  if (!isTrue) throw new Error(sentence);
};
