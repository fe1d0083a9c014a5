import { getList, getRecord, getText, type JsonRecord } from '../../core/json.js';
import { json, stream, textIn, type Api, type Call, type Question, type Reply } from './api.js';

// Gemini's generateContent and streamGenerateContent APIs, as Gemini CLI uses them: https://ai.google.dev/api/generate-content

const PATH = /^\/v1(?:beta|alpha)?\/models\/([^:]+):(generateContent|streamGenerateContent)$/;
/** The first request asks for the snapshot, the second one for a critical review of it. */
const SUMMARY = /state_snapshot[^]*(?:scratchpad|Critically evaluate)|Critically evaluate[^]*state_snapshot/;
const NO_SCHEMA = JSON.stringify('');
const [SHELL, WRITE] = ['run_shell_command', 'write_file'];

const read = (path: string, body: JsonRecord): Question | undefined => {
  const [, model, method] = PATH.exec(path) ?? [];
  if (model === undefined) return undefined;
  const user = getList(body, 'contents').findLast((each) => getText(each, 'role') === 'user');
  const parts = getList(user, 'parts');
  const said = textIn(parts);
  const config = getRecord(body, 'generationConfig');
  const schema = JSON.stringify(config?.['responseJsonSchema'] ?? config?.['responseSchema'] ?? '');
  const tools = getList(body, 'tools')
    .flatMap((tool) => getList(tool, 'functionDeclarations'))
    .map((each) => getText(each, 'name'));
  return {
    purpose: SUMMARY.test(said) ? 'summary' : tools.includes(SHELL) ? 'turn' : 'side',
    model,
    isStreamed: method === 'streamGenerateContent',
    said,
    isAfterTool: parts.some((part) => getRecord(part, 'functionResponse') !== undefined),
    shellTool: tools.includes(SHELL) ? SHELL : undefined,
    writeTool: tools.includes(WRITE) ? WRITE : undefined,
    isForm: schema !== NO_SCHEMA,
    sideText: sideText(schema),
  };
};

/** Answers for the model router, and for the check of who speaks next. */
const sideText = (schema: string): string => {
  if (schema.includes('next_speaker')) return JSON.stringify({ reasoning: '-', next_speaker: 'user' });
  return /complexity|model_choice/.test(schema)
    ? JSON.stringify({
        reasoning: '-',
        model_choice: 'flash',
        complexity_reasoning: '-',
        complexity_score: 10,
      })
    : '{}';
};

const argsOf = ({ does }: Call) => {
  if ('input' in does) return does.input;
  return 'command' in does
    ? { command: does.command, description: 'makes a file' }
    : { file_path: does.file.path, content: `${does.file.text}\n` };
};

const replyParts = ({ calls, pieces }: Reply): readonly object[] => {
  if (calls.length > 0)
    return calls.map((call) => ({ functionCall: { name: call.tool, args: argsOf(call) } }));
  return pieces.length > 0 ? pieces.map((text) => ({ text })) : [{ text: '' }];
};

export const google: Api = {
  name: 'google',
  read,
  write: (reply) => {
    const { id, model, usedTokens, outputTokens } = reply;
    const usageMetadata = {
      promptTokenCount: usedTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: usedTokens + outputTokens,
    };
    const all = replyParts(reply);
    const response = (parts: readonly object[], isLast: boolean) => ({
      candidates: [
        { content: { role: 'model', parts }, index: 0, ...(isLast ? { finishReason: 'STOP' } : {}) },
      ],
      ...(isLast ? { usageMetadata } : {}),
      modelVersion: model,
      responseId: id,
    });
    if (!reply.isStreamed) return json(200, response(all, true));
    const pieces = all.map(
      (part, index) => `data: ${JSON.stringify(response([part], index === all.length - 1))}\r\n\r\n`,
    );
    return stream({ opening: [], pieces, closing: [] });
  },
};
