import type { LabAgent } from '../agents/agent.js';
import type { Stage } from '../stage.js';

/** A story with an agent, and what must come of it. */
export interface Scenario {
  readonly name: string;
  /** a sentence for the table */
  readonly expects: string;
  /** undefined: for every agent */
  readonly isFor?: (agent: LabAgent) => boolean;
  /** of ctxwrap */
  readonly options?: readonly string[];
  readonly isVim?: boolean;
  /** the command as it is typed in this story; the agent's own strokes when absent */
  readonly strokes?: (agent: LabAgent) => readonly string[];
  /** how often the whole command is typed; undefined: the story judges the keys itself */
  readonly typed?: number;
  /** plays it, fails where it goes wrong, and gives what proves it, in a few words */
  readonly play: (stage: Stage) => Promise<string>;
}

/** Rejects with the sentence unless the condition holds. */
export const must = (isTrue: boolean, sentence: string): void => {
  if (!isTrue) throw new Error(sentence);
};
