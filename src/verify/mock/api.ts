import { textAt, type JsonRecord } from '../../core/json.js';

// What the mock server needs to know of an API. Shapes are those that the agents of the lab were seen to send and to accept.

/** What a request is for. */
export type Purpose =
  | 'turn'
  /** a summary of the conversation: the agent compacts */
  | 'summary'
  /** a title, a route, a guess: nothing that the user asked for */
  | 'side';

/** What an agent asks. */
export interface Question {
  readonly purpose: Purpose;
  readonly model: string;
  readonly isStreamed: boolean;
  /** the last that the user or a tool said */
  readonly said: string;
  /** the result of a tool came with it, so that another tool call would go on for ever */
  readonly isAfterTool: boolean;
  /** the tool that runs a shell command, by the agent's name for it */
  readonly shellTool: string | undefined;
  /** what a side question is answered with */
  readonly sideText: string;
}

/** What the made-up model answers: one language for the four APIs. */
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
  /** sent instead of all this, by the name of the API */
  readonly error?: ((api: string) => Wire) | undefined;
  /** the connection ends in the middle of the answer */
  readonly isCut?: boolean | undefined;
}

/** An answer as an API writes it down. */
export interface Reply extends Pick<Question, 'model' | 'isStreamed'>, Pick<Answer, 'text' | 'outputTokens'> {
  readonly id: string;
  readonly usedTokens: number;
  /** the text, as even as its length allows; none of a text without characters */
  readonly pieces: readonly string[];
  /** the tool that runs a shell command is called */
  readonly call: { readonly tool: string; readonly command: string } | undefined;
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
  readonly write: (reply: Reply) => Wire;
  /** a frame that says nothing, which this API's servers send while there is nothing to say */
  readonly ping?: string;
}

export const replyOf = ({ model, isStreamed, shellTool }: Question, answer: Answer, id: string): Reply => {
  const { text, usedTokens, outputTokens, command } = answer;
  const call = command === undefined || shellTool === undefined ? undefined : { tool: shellTool, command };
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, answer.pieces)));
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
  return { id, model, isStreamed, text, pieces, usedTokens, outputTokens, call };
};

export const json = (status: number, value: unknown): Wire => ({
  status,
  opening: [JSON.stringify(value)],
  pieces: [],
  closing: [],
  isStream: false,
});

export const stream = (frames: Pick<Wire, 'opening' | 'pieces' | 'closing'>): Wire => ({
  status: 200,
  ...frames,
  isStream: true,
});

/** A frame of a stream that names its events, in the frame and in its data. */
export const event = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

/** The texts in what APIs call content: a text, or a list of parts of which some have one. */
export const textIn = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => textAt(part, 'text') ?? '').join('\n');
};

const [WAIT, THINK, MOST_PIECES] = [0.05, 0.2, 64];

/** An answer that takes so long, as a real one does: headers soon, the first word later, and then word after word. */
export const lasting = (ms: number): Pick<Answer, 'pieces' | 'waitMs' | 'thinkMs' | 'spreadMs'> => ({
  pieces: MOST_PIECES,
  waitMs: ms * WAIT,
  thinkMs: ms * THINK,
  spreadMs: ms * (1 - WAIT - THINK),
});
