// What the next answers of the made-up model are: one language for the four APIs.

/** How an answer goes wrong. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number }
  /** the question does not fit into the model's window */
  | { readonly kind: 'too-long' }
  /** the connection ends in the middle of the answer */
  | { readonly kind: 'drop' };

export interface Answer {
  readonly text: string;
  /** what the question took, as the model counts it; 0 for a summary: what the last turn took */
  readonly usedTokens: number;
  readonly outputTokens: number;
  /** in how many pieces the text comes */
  readonly pieces: number;
  /** before the first byte, in milliseconds */
  readonly waitMs: number;
  /** between the answer's opening, which says that it comes, and its first word; a server that pings does so meanwhile */
  readonly thinkMs: number;
  /** from the first piece to the last */
  readonly spreadMs: number;
  /** a shell command that the agent is told to run, one for which it has to ask */
  readonly command?: string | undefined;
  readonly fault?: Fault | undefined;
}

export interface Control {
  readonly turn: Answer;
  /** of a question for a summary: an agent that compacts */
  readonly summary: Answer;
  /** what is different in the next turns, one each */
  readonly next: readonly Partial<Answer>[];
}

const QUICK = { outputTokens: 20, pieces: 1, waitMs: 0, thinkMs: 0, spreadMs: 0 } as const;

type Pace = Pick<Answer, 'pieces' | 'waitMs' | 'thinkMs' | 'spreadMs'>;

const [WAIT, THINK, MOST_PIECES] = [0.05, 0.2, 64];

/** An answer that takes so long, as a real one does: headers soon, the first word later, and then word after word. */
export const lasting = (ms: number): Pace => ({
  pieces: MOST_PIECES,
  waitMs: ms * WAIT,
  thinkMs: ms * THINK,
  spreadMs: ms * (1 - WAIT - THINK),
});

/** The same, but for most of the time not a byte comes: a model that works through a long question, behind a server that does not tell. */
export const lastingSilently = (ms: number): Pace => ({
  ...lasting(ms),
  waitMs: ms * (1 - WAIT - THINK),
  spreadMs: ms * WAIT,
});

// The tags are those that Claude, Gemini and Qwen look for; Codex takes any text.
const SUMMARY = `<analysis>The user said hello.</analysis>
<summary>1. Primary Request: to say hello.</summary>
<state_snapshot><overall_goal>To say hello.</overall_goal></state_snapshot>`;

export const firstControl: Control = {
  turn: { ...QUICK, text: 'Hello from the model.', usedTokens: 5_000 },
  summary: { ...QUICK, text: SUMMARY, usedTokens: 0 },
  next: [],
};

/** What is different from now on, and in the next turns; `fault: undefined` takes one back. */
export interface Change {
  readonly turn?: Partial<Answer>;
  readonly summary?: Partial<Answer>;
  readonly next?: Control['next'];
}

export const withChange = (control: Control, { turn, summary, next = [] }: Change): Control => ({
  turn: { ...control.turn, ...turn },
  summary: { ...control.summary, ...summary },
  next: [...control.next, ...next],
});
