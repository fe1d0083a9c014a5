import { countAt, listAt, textAt, type JsonRecord } from '../../core/json.js';
import { event, json, partsOf, stream, textIn, type Api, type Question, type Answer } from './api.js';

// Anthropic's messages, as Claude Code sends them: https://docs.anthropic.com/en/api/messages-streaming

const SUMMARY = /Respond with TEXT ONLY|create a detailed summary of (?:the|this|our) conversation/;
const SHELL = 'Bash';

const read = (path: string, body: JsonRecord): Question | undefined => {
  if (path !== '/v1/messages') return undefined;
  const last = listAt(body, 'messages').at(-1);
  const content = listAt(last, 'content');
  const said = textAt(last, 'content') ?? textIn(content);
  const tools = listAt(body, 'tools').map((tool) => textAt(tool, 'name'));
  const isSide = tools.length === 0 || countAt(body, 'max_tokens') === 1;
  return {
    purpose: SUMMARY.test(said) ? 'summary' : isSide ? 'side' : 'turn',
    model: textAt(body, 'model') ?? '',
    isStreamed: body['stream'] === true,
    said,
    isAfterTool: content.some((part) => textAt(part, 'type') === 'tool_result'),
    shellTool: tools.includes(SHELL) ? SHELL : undefined,
    sideText: '{"title": "A short talk"}',
  };
};

// Most of a long question is read from the cache, as in a real conversation.
const usageOf = ({ usedTokens }: Answer, output: number) => ({
  input_tokens: Math.min(3, usedTokens),
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: Math.max(0, usedTokens - 3),
  output_tokens: output,
});

type Block = { readonly type: 'text'; readonly text: string } | ReturnType<typeof toolUse>;

const toolUse = (name: string, command: string, id: string) =>
  ({
    type: 'tool_use',
    id: `toolu_${id}`,
    name,
    input: { command, description: 'makes a file' },
  }) as const;

const blocksOf = ({ shellTool }: Question, { text, command }: Answer, id: string): readonly Block[] => [
  ...(text === '' ? [] : [{ type: 'text', text } as const]),
  ...(command !== undefined && shellTool !== undefined ? [toolUse(shellTool, command, id)] : []),
];

const framesOf = (block: Block, index: number, answer: Answer): readonly string[] => {
  const delta = (change: object): string => event('content_block_delta', { index, delta: change });
  const empty = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} };
  const [first = '', ...rest] =
    block.type === 'text'
      ? partsOf(answer).map((text) => delta({ type: 'text_delta', text }))
      : [delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) })];
  const deltas = [event('content_block_start', { index, content_block: empty }) + first, ...rest];
  return [...deltas.slice(0, -1), deltas.at(-1) + event('content_block_stop', { index })];
};

export const anthropic: Api = {
  name: 'anthropic',
  read,
  answer: (question, answer, id) => {
    const content = blocksOf(question, answer, id);
    const reason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: question.model };
    const end = { stop_reason: reason, stop_sequence: null };
    const usage = usageOf(answer, answer.outputTokens);
    if (!question.isStreamed) return json(200, { ...message, content, ...end, usage });
    const start = {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usageOf(answer, 1),
    };
    return stream({
      opening: [event('message_start', { message: start })],
      pieces: content.flatMap((block, index) => framesOf(block, index, answer)),
      closing: [event('message_delta', { delta: end, usage }), event('message_stop', {})],
    });
  },
  ping: event('ping', {}),
  tooLong: 'prompt is too long: 250000 tokens > 200000 maximum',
  fail: ({ status, message }) => {
    const type = status >= 500 ? 'api_error' : 'invalid_request_error';
    return json(status, { type: 'error', error: { type, message } });
  },
};
