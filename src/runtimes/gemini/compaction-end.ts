// The words on the screen that a compaction has worked, and the mark of its end in the session document of the old versions: together they
// are as good as a record, and neither of them is one alone.
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { CommandWatch } from '../compress-command.js';
import type { AgentStatus } from '../seen.js';
import { hasNewMark } from './status.js';

type BoundaryFact = Extract<Fact, { readonly type: 'boundary' }>;

export interface Proof {
  /** what the document said last before the compaction was seen to run */
  readonly before?: AgentStatus;
  /** the words, which wait for the mark */
  readonly said?: BoundaryFact;
}

/** What is seen at one look. */
export interface Witnesses {
  readonly watch: CommandWatch;
  /** of the screen */
  readonly facts: readonly Fact[];
  readonly status: AgentStatus | undefined;
}

const PATIENCE_MS = 3_000; // the mark is written before the words are drawn; it is asked for twice a second

/** Words wait for their mark only where there are marks, and not for long. */
export const proofAfter = (
  proof: Proof,
  { watch, facts, status }: Witnesses,
  now: Millis,
): { readonly proof: Proof; readonly facts: readonly Fact[] } => {
  const words = facts.find((fact) => fact.type === 'boundary');
  const said = words ?? proof.said;
  const before = watch.kind === 'running' || said ? proof.before : status;
  const rest = facts.filter((fact) => fact !== words);
  const kept = before === undefined ? {} : { before };
  if (!said) return { proof: kept, facts: rest };
  if (hasNewMark(proof.before, status)) {
    const { source: _, ...boundary } = said.boundary;
    return {
      proof: status === undefined ? {} : { before: status },
      facts: [...rest, { type: 'boundary', boundary }],
    };
  }
  const isWaiting = status !== undefined && now - said.boundary.at < PATIENCE_MS;
  return isWaiting ? { proof: { ...kept, said }, facts: rest } : { proof: kept, facts: [...rest, said] };
};
