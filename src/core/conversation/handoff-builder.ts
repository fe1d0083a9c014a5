import { groupDigits } from '../ladder.js';
import { present } from '../present.js';
import type { Millis } from '../reading.js';
import { formatIsoTime } from '../time.js';
import { RECOMMENDED_LENGTH } from './handoff-text.js';
import type { Handoff, HandoffCompleted, HandoffRemaining } from './handoff.js';

// A handoff from what another program knows of its agent. ctxwrap's own come from the agent's records alone.

interface Build {
  readonly handoff: BuiltHandoff;
  /** of its JSON */
  readonly characters: number;
  readonly warning?: string;
}

/** Without what only records tell. */
type BuiltHandoff = Handoff & { readonly requests: readonly never[] } & {
  readonly context: { readonly commands: readonly never[] };
};

type Reason = Handoff['reason'];
type Remaining = Pick<HandoffRemaining, 'description'> & Partial<HandoffRemaining>;

interface Builder {
  readonly addCompleted: (work: HandoffCompleted) => Builder;
  readonly addRemaining: (work: Remaining) => Builder;
  readonly addDecision: (text: string) => Builder;
  readonly addPattern: (text: string) => Builder;
  readonly addIssue: (text: string) => Builder;
  readonly addFile: (path: string) => Builder;
  readonly build: (reason?: Reason) => Build;
}

type HandoffOf = Pick<Handoff, 'runtime'> & {
  readonly agentId?: string | undefined;
  readonly cwd?: string | undefined;
};

/** Each method returns the builder; each text and file is listed once. */
export const makeHandoffBuilder = ({ runtime, agentId, cwd }: HandoffOf, now: () => Millis): Builder => {
  const completed: HandoffCompleted[] = [];
  const remaining: HandoffRemaining[] = [];
  const decisions = new Set<string>();
  const patterns = new Set<string>();
  const issues = new Set<string>();
  const filesModified = new Set<string>();
  const adding =
    <T>(add: (added: T) => unknown) =>
    (added: T): Builder => {
      add(added);
      return builder;
    };
  const builder: Builder = {
    addCompleted: adding((work) => completed.push(work)),
    addRemaining: adding((work) => remaining.push({ priority: 'normal', ...work })),
    addDecision: adding((text) => decisions.add(text)),
    addPattern: adding((text) => patterns.add(text)),
    addIssue: adding((text) => issues.add(text)),
    addFile: adding((path) => filesModified.add(path)),
    build: (reason = 'requested') =>
      withSize({
        schema: 'ctxwrap.handoff/1',
        createdAt: formatIsoTime(now()),
        runtime,
        ...present({ agentId, cwd }),
        reason,
        completed: [...completed],
        remaining: [...remaining],
        context: {
          decisions: [...decisions],
          patterns: [...patterns],
          issues: [...issues],
          constraints: [],
          filesModified: [...filesModified],
          commands: [],
        },
        requests: [],
      }),
  };
  return builder;
};

const withSize = (handoff: BuiltHandoff): Build => {
  const characters = JSON.stringify(handoff).length;
  if (characters <= RECOMMENDED_LENGTH) return { handoff, characters };
  const warning = `the handoff has ${groupDigits(characters)} characters, more than the recommended ${groupDigits(RECOMMENDED_LENGTH)}: leave out what the next agent can find itself`;
  return { handoff, characters, warning };
};
