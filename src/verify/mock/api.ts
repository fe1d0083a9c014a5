// What the mock server needs to know of an API. Shapes are those that the agents of the lab were seen to send and to accept.
import type { JsonRecord } from '../../core/json.js';
import type { Answer, Fault } from './control.js';

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
