import { afterEach, describe, expect, it } from 'vitest';
import { startMockServer, type MockServer } from '../src/verify/mock/server.js';
import { errorWith, tooLong } from './lab/scenarios/faults.js';
import { eventually } from './support/eventually.js';

let mock: MockServer | undefined;
afterEach(() => mock?.close());

const open = async (): Promise<{ readonly mock: MockServer; readonly at: (path: string) => string }> => {
  const opened = await startMockServer();
  mock = opened;
  return { mock: opened, at: (path) => `http://127.0.0.1:${opened.port}${path}` };
};

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', body: JSON.stringify(body) });

const SHELL_TOOLS = {
  anthropic: [{ name: 'Bash' }],
  responses: [{ name: 'exec_command' }],
  gemini: [{ functionDeclarations: [{ name: 'run_shell_command' }] }],
  chat: [{ function: { name: 'run_shell_command' } }],
} as const;

/** A question of each agent, as far as the mock looks at it. */
const questions = [
  {
    api: 'anthropic',
    path: '/v1/messages',
    ask: (text: string) => ({
      model: 'm',
      stream: true,
      tools: SHELL_TOOLS.anthropic,
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    }),
    summary: 'CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.',
    used: '"cache_read_input_tokens":54497',
    tool: '"type":"tool_use"',
    ended: 'event: message_stop',
  },
  {
    api: 'responses',
    path: '/v1/responses',
    ask: (text: string) => ({
      model: 'm',
      stream: true,
      tools: SHELL_TOOLS.responses,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }],
    }),
    summary: 'You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary.',
    used: '"input_tokens":55000',
    tool: '"type":"function_call"',
    ended: 'event: response.completed',
  },
  {
    api: 'gemini',
    path: '/v1beta/models/m:streamGenerateContent',
    ask: (text: string) => ({
      tools: SHELL_TOOLS.gemini,
      contents: [{ role: 'user', parts: [{ text }] }],
    }),
    summary: 'Generate a new <state_snapshot>. First, reason in your scratchpad.',
    used: '"promptTokenCount":55000',
    tool: '"functionCall"',
    ended: '"finishReason":"STOP"',
  },
  {
    api: 'chat',
    path: '/v1/chat/completions',
    ask: (text: string) => ({
      model: 'm',
      stream: true,
      tools: SHELL_TOOLS.chat,
      messages: [
        { role: 'system', content: text.includes('state_snapshot') ? text : 'You help.' },
        { role: 'user', content: text },
      ],
    }),
    summary: 'Write a <state_snapshot> of the conversation.',
    used: '"prompt_tokens":55000',
    tool: '"tool_calls"',
    ended: '[DONE]',
  },
] as const;

