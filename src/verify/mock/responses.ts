import { listAt, textAt, type JsonRecord } from '../../core/json.js';
import {
  event,
  json,
  openaiErrorType,
  partsOf,
  stream,
  textIn,
  type Api,
  type Question,
  type Wire,
  type Answer,
} from './api.js';

// OpenAI's responses, as Codex sends them: https://platform.openai.com/docs/api-reference/responses-streaming

const SUMMARY = /CONTEXT CHECKPOINT COMPACTION/;
const TITLE = /single-line task title/;
/** Names that the shell tool has had; the first one that the agent offers is called. */
const SHELLS = ['exec_command', 'shell_command', 'shell'];

const read = (path: string, body: JsonRecord): Question | undefined => {
  if (path !== '/v1/responses') return undefined;
  const input = listAt(body, 'input');
  const last = input.at(-1);
  const isAfterTool = (textAt(last, 'type') ?? '').endsWith('_output');
  const users = input.filter((each) => textAt(each, 'role') === 'user');
  const said = textIn(listAt(users.at(-1), 'content'));
  const isSummary = !isAfterTool && (SUMMARY.test(said) || textAt(last, 'type') === 'compaction_trigger');
  const isTitle = TITLE.test(said) || TITLE.test(textAt(body, 'instructions') ?? '');
  const tools = listAt(body, 'tools').map((tool) => textAt(tool, 'name') ?? '');
  return {
    purpose: isSummary ? 'summary' : isTitle ? 'side' : 'turn',
    model: textAt(body, 'model') ?? '',
    isStreamed: true,
    said,
    isAfterTool,
    shellTool: SHELLS.find((name) => tools.includes(name)),
    sideText: 'A short talk',
  };
};

const usageOf = ({ usedTokens, outputTokens }: Answer) => ({
  input_tokens: usedTokens,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: usedTokens + outputTokens,
});

// What runs outside the sandbox has to be asked for.
const argumentsFor = (tool: string, command: string) => {
  const asking = { sandbox_permissions: 'require_escalated', justification: 'it makes a file' };
  if (tool === 'exec_command') return { cmd: command, ...asking };
  return tool === 'shell_command'
    ? { command, ...asking }
    : { command: ['sh', '-c', command], with_escalated_permissions: true };
};

const itemDone = (item: object): string => event('response.output_item.done', { output_index: 0, item });

type Item = Pick<Wire, 'opening' | 'pieces' | 'closing'>;

const NOTHING: Item = { opening: [], pieces: [], closing: [] };

const itemOf = (question: Question, answer: Answer, id: string): Item => {
  const { shellTool } = question;
  if (answer.command !== undefined && shellTool !== undefined) {
    const call = { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name: shellTool };
    const args = JSON.stringify(argumentsFor(shellTool, answer.command));
    return { ...NOTHING, pieces: [itemDone({ ...call, arguments: args, status: 'completed' })] };
  }
  if (answer.text === '') return NOTHING;
  const message = { type: 'message', id: `msg_${id}`, role: 'assistant' };
  const content = [{ type: 'output_text', text: answer.text, annotations: [] }];
  const where = { item_id: message.id, output_index: 0, content_index: 0 };
  const added = { output_index: 0, item: { ...message, status: 'in_progress', content: [] } };
  return {
    opening: [event('response.output_item.added', added)],
    pieces: partsOf(answer).map((delta) => event('response.output_text.delta', { ...where, delta })),
    closing: [itemDone({ ...message, status: 'completed', content })],
  };
};

// In a stream that began well.
const failedStream = (message: string): Wire => {
  const error = { code: 'context_length_exceeded', message };
  const response = { id: 'resp_long', object: 'response' };
  return stream({
    opening: [event('response.created', { response: { ...response, status: 'in_progress' } })],
    closing: [event('response.failed', { response: { ...response, status: 'failed', error, usage: null } })],
  });
};

export const responses: Api = {
  name: 'responses',
  read,
  answer: (question, answer, id) => {
    const response = { id: `resp_${id}`, object: 'response', model: question.model };
    const item = itemOf(question, answer, id);
    const begun = { ...response, status: 'in_progress', output: [] };
    const ended = { ...response, status: 'completed', usage: usageOf(answer) };
    return stream({
      opening: [event('response.created', { response: begun }), ...item.opening],
      pieces: item.pieces,
      closing: [...item.closing, event('response.completed', { response: ended })],
    });
  },
  tooLong: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  fail: ({ status, message, isTooLong }) =>
    isTooLong ? failedStream(message) : json(status, { error: { message, type: openaiErrorType(status) } }),
};
