import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { readConversation } from '../support/read-log.js';
import {
  compactionsOf,
  windowOf,
  type Conversation,
  type NewSession,
} from '../../src/core/conversation/conversation.js';
import type { SessionSource } from '../../src/session-files/read-history.js';
import { planCheckpoint, undoCompaction, UndoError } from '../../src/session-files/undo.js';

const logs = join(import.meta.dirname, '../fixtures/logs');
const ID = '0f0f0f0f-1111-4222-8333-444444444444';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'undo-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const as = (): NewSession => ({
  id: ID,
  cwd: folder,
  now: Date.UTC(2026, 10, 24, 9, 5, 7),
  newUuid: () => 'unused',
});

const copyOf = (name: string): string => {
  const path = join(folder, name.replace('/', '-'));
  copyFileSync(join(logs, name), path);
  return path;
};

const read = (path: string, agent: Agent): Conversation =>
  readConversation(agent, readFileSync(path, 'utf8').split('\n'));

const textsOf = (conversation: Conversation): readonly string[] =>
  windowOf(conversation).flatMap((entry) =>
    entry.kind === 'prompt' || entry.kind === 'answer' ? [entry.text] : [],
  );

const cases: readonly (readonly [string, Agent, string, readonly string[]])[] = [
  [
    'claude/session-with-compaction.jsonl',
    agents.claude,
    `${ID}.jsonl`,
    [
      'hello one',
      'first answer',
      'hello two',
      'second answer',
      'run the tool',
      'I will run a command.',
      'tool finished',
    ],
  ],
  [
    'codex/own-compact-ends.jsonl',
    agents.codex,
    `rollout-2026-11-24T09-05-07-${ID}.jsonl`,
    [
      'one ~tok=20000',
      'MOCK reply #1: ok (input_tokens=20000).',
      'two ~tok=91000',
      'MOCK reply #3: ok (input_tokens=91000).',
      'three ~tok=30000',
    ],
  ],
  [
    'gemini/manual-compaction.jsonl',
    agents.gemini,
    `session-2026-11-24T09-05-${ID}.jsonl`,
    ['hello #tok=300000', 'MOCK-REPLY ok', 'hello2 #tok=310000', 'MOCK-REPLY ok'],
  ],
  [
    'qwen/old-0.15.10.jsonl',
    agents.qwen,
    `${ID}.jsonl`,
    ['number one', 'heard number one', 'number two', 'heard number two'],
  ],
];

