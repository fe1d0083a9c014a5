// Errors of the model server in each API's format.
import { event, json, stream, type Wire } from '../../../src/verify/mock/api.js';

/** The message for a prompt that does not fit into the model's window. */
const TOO_LONG: Readonly<Record<string, string>> = {
  anthropic: 'prompt is too long: 250000 tokens > 200000 maximum',
  responses: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  chat: "This model's maximum context length is 131072 tokens. However, your messages resulted in 140000 tokens.",
};

const CODE = 'context_length_exceeded'; // of both OpenAI APIs

const bodyOf = (api: string, status: number, message: string, isTooLong: boolean): object => {
  const isServers = status >= 500;
  const type = isServers ? 'server_error' : 'invalid_request_error';
  switch (api) {
    case 'anthropic':
      return { type: 'error', error: { type: isServers ? 'api_error' : type, message } };
    case 'gemini':
      return { error: { code: status, message, status: isServers ? 'INTERNAL' : 'INVALID_ARGUMENT' } };
    case 'chat':
      return { error: { message, type, code: isTooLong ? CODE : null } };
    default:
      return { error: { message, type } };
  }
};

export const errorWith =
  (status: number) =>
  (api: string): Wire =>
    json(status, bodyOf(api, status, `made up ${status}`, false));

export const tooLong = (api: string): Wire => {
  const message = TOO_LONG[api] ?? '';
  if (api !== 'responses') return json(400, bodyOf(api, 400, message, true));
  // in a stream that began without an error
  const response = { id: 'resp_long', object: 'response' };
  const failed = { ...response, status: 'failed', error: { code: CODE, message }, usage: null };
  return stream({
    opening: [event('response.created', { response: { ...response, status: 'in_progress' } })],
    pieces: [],
    closing: [event('response.failed', { response: failed })],
  });
};
