import { getList, getText, type JsonRecord } from '../../core/json.js';
import { event, stream, textIn, type Api, type Call, type Question, type Reply, type Wire } from './api.js';

// OpenAI's responses API, as Codex uses it: https://platform.openai.com/docs/api-reference/responses-streaming

const SUMMARY = /CONTEXT CHECKPOINT COMPACTION/;
const TITLE = /single-line task title/;
/** Names of the shell tool in different versions; the first one that the agent offers is called. */
const SHELLS = ['exec_command', 'shell_command', 'shell'];
const WRITE = 'apply_patch';

const read = (path: string, body: JsonRecord): Question | undefined => {
  if (path !== '/v1/responses') return undefined;
  const input = getList(body, 'input');
  const last = input.at(-1);
  const isAfterTool = (getText(last, 'type') ?? '').endsWith('_output');
  const users = input.filter((each) => getText(each, 'role') === 'user');
  const said = textIn(getList(users.at(-1), 'content'));
  const isSummary = !isAfterTool && (SUMMARY.test(said) || getText(last, 'type') === 'compaction_trigger');
  const isTitle = TITLE.test(said) || TITLE.test(getText(body, 'instructions') ?? '');
  const tools = getList(body, 'tools').map((tool) => getText(tool, 'name') ?? '');
  return {
    purpose: isSummary ? 'summary' : isTitle ? 'side' : 'turn',
    model: getText(body, 'model') ?? '',
    isStreamed: true,
    said,
    isAfterTool,
    shellTool: SHELLS.find((name) => tools.includes(name)),
    writeTool: tools.includes(WRITE) ? WRITE : undefined,
    sideText: 'A short talk',
  };
};

// A command outside the agent's sandbox needs permission.
const argumentsFor = (tool: string, command: string) => {
  const context = { sandbox_permissions: 'require_escalated', justification: 'it makes a file' };
  if (tool === 'exec_command') return { cmd: command, ...context };
  return tool === 'shell_command'
    ? { command, ...context }
    : { command: ['sh', '-c', command], with_escalated_permissions: true };
};

const itemDone = (item: object): string => event('response.output_item.done', { output_index: 0, item });

type Frames = Pick<Wire, 'opening' | 'pieces' | 'closing'>;

const calledItem = ({ id, tool, does }: Call): object => {
  const item = { call_id: `call_${id}`, name: tool, status: 'completed' };
  if ('command' in does || 'input' in does) {
    const args = JSON.stringify('input' in does ? does.input : argumentsFor(tool, does.command));
    return { ...item, type: 'function_call', id: `fc_${id}`, arguments: args };
  }
  const { path, text } = does.file;
  const input = `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch`;
  return { ...item, type: 'custom_tool_call', id: `ctc_${id}`, input };
};

const framesOf = ({ id, text, pieces, calls }: Reply): Frames => {
  if (calls.length > 0)
    return { opening: [], pieces: calls.map((call) => itemDone(calledItem(call))), closing: [] };
  if (text === '') return { opening: [], pieces: [], closing: [] };
  const message = { type: 'message', id: `msg_${id}`, role: 'assistant' };
  const content = [{ type: 'output_text', text, annotations: [] }];
  const where = { item_id: message.id, output_index: 0, content_index: 0 };
  const added = { output_index: 0, item: { ...message, status: 'in_progress', content: [] } };
  return {
    opening: [event('response.output_item.added', added)],
    pieces: pieces.map((delta) => event('response.output_text.delta', { ...where, delta })),
    closing: [itemDone({ ...message, status: 'completed', content })],
  };
};

export const responses: Api = {
  name: 'responses',
  read,
  write: (reply) => {
    const { id, model, usedTokens, outputTokens } = reply;
    const response = { id: `resp_${id}`, object: 'response', model };
    const usage = {
      input_tokens: usedTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usedTokens + outputTokens,
    };
    const { opening, pieces, closing } = framesOf(reply);
    const begun = { ...response, status: 'in_progress', output: [] };
    const ended = { ...response, status: 'completed', usage };
    return stream({
      opening: [event('response.created', { response: begun }), ...opening],
      pieces,
      closing: [...closing, event('response.completed', { response: ended })],
    });
  },
};
