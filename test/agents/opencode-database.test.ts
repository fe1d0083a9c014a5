// The questions to opencode's database, asked of a real one with the tables that opencode 1.18.33 makes.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { locateOpencode, opencodeDatabase } from '../../src/agents/opencode/files.js';
import { makeFilePort } from '../../src/storage/agent-file-reader.js';
import { canReadDatabases, readRows } from '../../src/storage/database.js';
import { readHistory } from '../../src/wrap/read-history.js';
import { findSources, sourcesAt } from '../../src/wrap/session-sources.js';
import { fakePlace } from '../support/fake-machine.js';

interface Writer {
  readonly exec: (sql: string) => void;
  readonly prepare: (sql: string) => { readonly run: (...values: readonly unknown[]) => unknown };
  readonly close: () => void;
}

const TABLES = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, version text NOT NULL,
                        revert text, time_updated integer NOT NULL);
  CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
                        time_updated integer NOT NULL, data text NOT NULL);
  CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
                     time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)`;

let home = '';
let path = '';
let writer: Writer;

beforeEach(() => {
  if (!canReadDatabases()) return;
  home = mkdtempSync(join(tmpdir(), 'ctxwrap-opencode-'));
  mkdirSync(join(home, '.local/share/opencode'), { recursive: true });
  path = join(home, '.local/share/opencode/opencode.db');
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    readonly DatabaseSync: new (path: string) => Writer;
  };
  writer = new DatabaseSync(path);
  writer.exec(TABLES);
});
afterEach(() => {
  if (!canReadDatabases()) return;
  writer.close();
  rmSync(home, { recursive: true, force: true });
});

const session = (id: string, at: number, { parent = null as string | null, directory = '/proj/app' } = {}) =>
  writer
    .prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)')
    .run(id, parent, directory, '1.18.33', null, at);
const message = (id: string, of: string, at: number, data: object): unknown =>
  writer.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)').run(id, of, at, at, JSON.stringify(data));
const part = (id: string, of: string, at: number, data: object): unknown =>
  writer.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)').run(id, of, 's', at, at, JSON.stringify(data));
const user = { role: 'user' };

const ENTER = 1_000_000;
const located = async (times: { readonly since?: number; readonly at?: number } = {}) => {
  const { since, at = ENTER } = times;
  const place = { ...fakePlace({ enteredAt: at, now: at + 2_000, startedAt: 0 }), home };
  const found = await locateOpencode(makeFilePort(), {
    ...place,
    ...(since === undefined ? {} : { enteredSince: since }),
  });
  return found?.sessionId;
};

// Node has SQLite from 22.13 on
describe.runIf(canReadDatabases())(
  'the session in opencode’s database (skipped where Node has no SQLite)',
  () => {
    it('is the one with a message of the user after Enter, not one of a subagent or of another time', async () => {
      session('old', ENTER - 60_000);
      session('quiet', ENTER + 50);
      session('sub', ENTER + 50, { parent: 'mine' });
      session('mine', ENTER + 50);
      message('m1', 'old', ENTER - 60_000, user);
      message('m2', 'quiet', ENTER + 50, { role: 'assistant' });
      message('m3', 'sub', ENTER + 50, user);
      expect(await located()).toBeUndefined();
      message('m4', 'mine', ENTER + 50, user);
      expect(await located()).toBe('mine');
    });

    it('is found by the first of two Enters that came quickly one after the other', async () => {
      session('mine', ENTER + 50);
      message('m', 'mine', ENTER + 50, user);
      expect(await located({ at: ENTER + 700 })).toBeUndefined();
      expect(await located({ at: ENTER + 700, since: ENTER })).toBe('mine');
    });

    it('gives its messages in order, and then only those that changed', () => {
      session('s', 100);
      message('m1', 's', 10, user);
      message('m2', 's', 20, { role: 'assistant', tokens: { output: 0 } });
      message('other', 'elsewhere', 20, user);
      const linesSince = (since: number): readonly unknown[] =>
        (readRows(path, [opencodeDatabase.changed('s', since)])[0] ?? []).map(({ line }) =>
          JSON.parse(String(line)),
        );
      expect(linesSince(0)).toMatchObject([
        { type: 'session', id: 's', version: '1.18.33', isReverted: 0 },
        { type: 'message', id: 'm1', data: user },
        { type: 'message', id: 'm2', data: { role: 'assistant' } },
      ]);
      writer.exec("UPDATE message SET time_updated = 300 WHERE id = 'm2'");
      expect(linesSince(200)).toMatchObject([{ id: 'm2' }]);
      expect(readRows(path, [opencodeDatabase.counted('s')])).toEqual([[{ rows: 2 }]]);
    });

    it('says of a compaction who asked for it, and how long its text is', () => {
      session('s', 100);
      message('ask', 's', 10, user);
      part('p1', 'ask', 10, { type: 'compaction', auto: true });
      message('sum', 's', 20, { role: 'assistant', summary: true, parentID: 'ask' });
      part('p2', 'sum', 20, { type: 'step-start' });
      part('p3', 'sum', 21, { type: 'text', text: 'twelve chars' });
      const rows = readRows(path, [opencodeDatabase.changed('s', 0)])[0] ?? [];
      expect(JSON.parse(String(rows.at(-1)?.['line']))).toMatchObject({
        id: 'sum',
        characters: 12,
        isAuto: 1,
      });
    });
  },
);

const tokens = (input: number) => ({
  tokens: { input, output: 20, reasoning: 0, cache: { read: 0, write: 0 } },
});
const answer = (at: number, more: object): object => ({
  role: 'assistant',
  modelID: 'm',
  finish: 'stop',
  time: { created: at, completed: at + 5 },
  ...more,
});
const turn = (number: number, at: number, input: number): void => {
  message(`u${number}`, 's', at, user);
  message(`a${number}`, 's', at + 1, answer(at + 1, tokens(input)));
};
const compaction = (
  number: number,
  at: number,
  more: { readonly auto: boolean; readonly tail?: string },
): void => {
  message(`ask${number}`, 's', at, user);
  const { auto, tail } = more;
  part(`p${number}`, `ask${number}`, at, {
    type: 'compaction',
    auto,
    ...(tail ? { tail_start_id: tail } : {}),
  });
  message(
    `sum${number}`,
    's',
    at + 1,
    answer(at + 1, { summary: true, parentID: `ask${number}`, ...tokens(60_000) }),
  );
  part(`q${number}a`, `sum${number}`, at + 1, { type: 'text', text: `summary ${number}` });
  part(`q${number}b`, `sum${number}`, at + 1, { type: 'text', text: 'and more' });
};

describe.runIf(canReadDatabases())(
  'the history in opencode’s database (skipped where Node has no SQLite)',
  () => {
    const search = () => ({ agents: [agents.opencode], where: { env: {}, home, cwd: '/' } });
    const read = async () => {
      const { sources } = await findSources(search());
      const [first] = sources;
      return first && (await readHistory(first, { isFull: true, withUsage: false, now: 0 }))?.history;
    };

    it('has each compaction with its numbers, who wanted it, its summary and what left the window', async () => {
      session('sub', 900, { parent: 's' });
      session('s', 900);
      turn(1, 100, 20_000);
      turn(2, 200, 55_000);
      compaction(1, 300, { auto: false, tail: 'u2' });
      turn(3, 400, 9_000);
      compaction(2, 500, { auto: true });
      expect(await read()).toMatchObject({
        runtime: 'opencode',
        sessionId: 's',
        path,
        project: '/proj/app',
        agentVersion: '1.18.33',
        messages: 6,
        damagedLines: 0,
        compactions: [
          {
            number: 1,
            at: 306,
            initiator: 'user',
            preTokens: 55_020,
            nextTokens: 9_020,
            durationMs: 5,
            uuid: 'sum1',
            afterMessage: 4,
            replaced: [[1, 2]],
            summary: { text: 'summary 1\nand more' },
          },
          { number: 2, initiator: 'agent', preTokens: 9_020, replaced: [[3, 6]] },
        ],
      });
    });

    it('has no compaction that failed', async () => {
      session('s', 900);
      turn(1, 100, 20_000);
      message('ask', 's', 200, user);
      part('p', 'ask', 200, { type: 'compaction', auto: false });
      const error = { name: 'APIError', data: { message: 'made up' } };
      message('sum', 's', 201, answer(201, { summary: true, parentID: 'ask', error }));
      expect((await read())?.compactions).toEqual([]);
    });

    it('is also found by the path of the database, and says what is wrong with a damaged one', async () => {
      session('s', 900);
      turn(1, 100, 20_000);
      const found = await sourcesAt({ ...search(), path });
      expect(found.sources.map(({ idInDatabase }) => idInDatabase)).toEqual(['s']);
      writer.exec('DROP TABLE session');
      expect(await findSources(search())).toEqual({
        sources: [],
        skipped: [{ path, reason: 'no such table: session' }],
      });
      writer.exec('CREATE TABLE session (id text)');
    });
  },
);
