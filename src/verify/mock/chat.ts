import { getList, getRecord, getText, type JsonRecord } from '../../core/json.js';
import { json, stream, textIn, type Api, type Call, type Question, type Reply } from './api.js';

// OpenAI's chat completions API, as Qwen Code, opencode, Copilot CLI and Kimi Code use it:
// https://platform.openai.com/docs/api-reference/chat-streaming

const SUMMARY = /state_snapshot|create a detailed summary|Do not mention the summary process/;
/** The end of a summary request that includes the tools like a turn, so that the earlier prompt is in the cache. */
const SUMMARY_WITH_TOOLS =
  /tool execution is disabled for this request\.[^]*produce the <state_snapshot> XML\.$/;
/** The same of an agent that allows another instruction behind it. */
const SUMMARY_WITHOUT_CALLS =
  /^Respond with text only\. Do not call any tools — you already have everything you\s+need in the conversation history\.\s*$/m;
/** The same of an agent that names the reason. */
const SUMMARY_OF_HISTORY =
  /^Please create a detailed summary of the conversation so far\. The history is being compacted/;
/** The tools that run a shell command and that write a file, by the agents' names. */
const SHELLS: readonly unknown[] = ['run_shell_command', 'bash', 'Bash'];
const WRITES: readonly unknown[] = ['write_file', 'write', 'Write', 'create'];
/** What they call the path, where it is not `file_path`. */
const PATHS: Readonly<Record<string, string>> = { Write: 'path', write: 'filePath' };
/** What an agent adds in the user's name behind the message. */
const NOTE = /^<system-reminder>/;
/** What an agent puts before the user's message. */
const DATE = /^<current_datetime>[^<]*<\/current_datetime>\s*/;

const contentOf = (message: unknown): string =>
  getText(message, 'content') ?? textIn(getList(message, 'content'));

const read = (path: string, body: JsonRecord): Question | undefined => {
  if (!path.endsWith('/chat/completions')) return undefined;
  const messages = getList(body, 'messages');
  const system = messages.find((each) => getText(each, 'role') === 'system');
  const ofUser = messages.filter((each) => getText(each, 'role') === 'user').map(contentOf);
  const said = (ofUser.findLast((each) => !NOTE.test(each)) ?? ofUser.at(-1) ?? '').replace(DATE, '');
  const tools = getList(body, 'tools').map((tool) => getText(getRecord(tool, 'function'), 'name'));
  const isSummary =
    SUMMARY.test(contentOf(system)) ||
    SUMMARY_WITH_TOOLS.test(said) ||
    SUMMARY_WITHOUT_CALLS.test(said) ||
    SUMMARY_OF_HISTORY.test(said) ||
    (tools.length === 0 && SUMMARY.test(said));
  const shell = tools.find((name) => SHELLS.includes(name));
  return {
    purpose: isSummary ? 'summary' : shell !== undefined ? 'turn' : 'side',
    model: getText(body, 'model') ?? '',
    isStreamed: body['stream'] === true,
    said,
    isAfterTool: getText(messages.at(-1), 'role') === 'tool',
    shellTool: shell,
    writeTool: tools.find((name) => WRITES.includes(name)),
    sideText: '{}',
  };
};

const inputOf = ({ tool, does }: Call) => {
  if ('input' in does) return does.input;
  if ('command' in does) {
    const { command } = does;
    if (tool === 'Bash') return { command };
    const description = 'makes a file';
    return tool === 'bash' ? { command, description } : { command, description, is_background: false };
  }
  const { path, text } = does.file;
  if (tool === 'create') return { path, file_text: `${text}\n` };
  return { [PATHS[tool] ?? 'file_path']: path, content: `${text}\n` };
};

const callsOf = ({ calls }: Reply): readonly object[] =>
  calls.map((call, index) => {
    const called = { name: call.tool, arguments: JSON.stringify(inputOf(call)) };
    return { index, id: `call_${call.id}`, type: 'function', function: called };
  });

export const chat: Api = {
  name: 'chat',
  read,
  write: (reply) => {
    const { id, model, text, pieces, usedTokens, outputTokens } = reply;
    const calls = callsOf(reply);
    const base = { id: `chatcmpl-${id}`, created: 1_700_000_000, model };
    const reason = calls.length > 0 ? 'tool_calls' : 'stop';
    const usage = {
      prompt_tokens: usedTokens,
      completion_tokens: outputTokens,
      total_tokens: usedTokens + outputTokens,
    };
    if (!reply.isStreamed) {
      const called = calls.length > 0 ? { tool_calls: calls } : {};
      const message = { role: 'assistant', content: text, ...called };
      const choices = [{ index: 0, message, finish_reason: reason }];
      return json(200, { ...base, object: 'chat.completion', choices, usage });
    }
    const chunk = (rest: object): string =>
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...rest })}\n\n`;
    const delta = (change: object, end: string | null = null): string =>
      chunk({ choices: [{ index: 0, delta: change, finish_reason: end }] });
    return stream({
      opening: [delta({ role: 'assistant', content: '' })],
      pieces: calls.length > 0 ? [delta({ tool_calls: calls })] : pieces.map((content) => delta({ content })),
      closing: [delta({}, reason), chunk({ choices: [], usage }), 'data: [DONE]\n\n'],
    });
  },
};
