import { getText, type JsonRecord } from '../../core/json.js';

// The interface between the mock server and the four APIs. Their shapes are those that the agents were seen to send and accept.

/** The purpose of a request. */
export type Purpose =
  | 'turn'
  /** a summary of the conversation: the agent compacts */
  | 'summary'
  /** a summary that ctxwrap has asked the agent for, in its print mode */
  | 'print'
  /** a title, a route, a suggestion: not requested by the user */
  | 'side';

/** An agent's request. */
export interface Question {
  readonly purpose: Purpose;
  readonly model: string;
  readonly isStreamed: boolean;
  /** the last text of the user or a tool */
  readonly said: string;
  /** it contains a tool result; another tool call would repeat forever */
  readonly isAfterTool: boolean;
  /** the tools that run a shell command and write a file, by the agent's names for them */
  readonly shellTool: string | undefined;
  readonly writeTool: string | undefined;
  /** the answer must be JSON of a given form, as for a choice of the model */
  readonly isForm?: boolean;
  /** the answer to a side request */
  readonly sideText: string;
}

export interface WrittenFile {
  /** absolute */
  readonly path: string;
  /** one line, without the newline */
  readonly text: string;
}

/** A tool of one agent only, by its name and with its own input: a command in the background, another agent, an alarm. */
export interface NamedTool {
  readonly name: string;
  readonly input: JsonRecord;
}

/** A call of one of the agent's tools. */
export interface Call {
  /** unique in the session */
  readonly id: string;
  readonly tool: string;
  readonly does:
    | { readonly command: string }
    | { readonly file: WrittenFile }
    | { readonly input: JsonRecord };
}

/** The model's answer, independent of the API. */
export interface Answer {
  readonly text: string;
  /** the prompt's tokens as the model counts them; 0 for a summary: the same as in the last turn */
  readonly usedTokens: number;
  readonly outputTokens: number;
  /** number of pieces in which the text is sent */
  readonly pieces: number;
  /** before the first byte, in milliseconds */
  readonly waitMs: number;
  /** between the start of the answer and its first word, in milliseconds; the server pings meanwhile if its API has pings */
  readonly thinkMs: number;
  /** from the first piece to the last, in milliseconds */
  readonly spreadMs: number;
  /** a shell command that the agent is told to run, one that needs permission */
  readonly command?: string | undefined;
  /** a file that the agent is told to write with its own tool, after the command; it does not exist yet */
  readonly file?: WrittenFile | undefined;
  /** another tool that the agent is told to use, after these */
  readonly tool?: NamedTool | undefined;
  /** sent instead of the answer, by the name of the API */
  readonly error?: ((api: string) => Wire) | undefined;
  /** the connection ends in the middle of the answer */
  readonly isCut?: boolean | undefined;
}

/** The answer as input for an API's encoder. */
export interface Reply extends Pick<Question, 'model' | 'isStreamed'>, Pick<Answer, 'text' | 'outputTokens'> {
  readonly id: string;
  readonly usedTokens: number;
  /** the text in pieces of about equal length; empty for an empty text */
  readonly pieces: readonly string[];
  readonly calls: readonly Call[];
}

/** Bytes for the agent: one JSON text, which is all in `opening`, or frames of a stream. */
export interface Wire {
  readonly status: number;
  /** sent at once */
  readonly opening: readonly string[];
  /** the text, spread over the duration of the answer */
  readonly pieces: readonly string[];
  /** sent with the last piece */
  readonly closing: readonly string[];
  readonly isStream: boolean;
}

export interface Api {
  readonly name: string;
  /** undefined for a path of another API */
  readonly read: (path: string, body: JsonRecord) => Question | undefined;
  readonly write: (reply: Reply) => Wire;
  /** an empty frame, which this API's servers send while there is no content */
  readonly ping?: string;
}

export const replyOf = (question: Question, answer: Answer, id: string): Reply => {
  const { model, isStreamed, shellTool, writeTool } = question;
  const { text, usedTokens, outputTokens, command, file, tool } = answer;
  const calls: Call[] = [];
  if (command !== undefined && shellTool !== undefined)
    calls.push({ id, tool: shellTool, does: { command } });
  if (file && writeTool !== undefined) calls.push({ id: `${id}w`, tool: writeTool, does: { file } });
  if (tool) calls.push({ id: `${id}t`, tool: tool.name, does: { input: tool.input } });
  const size = Math.max(1, Math.ceil(text.length / Math.max(1, answer.pieces)));
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
  return { id, model, isStreamed, text, pieces, usedTokens, outputTokens, calls };
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

/** A server-sent event with its name in the frame and in its data. */
export const event = (type: string, rest: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;

/** The texts of an API's `content`: a string, or a list of parts of which some have text. */
export const textIn = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => getText(part, 'text') ?? '').join('\n');
};

const [WAIT, THINK, MOST_PIECES] = [0.05, 0.2, 64];

/** Timing of an answer of this duration, similar to a real one: headers soon, the first word later, then word after word. */
export const spreadOver = (ms: number): Pick<Answer, 'pieces' | 'waitMs' | 'thinkMs' | 'spreadMs'> => ({
  pieces: MOST_PIECES,
  waitMs: ms * WAIT,
  thinkMs: ms * THINK,
  spreadMs: ms * (1 - WAIT - THINK),
});