describe.each(questions)(
  "the lab's model, asked through $api,",
  ({ path, ask, summary, used, tool, ended }) => {
    it('says what it is told to say, with the usage that it is told', async () => {
      const { mock: told, at } = await open();
      told.configure({ turn: { text: 'good morning to you', usedTokens: 55_000, pieces: 3 } });
      const text = await (await post(at(path), ask('hello'))).text();
      const said = [...text.matchAll(/"(?:text|delta|content)":"([^"]+)"/g)].map(([, part]) => part);
      expect(said.join('')).toContain('good morning to you');
      expect(text).toContain(used);
      expect(text).toContain(ended);
      expect(told.requests()).toMatchObject([{ purpose: 'turn', said: 'hello', end: 'answered' }]);
    });

    it('recognises the question of an agent that compacts', async () => {
      const { mock: told, at } = await open();
      told.configure({ summary: { text: 'all in short' } });
      const text = await (await post(at(path), ask(summary))).text();
      expect(text).toContain('all in short');
      expect(told.requests()).toMatchObject([{ purpose: 'summary' }]);
    });

    it('asks for the shell tool once, and not again after its result', async () => {
      const { mock: told, at } = await open();
      told.configure({ next: [{ command: 'touch it' }] });
      expect(await (await post(at(path), ask('make a file'))).text()).toContain(tool);
      expect(await (await post(at(path), ask('and now'))).text()).not.toContain(tool);
    });

    it.each([400, 500])('fails with %i when it is told to', async (status) => {
      const { mock: told, at } = await open();
      told.configure({ summary: { error: errorWith(status) } });
      expect((await post(at(path), ask(summary))).status).toBe(status);
      expect((await post(at(path), ask('hello'))).status).toBe(200);
      expect(told.requests()).toMatchObject([{ end: 'failed' }, { end: 'answered' }]);
    });

    it('ends the connection in the middle when it is told to', async () => {
      const { mock: told, at } = await open();
      told.configure({ turn: { text: 'one two three four', pieces: 4, isCut: true } });
      await expect(post(at(path), ask('hello')).then((response) => response.text())).rejects.toThrow(
        'terminated',
      );
      expect(told.requests()).toMatchObject([{ end: 'dropped' }]);
    });

    it('has answered an agent that leaves with the last word', async () => {
      const { mock: told, at } = await open();
      told.configure({ turn: { text: 'hello', pieces: 5, spreadMs: 30 } });
      const leaving = new AbortController();
      const body = JSON.stringify(ask('hello'));
      const response = await fetch(at(path), { method: 'POST', body, signal: leaving.signal });
      let text = '';
      for await (const part of response.body ?? []) {
        text += Buffer.from(part as Uint8Array).toString();
        if (text.includes(ended)) break;
      }
      leaving.abort();
      await eventually(() => expect(told.requests()[0]?.end).toBeDefined());
      expect(told.requests()).toMatchObject([{ end: 'answered' }]);
    });

    it('opens its answer before the model has thought, and then says it piece by piece', async () => {
      const { mock: told, at } = await open();
      const never = 60_000;
      told.configure({ next: [{ thinkMs: never }, { text: 'one two', pieces: 2, spreadMs: never }] });
      const opened = await post(at(path), ask('hello'));
      expect(opened.status).toBe(200);
      await opened.body?.cancel();
      const spoken = await post(at(path), ask('hello'));
      const first: unknown = (await spoken.body?.getReader().read())?.value;
      expect(Buffer.from(first as Uint8Array).toString()).not.toContain('two');
    });

    it('gives an empty answer when it is told to', async () => {
      const { mock: told, at } = await open();
      told.configure({ summary: { text: '' } });
      const text = await (await post(at(path), ask(summary))).text();
      expect(text).not.toMatch(/"(?:text|delta|content)":"[^"]+"/);
      expect(text).toContain(ended);
    });
  },
);

it("takes Qwen's question for a summary for one, though it offers the tools of a turn", async () => {
  const { mock: told, at } = await open();
  const text =
    'Do not call tools; tool execution is disabled for this request. Then, produce the <state_snapshot> XML.';
  const messages = [
    { role: 'system', content: 'You help.' },
    { role: 'user', content: text },
  ];
  await post(at('/v1/chat/completions'), { model: 'm', tools: SHELL_TOOLS.chat, messages });
  expect(told.requests()).toMatchObject([{ purpose: 'summary' }]);
});

describe("the control of the lab's model", () => {
  it('takes changes one after the other', async () => {
    const { mock: told, at } = await open();
    told.configure({ turn: { usedTokens: 7_000 } });
    told.configure({ turn: { text: 'yes' } });
    const { path, ask } = questions[0];
    const text = await (await post(at(path), ask('hello'))).text();
    expect(text).toContain('yes');
    expect(text).toContain('"cache_read_input_tokens":6497');
  });

  it('takes a fault back', async () => {
    const { mock: told, at } = await open();
    const { path, ask } = questions[0];
    told.configure({ turn: { error: tooLong } });
    expect((await post(at(path), ask('hello'))).status).toBe(400);
    told.configure({ turn: { error: undefined } });
    expect((await post(at(path), ask('hello'))).status).toBe(200);
  });
});

describe('a file that the model writes', () => {
  it.each([
    ['write_file', 'file_path'],
    ['write', 'filePath'],
    ['Write', 'path'],
    ['create', 'path'],
  ])('has its path where the tool %s looks for it', async (name, key) => {
    const { mock: server, at } = await open();
    const file = { path: '/home/me/a.ts', text: 'a' };
    server.configure({ next: [{ file }] });
    const tools = [{ function: { name: 'bash' } }, { function: { name } }];
    const messages = [{ role: 'user', content: 'write it' }];
    const answer = await post(at('/v1/chat/completions'), { model: 'm', tools, messages });
    expect(await answer.text()).toContain(JSON.stringify(JSON.stringify({ [key]: file.path })).slice(2, -3));
  });
});
