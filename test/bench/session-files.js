// Session files in the shape of each agent, of any size, for measuring how fast they are read.
import { closeSync, openSync, writeSync } from 'node:fs';

const WORDS =
  'const value = read(path, { encoding: "utf8" });\n// the quick brown fox jumps over the lazy dog\n'; // quotes, newlines
const text = (length) => WORDS.repeat(Math.ceil(length / WORDS.length)).slice(0, length);

const hex = (number, digits) => number.toString(16).padStart(digits, '0');
/** The id of a record of a turn. */
const idOf = (turn, record) => `${hex(turn, 8)}-0000-4000-8000-${hex(record, 12)}`;
const timeOf = (turn) => new Date(1_795_250_000_000 + turn * 1_000).toISOString();

const SESSION = '0f0f0f0f-1111-4222-8333-444444444444';
const CWD = '/home/me/project';

// In the records stand marks; a line gets the long texts, quoted only once, when it is written.
const [PROMPT, ANSWER, SUMMARY, OUTPUT, REASONING] = [
  '@prompt@',
  '@answer@',
  '@summary@',
  '@output@',
  '@reasoning@',
];
const long = {
  [PROMPT]: text(200),
  [ANSWER]: text(600),
  [SUMMARY]: text(8_000),
  [OUTPUT]: text(6_000),
  [REASONING]: 'gAAAAA'.repeat(400),
};
const quoted = Object.fromEntries(
  Object.entries(long).map(([mark, words]) => [mark, JSON.stringify(words).slice(1, -1)]),
);
const lineOf = (record) => `${JSON.stringify(record).replace(/@\w+@/g, (mark) => quoted[mark])}\n`;

const TOOLS = 5; // calls of a turn
const LAST = 99; // record of a turn
const TURNS_BETWEEN = 100; // two compactions

/** What the tool calls of a turn leave. */
const rounds = (round) => Array.from({ length: TOOLS }, (_, at) => round(at)).flat();

const claudeRecord = (turn, more) => ({
  parentUuid: idOf(turn, 0),
  isSidechain: false,
  ...more,
  timestamp: timeOf(turn),
  cwd: CWD,
  sessionId: SESSION,
  version: '2.1.330',
  gitBranch: 'main',
});

const claudeAnswer = (turn, record, content, stop) =>
  claudeRecord(turn, {
    message: {
      id: `msg_${turn}`,
      role: 'assistant',
      model: 'claude-sonnet-4-6',
      content: [content],
      stop_reason: stop,
      usage: {
        input_tokens: 3,
        cache_creation_input_tokens: 500,
        cache_read_input_tokens: 90_000 + turn,
        output_tokens: 20,
      },
    },
    type: 'assistant',
    uuid: idOf(turn, record),
  });

const claudeUser = (turn, record, content, more) =>
  claudeRecord(turn, { type: 'user', message: { role: 'user', content }, uuid: idOf(turn, record), ...more });

const claude = {
  name: `${SESSION}.jsonl`,
  head: [],
  turn: (turn) => [
    claudeUser(turn, 0, PROMPT),
    ...rounds((at) => [
      claudeAnswer(
        turn,
        2 * at + 1,
        { type: 'tool_use', id: `t${turn}_${at}`, name: 'Read', input: { file_path: '/a' } },
        'tool_use',
      ),
      claudeUser(
        turn,
        2 * at + 2,
        [{ tool_use_id: `t${turn}_${at}`, type: 'tool_result', content: OUTPUT }],
        {
          toolUseResult: { type: 'text', file: { filePath: '/a', content: OUTPUT, numLines: 70 } },
        },
      ),
    ]),
    claudeAnswer(turn, LAST, { type: 'text', text: ANSWER }, 'end_turn'),
  ],
  compaction: (turn) => {
    const kept = [idOf(turn - 1, LAST)];
    const sizes = { trigger: 'auto', preTokens: 167_000, postTokens: 9_000, durationMs: 40_000 };
    const compactMetadata = { ...sizes, preservedMessages: { uuids: kept, allUuids: kept } };
    return [
      claudeRecord(turn, {
        type: 'system',
        subtype: 'compact_boundary',
        uuid: idOf(turn, 0),
        compactMetadata,
      }),
      claudeUser(turn, 1, SUMMARY, { isCompactSummary: true }),
    ];
  },
};

const codexLine = (turn, type, payload) => ({ timestamp: timeOf(turn), ordinal: turn, type, payload });
const codexEvent = (turn, type, more) => codexLine(turn, 'event_msg', { type, ...more });
const codexItem = (turn, type, more) => codexLine(turn, 'response_item', { type, ...more });
const said = (role, words) => ({
  role,
  content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: words }],
});
const codexCount = (turn, input) =>
  codexEvent(turn, 'token_count', {
    info: {
      last_token_usage: {
        input_tokens: input,
        output_tokens: input > 0 ? 50 : 0,
        total_tokens: input || 8_000,
      },
      model_context_window: 258_400,
    },
  });

