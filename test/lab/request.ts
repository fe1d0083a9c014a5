// Reads a request as the model's server does: what was said, called and returned, in its order. Servers refuse a call without its result, and
// a result without its call.
import { getList, getRecord, getText, parseRecord, type JsonRecord } from '../../src/core/json.js';
import { textIn } from '../../src/verify/mock/api.js';

export interface RequestPart {
  /** `user`: also what the agent itself adds */
  readonly kind: 'user' | 'agent' | 'call' | 'result';
  readonly text: string;
  /** of a call and its result */
  readonly callId?: string;
}

type Read = (body: JsonRecord) => readonly RequestPart[];

const speaker = (role: string | undefined): 'user' | 'agent' =>
  role === 'assistant' || role === 'model' ? 'agent' : 'user';

const said = (of: unknown, text: string): readonly RequestPart[] =>
  text.trim() === '' ? [] : [{ kind: speaker(getText(of, 'role')), text: text.trim() }];

const called = (callId: string, name: string, input: string): RequestPart => ({
  kind: 'call',
  text: `${name} ${input}`,
  callId,
});

const anthropic: Read = (body) =>
  getList(body, 'messages').flatMap((message) => {
    const whole = getText(message, 'content');
    if (whole !== undefined) return said(message, whole);
    return getList(message, 'content').flatMap((block): readonly RequestPart[] => {
      const type = getText(block, 'type');
      if (type === 'text') return said(message, getText(block, 'text') ?? '');
      if (type === 'tool_use') {
        const input = JSON.stringify(getRecord(block, 'input'));
        return [called(getText(block, 'id') ?? '', getText(block, 'name') ?? '', input)];
      }
      if (type !== 'tool_result') return [];
      const text = getText(block, 'content') ?? textIn(getList(block, 'content'));
      return [{ kind: 'result', text, callId: getText(block, 'tool_use_id') ?? '' }];
    });
  });

// Calls need no ids here: results are told by the name of the tool, in the same order.
const google: Read = (body) =>
  getList(body, 'contents').flatMap((content) =>
    getList(content, 'parts').flatMap((part): readonly RequestPart[] => {
      const [call, result] = [getRecord(part, 'functionCall'), getRecord(part, 'functionResponse')];
      const name = getText(call ?? result, 'name') ?? '';
      if (call) return [called(name, name, JSON.stringify(getRecord(call, 'args')))];
      if (!result) return said(content, getText(part, 'text') ?? '');
      return [{ kind: 'result', text: JSON.stringify(getRecord(result, 'response')), callId: name }];
    }),
  );

const responses: Read = (body) =>
  getList(body, 'input').flatMap((item): readonly RequestPart[] => {
    const [type = '', callId = ''] = [getText(item, 'type'), getText(item, 'call_id')];
    if (type === 'message') return getList(item, 'content').flatMap((part) => said(item, textIn([part])));
    if (type.endsWith('_output'))
      return [
        { kind: 'result', text: getText(item, 'output') ?? JSON.stringify(getList(item, 'output')), callId },
      ];
    if (!type.endsWith('_call')) return [];
    return [
      called(callId, getText(item, 'name') ?? '', getText(item, 'arguments') ?? getText(item, 'input') ?? ''),
    ];
  });

const chat: Read = (body) =>
  getList(body, 'messages').flatMap((message): readonly RequestPart[] => {
    const texts = getText(message, 'content') ?? '';
    if (getText(message, 'role') === 'tool') {
      const text = texts === '' ? textIn(getList(message, 'content')) : texts;
      return [{ kind: 'result', text, callId: getText(message, 'tool_call_id') ?? '' }];
    }
    const calls = getList(message, 'tool_calls').map((call) => {
      const made = getRecord(call, 'function');
      return called(getText(call, 'id') ?? '', getText(made, 'name') ?? '', getText(made, 'arguments') ?? '');
    });
    const parts = getList(message, 'content').flatMap((part) => said(message, textIn([part])));
    return [...said(message, texts), ...parts, ...calls];
  });

const reads: Readonly<Record<string, Read>> = { anthropic, google, responses, chat };

/** `api` is the name that the mock server has for it. */
export const partsIn = (api: string, sent: string): readonly RequestPart[] => {
  const [read, body] = [reads[api], parseRecord(sent)];
  if (!read || !body) throw new Error(`no request of "${api}"`);
  return read(body);
};

/** Why a model's server would refuse it; undefined if it would not. */
export const orphanIn = (parts: readonly RequestPart[]): string | undefined => {
  let open: readonly string[] = [];
  for (const { kind, text, callId = '' } of parts) {
    const start = JSON.stringify(text.slice(0, 80));
    if (kind === 'call') open = [...open, callId];
    else if (kind !== 'result') {
      if (open.length > 0) return `the tool call ${open[0]} has no result before ${start}`;
    } else if (!open.includes(callId)) return `a tool result without its call: ${start}`;
    else open = open.toSpliced(open.indexOf(callId), 1);
  }
  return open.length > 0 ? `the tool call ${open[0]} has no result` : undefined;
};
