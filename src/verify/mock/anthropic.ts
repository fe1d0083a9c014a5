import { getCount, getList, getText, type JsonRecord } from '../../core/json.js';
import { event, json, stream, textIn, type Api, type Call, type Question, type Reply } from './api.js';

// Anthropic's messages API, as Claude Code uses it: https://docs.anthropic.com/en/api/messages-streaming

const SUMMARY = /Respond with TEXT ONLY|create a detailed summary of (?:the|this|our) conversation/;
const [SHELL, WRITE] = ['Bash', 'Write'];

const read = (path: string, body: JsonRecord): Question | undefined => {
  if (path !== '/v1/messages') return undefined;
  // newer models get the environment as a message of the system behind the user's (2.1.332)
  const last = getList(body, 'messages').findLast((each) => getText(each, 'role') !== 'system');
  const content = getList(last, 'content');
  const said = getText(last, 'content') ?? textIn(content);
  const tools = getList(body, 'tools').map((tool) => getText(tool, 'name'));
  const isSide = tools.length === 0 || getCount(body, 'max_tokens') === 1;
  return {
    purpose: SUMMARY.test(said) ? 'summary' : isSide ? 'side' : 'turn',
    model: getText(body, 'model') ?? '',
    isStreamed: body['stream'] === true,
    said,
    isAfterTool: content.some((part) => getText(part, 'type') === 'tool_result'),
    shellTool: tools.includes(SHELL) ? SHELL : undefined,
    writeTool: tools.includes(WRITE) ? WRITE : undefined,
    sideText: '{"title": "A short talk"}',
  };
};

const [FRESH, WRITTEN] = [3, 500];

// Most of a long prompt is read from the cache, as in a real conversation, and what is new is written there: Claude learns from that how long
// the cache lives.
const usageOf = (usedTokens: number, output: number) => {
  const fresh = Math.min(FRESH, usedTokens);
  const written = Math.min(WRITTEN, usedTokens - fresh);
  return {
    input_tokens: fresh,
    cache_creation_input_tokens: written,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    cache_read_input_tokens: usedTokens - fresh - written,
    output_tokens: output,
  };
};

/** A content block: the whole, its start in a stream, and its deltas. */
interface Block {
  readonly whole: object;
  readonly begun: object;
  readonly deltas: readonly object[];
}

const inputOf = ({ does }: Call) => {
  if ('input' in does) return does.input;
  return 'command' in does
    ? { command: does.command, description: 'makes a file' }
    : { file_path: does.file.path, content: `${does.file.text}\n` };
};

const blocksOf = ({ text, pieces, calls }: Reply): readonly Block[] => {
  const blocks: Block[] = [];
  if (text !== '') {
    const deltas = pieces.map((piece) => ({ type: 'text_delta', text: piece }));
    blocks.push({ whole: { type: 'text', text }, begun: { type: 'text', text: '' }, deltas });
  }
  for (const call of calls) {
    const use = { type: 'tool_use', id: `toolu_${call.id}`, name: call.tool };
    const input = inputOf(call);
    const deltas = [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }];
    blocks.push({ whole: { ...use, input }, begun: { ...use, input: {} }, deltas });
  }
  return blocks;
};

const framesOf = ({ begun, deltas }: Block, index: number): readonly string[] => {
  const frames = deltas.map((delta) => event('content_block_delta', { index, delta }));
  const start = event('content_block_start', { index, content_block: begun });
  const end = event('content_block_stop', { index });
  return frames.map((frame, at) => (at === 0 ? start : '') + frame + (at === frames.length - 1 ? end : ''));
};

export const anthropic: Api = {
  name: 'anthropic',
  read,
  write: (reply) => {
    const { id, model, usedTokens, outputTokens, calls } = reply;
    const blocks = blocksOf(reply);
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model };
    const end = { stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null };
    const usage = usageOf(usedTokens, outputTokens);
    if (!reply.isStreamed)
      return json(200, { ...message, content: blocks.map(({ whole }) => whole), ...end, usage });
    const begun = { content: [], stop_reason: null, stop_sequence: null, usage: usageOf(usedTokens, 1) };
    return stream({
      opening: [event('message_start', { message: { ...message, ...begun } })],
      pieces: blocks.flatMap(framesOf),
      closing: [event('message_delta', { delta: end, usage }), event('message_stop', {})],
    });
  },
  ping: event('ping', {}),
};