const codex = {
  name: `rollout-2026-11-21T07-58-14-${SESSION}.jsonl`,
  head: [codexLine(0, 'session_meta', { id: SESSION, cwd: CWD, cli_version: '0.169.0', source: 'cli' })],
  turn: (turn) => [
    codexEvent(turn, 'task_started', { turn_attribution: { turn_trigger: 'user' } }),
    codexLine(turn, 'turn_context', { model: 'gpt-5.5', cwd: CWD }),
    codexItem(turn, 'message', said('user', `${turn} ${PROMPT}`)),
    codexEvent(turn, 'item_completed', { item: { type: 'UserMessage' } }),
    ...rounds(() => [
      codexItem(turn, 'reasoning', { summary: [], encrypted_content: REASONING }),
      codexItem(turn, 'function_call', { name: 'shell', arguments: '{"command":["ls"]}' }),
      codexItem(turn, 'function_call_output', { call_id: 'c', output: OUTPUT }),
      codexCount(turn, 90_000 + turn),
    ]),
    codexItem(turn, 'message', said('assistant', ANSWER)),
    codexCount(turn, 90_000 + turn),
    codexEvent(turn, 'task_complete', { last_agent_message: 'done', duration_ms: 900 }),
  ],
  compaction: (turn) => [
    codexEvent(turn, 'task_started'),
    codexLine(turn, 'compacted', {
      message: `Another language model started to solve this problem and left this:\n${SUMMARY}`,
      replacement_history: Array.from({ length: 20 }, (_, at) => ({
        type: 'message',
        ...said('user', `${turn - at} ${PROMPT}`),
      })),
    }),
    codexCount(turn, 0),
    codexEvent(turn, 'task_complete', { last_agent_message: null, duration_ms: 30_000 }),
  ],
};

const geminiMessage = (turn, record, type, more) => ({
  id: idOf(turn, record),
  timestamp: timeOf(turn),
  type,
  ...more,
});
const geminiTime = (turn) => ({ $set: { lastUpdated: timeOf(turn) } });
const geminiResult = { functionResponse: { id: 'c', name: 'read_file', response: { output: OUTPUT } } };

const gemini = {
  name: `session-2026-11-21T07-52-${SESSION.slice(0, 8)}.jsonl`,
  head: [{ sessionId: SESSION, projectHash: 'a'.repeat(64), startTime: timeOf(0), kind: 'main' }],
  turn: (turn) => {
    const tokens = {
      input: 90_000 + turn,
      output: 50,
      cached: 0,
      thoughts: 7,
      tool: 0,
      total: 90_057 + turn,
    };
    const answer = { content: ANSWER, thoughts: [], tokens, model: 'gemini-3-pro' };
    const toolCalls = [{ id: 'c', name: 'read_file', args: { path: '/a' }, result: [geminiResult] }];
    return [
      geminiMessage(turn, 0, 'user', { content: [{ text: PROMPT }] }),
      geminiTime(turn),
      ...rounds((at) => [
        geminiMessage(turn, at + 1, 'gemini', answer),
        geminiTime(turn),
        geminiMessage(turn, at + 1, 'gemini', { ...answer, toolCalls }),
        geminiTime(turn),
      ]),
    ];
  },
  compaction: (turn) => {
    const snapshot = `<state_snapshot>${turn} ${SUMMARY}</state_snapshot>`;
    const messages = [
      geminiMessage(turn, 0, 'user', { content: [{ text: snapshot }] }),
      geminiMessage(turn, 1, 'gemini', { content: [{ text: 'Got it.' }] }),
    ];
    return [
      { $set: { sessionId: SESSION } },
      { $set: { messages, lastUpdated: timeOf(turn) } },
      geminiMessage(turn, 2, 'info', { content: '' }),
    ];
  },
};

const qwenRecord = (turn, record, type, more) => ({
  uuid: idOf(turn, record),
  parentUuid: idOf(turn, 0),
  sessionId: SESSION,
  timestamp: timeOf(turn),
  type,
  cwd: CWD,
  version: '0.24.4',
  ...more,
});

const qwen = {
  name: `${SESSION}.jsonl`,
  head: [],
  turn: (turn) => [
    qwenRecord(turn, 0, 'user', { message: { role: 'user', parts: [{ text: PROMPT }] } }),
    ...rounds((at) => [
      qwenRecord(turn, 3 * at + 1, 'system', {
        subtype: 'ui_telemetry',
        systemPayload: { uiEvent: { model: 'q' } },
      }),
      qwenRecord(turn, 3 * at + 2, 'tool_result', {
        message: { role: 'user', parts: [geminiResult] },
        toolCallResult: { callId: 'c', resultDisplay: OUTPUT },
      }),
      qwenRecord(turn, 3 * at + 3, 'assistant', {
        model: 'qwen3-coder-plus',
        message: { role: 'model', parts: [{ text: ANSWER }] },
        usageMetadata: { promptTokenCount: 90_000 + turn },
        contextWindowSize: 131_072,
      }),
    ]),
  ],
  compaction: (turn) => [
    qwenRecord(turn, 0, 'system', {
      subtype: 'chat_compression',
      systemPayload: {
        info: {
          originalTokenCount: 99_000,
          newTokenCount: 9_000,
          compressionStatus: 1,
          triggerReason: 'manual',
        },
        compressedHistory: [{ role: 'user', parts: [{ text: SUMMARY }] }],
      },
    }),
  ],
};

export const shapes = { claude, codex, gemini, qwen };

const WRITTEN_AT_ONCE = 4_000_000; // characters

/** Writes a file of at least this size; returns its size and the compactions in it. */
export const writeSessionFile = (path, { head, turn, compaction }, size) => {
  const file = openSync(path, 'w');
  let [bytes, compactions, part] = [0, 0, ''];
  const put = (records) => {
    for (const record of records) part += lineOf(record);
  };
  const flush = () => {
    bytes += writeSync(file, part);
    part = '';
  };
  put(head);
  for (let number = 1; bytes + part.length < size; number += 1) {
    const isCompaction = number % TURNS_BETWEEN === 0;
    put(isCompaction ? compaction(number) : turn(number));
    if (isCompaction) compactions += 1;
    if (part.length > WRITTEN_AT_ONCE) flush();
  }
  flush();
  closeSync(file);
  return { bytes, compactions };
};