describe('undoing a compaction', () => {
  it.each(cases)('of %s makes a session of what was said before', async (name, agent, file, said) => {
    const path = copyOf(name);
    const before = readFileSync(path);
    const undone = await undoCompaction({ agent, path, as: as() });
    expect(undone.session).toEqual({ id: ID, path: join(folder, file) });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(statSync(undone.session.path).mode & 0o777).toBe(0o600);
    const conversation = read(undone.session.path, agent);
    expect(conversation.head.id).toBe(ID);
    expect(conversation.damaged).toBe(0);
    expect(textsOf(conversation).slice(0, said.length)).toEqual(said);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('of kimi makes a folder for the session, with the file that tells its project', async () => {
    const beside = join(folder, 'session_old/agents/main');
    mkdirSync(beside, { recursive: true });
    const path = join(beside, 'wire.jsonl');
    copyFileSync(join(logs, 'kimi/turns.jsonl'), path);
    const { session } = await undoCompaction({ agent: agents.kimi, path, as: as() });
    const made = join(folder, `session_${ID}`);
    expect(session).toEqual({ id: ID, path: join(made, 'agents/main/wire.jsonl') });
    expect(textsOf(read(session.path, agents.kimi))).toEqual([
      'hello #tok=60000',
      'MOCK reply ok',
      'second #slow=5000 #tok=90000',
      expect.stringContaining('chunk 0') as string,
      'do it #tool=touch approved',
      'MOCK reply ok',
    ]);
    const state = join(made, 'state.json');
    expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({
      id: `session_${ID}`,
      cwd: '/home/user/project',
    });
    expect(statSync(state).mode & 0o777).toBe(0o600);
  });

  describe('of a session of kimi with a picture', () => {
    const name = '3666a0fb2385a19757b339217e38f5f274ac37b02b26230f4717f8a0087592ad';
    const recorded = join(import.meta.dirname, '../fixtures/kimi-picture/agents/main');
    let main: string;
    beforeEach(() => {
      main = join(folder, 'session_old/agents/main');
      cpSync(recorded, main, { recursive: true });
    });
    const undo = async (): Promise<string> => {
      const undone = await undoCompaction({ agent: agents.kimi, path: join(main, 'wire.jsonl'), as: as() });
      return dirname(undone.session.path);
    };

    it('copies it beside the new session, where Kimi looks for it', async () => {
      const made = await undo();
      expect(readFileSync(join(made, 'wire.jsonl'), 'utf8')).toContain(`blobref:image/png;${name}`);
      const copy = join(made, 'blobs', name);
      expect(readFileSync(copy)).toEqual(readFileSync(join(recorded, 'blobs', name)));
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      expect(readdirSync(join(made, 'blobs'))).toEqual([name]);
    });

    it('does without a picture that is gone', async () => {
      rmSync(join(main, 'blobs'), { recursive: true });
      const made = await undo();
      expect(readdirSync(join(made, 'blobs'))).toEqual([]);
      expect(existsSync(join(made, '../../state.json'))).toBe(true);
    });

    it('waits for nothing that stands in its place, and hands over no half session', async () => {
      rmSync(join(main, 'blobs', name));
      execFileSync('mkfifo', [join(main, 'blobs', name)]);
      await expect(undo()).rejects.toThrow('it is not a regular file');
      expect(existsSync(join(folder, `session_${ID}`, 'state.json'))).toBe(false);
    });
  });

  it('takes any of several: the earlier ones stay undone only as far as the wanted one', async () => {
    const path = copyOf('codex/compactions.jsonl');
    const { number, count, session, prompts } = await undoCompaction({
      agent: agents.codex,
      path,
      number: 3,
      as: as(),
    });
    expect([number, count, prompts]).toEqual([3, 4, 5]);
    const conversation = read(session.path, agents.codex);
    expect(compactionsOf(conversation)).toHaveLength(2);
    expect(textsOf(conversation).filter((text) => text.startsWith('fill'))).toHaveLength(3);
  });

  it.each(cases)(
    'of %s, written anew with blanks in its records, is another session, too',
    async (name, agent) => {
      const path = copyOf(name);
      const records = readFileSync(path, 'utf8').trimEnd().split('\n');
      const blank = (line: string): string =>
        line.replaceAll(/"(sessionId|id|session_id|type)":"/g, '"$1" : "');
      writeFileSync(path, records.map((line) => `${blank(line)}\n`).join(''));
      const old = read(path, agent).head.id ?? '';
      const { session } = await undoCompaction({ agent, path, as: as() });
      expect(read(session.path, agent).head.id).toBe(ID);
      expect(readFileSync(session.path, 'utf8')).not.toContain(`" : "${old}"`);
    },
  );

  it('never takes the place of another file, and leaves nothing of its own behind', async () => {
    const path = copyOf('claude/session-with-compaction.jsonl');
    writeFileSync(join(folder, `${ID}.jsonl`), 'mine');
    await expect(undoCompaction({ agent: agents.claude, path, as: as() })).rejects.toThrow(/EEXIST/);
    expect(readFileSync(join(folder, `${ID}.jsonl`), 'utf8')).toBe('mine');
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('takes the bytes of a copy where the file is gone', async () => {
    const bytes = readFileSync(join(logs, 'claude/session-with-compaction.jsonl'));
    const undone = await undoCompaction({
      agent: agents.claude,
      path: join(folder, 'gone.jsonl'),
      open: async function* copy() {
        yield bytes.subarray(0, 10_000);
        yield bytes.subarray(10_000);
      },
      as: as(),
    });
    expect(undone.prompts).toBe(3);
    expect(readdirSync(folder)).toEqual([`${ID}.jsonl`]);
  });

  describe('in a file that the agent wrote anew', () => {
    const [original, compactedOnly] = (() => {
      const lines = readFileSync(join(logs, 'claude/session-with-compaction.jsonl'), 'utf8')
        .trimEnd()
        .split('\n');
      const place = lines.findIndex((line) => line.includes('"compact_boundary"'));
      return [lines, lines.slice(place)];
    })();
    const boundary = original.length - compactedOnly.length;
    const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
    const copy = (modifiedAt: number, text: string, isBroken = false): SessionSource => ({
      agent: agents.claude,
      path: 'it.jsonl',
      size: text.length,
      modifiedAt,
      open: async function* bytes() {
        yield Buffer.from(text);
        if (isBroken) throw new Error('its pieces do not belong together');
      },
    });
    const undo = (text: string | undefined, ...copies: readonly SessionSource[]) => {
      const path = join(folder, 'it.jsonl');
      if (text !== undefined) writeFileSync(path, text);
      return undoCompaction({ agent: agents.claude, path, as: as(), copies: async () => copies });
    };
    const whole = ['hello one', 'first answer', 'hello two', 'second answer', 'run the tool'];

    it('takes the newest copy from before the compaction', async () => {
      const undone = await undo(
        textOf(compactedOnly),
        copy(1, textOf(original.slice(0, 8))),
        copy(3, textOf(compactedOnly)), // made after it
        copy(2, `${textOf(original.slice(0, boundary))}{"half a li`),
      );
      expect(undone).toMatchObject({ copiedAt: 2, prompts: 3, number: 1, count: 1, session: { id: ID } });
      const conversation = read(undone.session.path, agents.claude);
      expect(textsOf(conversation).slice(0, whole.length)).toEqual(whole);
      expect([conversation.damaged, compactionsOf(conversation).length]).toEqual([0, 0]);
    });

    it('takes a copy that has the compaction, too, up to it', async () => {
      const undone = await undo(textOf(compactedOnly), copy(2, textOf(original)));
      expect(undone).toMatchObject({ copiedAt: 2, prompts: 3 });
      expect(textsOf(read(undone.session.path, agents.claude)).slice(0, whole.length)).toEqual(whole);
    });

    it('leaves out a copy that cannot be read', async () => {
      const before = textOf(original.slice(0, boundary));
      const undone = await undo(textOf(compactedOnly), copy(2, before, true), copy(1, before));
      expect(undone.copiedAt).toBe(1);
    });

    it('takes the newest copy as if it were the file where that is gone', async () => {
      const undone = await undo(undefined, copy(1, textOf(compactedOnly)), copy(2, textOf(original)));
      expect(undone).toMatchObject({ copiedAt: 2, prompts: 3 });
    });

    it.each([
      ['no copy', []],
      ['only copies from after it', [copy(2, textOf(compactedOnly))]],
      ['only empty copies', [copy(2, '')]],
    ])('says so where there are %s', async (_, copies) => {
      const undoing = undo(textOf(compactedOnly), ...copies);
      await expect(undoing).rejects.toThrow(/no longer holds what was said .* no copy of it/);
      expect(readdirSync(folder)).toEqual(['it.jsonl']);
    });

    it('says so where neither the file nor a copy is there', async () => {
      await expect(undo(undefined)).rejects.toThrow('the session file is gone, and there is no copy of it');
    });
  });

  it.each([
    {
      what: 'a file without a compaction',
      name: 'codex/context-exceeded.jsonl',
      agent: agents.codex,
      reason: /nothing was compacted in this session/,
    },
    {
      what: 'a number that is too high',
      name: 'codex/compactions.jsonl',
      agent: agents.codex,
      number: 9,
      reason: /no compaction #9, only #1 to #4/,
    },
    {
      what: 'a compaction with nothing before it',
      name: 'codex/compactions.jsonl',
      agent: agents.codex,
      number: 1,
      reason: /no longer holds/,
    },
    {
      what: 'a file of an old form',
      name: 'gemini/document-0.20.0.json',
      agent: agents.gemini,
      reason: /nothing was compacted in this session/,
    },
  ])('says why it cannot undo $what', async ({ name, agent, number, reason }) => {
    const path = copyOf(name);
    const undoing = undoCompaction({ agent, path, number, as: as() });
    await expect(undoing).rejects.toThrow(UndoError);
    await expect(undoing).rejects.toThrow(reason);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('refuses a rollout that was rewound, because its copy would continue itself', async () => {
    const path = copyOf('codex/own-compact-ends.jsonl');
    const [first = '', ...rest] = readFileSync(path, 'utf8').split('\n');
    const record = JSON.parse(first) as { payload: Record<string, unknown> };
    record.payload['history_base'] = { thread_id: record.payload['id'], end_ordinal_exclusive: 3 };
    writeFileSync(path, [JSON.stringify(record), ...rest].join('\n'));
    await expect(undoCompaction({ agent: agents.codex, path, as: as() })).rejects.toThrow(/rewound/);
  });

  it('says so when Claude has removed what was before the compaction from its file', async () => {
    const path = copyOf('claude/session-with-compaction.jsonl');
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, lines.slice(28).join('\n'));
    await expect(undoCompaction({ agent: agents.claude, path, as: as() })).rejects.toThrow(/no longer holds/);
  });

  it('counts the messages that are in the window again: none of a branch that the user has left', async () => {
    const path = join(folder, 'branches.jsonl');
    const record = (uuid: string, parentUuid: string | null, role: 'user' | 'assistant') => ({
      type: role,
      uuid,
      parentUuid,
      sessionId: 's',
      cwd: folder,
      timestamp: '2026-11-24T09:00:00.000Z',
      message: { id: uuid, role, content: [{ type: 'text', text: `${uuid} says this` }] },
    });
    const records = [
      record('p1', null, 'user'),
      record('a1', 'p1', 'assistant'),
      record('left', 'a1', 'user'),
      record('answered', 'left', 'assistant'),
      record('p2', 'a1', 'user'),
      record('a2', 'p2', 'assistant'),
      {
        type: 'system',
        subtype: 'compact_boundary',
        uuid: 'b',
        parentUuid: null,
        sessionId: 's',
        logicalParentUuid: 'a2',
        timestamp: '2026-11-24T09:01:00.000Z',
        compactMetadata: { trigger: 'auto', preTokens: 100_000 },
      },
      { ...record('summary', 'b', 'user'), isCompactSummary: true },
      record('p3', 'summary', 'user'),
    ];
    writeFileSync(path, records.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const { prompts } = await undoCompaction({ agent: agents.claude, path, as: as() });
    expect(prompts).toBe(2);
    appendFileSync(path, `${JSON.stringify(record('p4', 'a1', 'user'))}\n`);
    const left = await undoCompaction({ agent: agents.claude, path, as: { ...as(), id: 'another' } });
    expect(left.prompts).toBe(2);
  });

  it('gives a running Gemini the history of its model, beside its sessions', async () => {
    const path = copyOf('gemini/manual-compaction.jsonl');
    const planned = await planCheckpoint({ agent: agents.gemini, path, as: as() }, 'a-name');
    expect(planned?.file.path).toBe(join(folder, '../checkpoint-a-name.json'));
    const { history } = JSON.parse(planned?.file.text ?? '{}') as {
      history: { role: string; parts: object[] }[];
    };
    expect(history.slice(1)).toEqual([
      { role: 'user', parts: [{ text: 'hello #tok=300000' }] },
      { role: 'model', parts: [{ text: 'MOCK-REPLY ok' }] },
      { role: 'user', parts: [{ text: 'hello2 #tok=310000' }] },
      { role: 'model', parts: [{ text: 'MOCK-REPLY ok' }] },
    ]);
  });
});
