import type { JsonRecord } from '../../core/json.js';

// What the mock server needs to know of an API. Shapes are those that the agents of the lab were seen to send and to accept.

/** What a request is for. */
export type Purpose =
  | 'turn'
  /** a summary of the conversation: the agent compacts */
  | 'summary'
  /** a title, a route, a guess: nothing that the user asked for */
  | 'side';

export interface Question {
  readonly purpose: Purpose;
  readonly model: string;
  readonly isStreamed: boolean;
  /** the last that the user or a tool said */
  readonly said: string;
  /** the result of a tool came with it, so that another tool call would go on for ever */
  readonly isAfterTool: boolean;
  /** the tool that runs a shell command, by the agent's name for it */
  readonly shellTool?: string | undefined;
  /** what a side question is answered with */
  readonly sideText?: string | undefined;
}

/** Bytes for the agent: one JSON text, which is all opening, or frames of a stream. */
export interface Wire {
  readonly status: number;
  /** comes at once */
  readonly opening: readonly string[];
  /** the text, spread over the time that the answer takes */
  readonly pieces: readonly string[];
  /** comes with the last piece */
  readonly closing: readonly string[];
  readonly isStream: boolean;
}

export interface Api {
  readonly name: string;
  /** undefined for another API's path */
  readonly read: (path: string, body: JsonRecord) => Question | undefined;
  readonly answer: (question: Question, answer: Answer, id: string) => Wire;
  /** a frame that says nothing, which this API's servers send while there is nothing to say */
  readonly ping?: string;
  /** what it says to a question that does not fit into the window */
  readonly tooLong: string;
  readonly fail: (failure: Failure) => Wire;
}

/** An answer that is an error. */
export interface Failure {
  /** of HTTP */
  readonly status: number;
  readonly message: string;
  readonly isTooLong: boolean;
}

/** A drop has none: the connection ends. */
export const failureOf = (fault: Exclude<Fault, { readonly kind: 'drop' }>, { tooLong }: Api): Failure =>
  fault.kind === 'too-long'
    ? { status: 400, message: tooLong, isTooLong: true }
    : { status: fault.status, message: `made up ${fault.status}`, isTooLong: false };

export const json = (status: number, value: unknown): Wire => ({
  status,
  opening: [JSON.stringify(value)],
  pieces: [],
  closing: [],
  isStream: false,
});

/** A frame of a stream that names its events, in the frame and in its data. */
export const event = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

/** As both APIs of OpenAI's call it. */
export const openaiErrorType = (status: number): string =>
  status >= 500 ? 'server_error' : 'invalid_request_error';

export const stream = (frames: Partial<Pick<Wire, 'opening' | 'pieces' | 'closing'>>): Wire => ({
  status: 200,
  opening: [],
  pieces: [],
  closing: [],
  ...frames,
  isStream: true,
});

/** The text in so many parts, as even as its length allows; a text without characters has none. */
export const partsOf = ({ text, pieces }: Answer): readonly string[] => {
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, pieces)));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
};

/** The texts in what APIs call content: a text, or a list of parts of which some have one. */
export const textIn = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => {
      const text: unknown = typeof part === 'object' && part !== null && 'text' in part ? part.text : '';
      return typeof text === 'string' ? text : '';
    })
    .join('\n');
};

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
