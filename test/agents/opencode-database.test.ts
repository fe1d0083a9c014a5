// The questions to opencode's database, asked of a real one with the tables that opencode 1.18.33 makes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { locateOpencode, opencodeDatabase } from '../../src/agents/opencode/files.js';
import { compactionsOf } from '../../src/core/conversation/conversation.js';
import { makeFilePort } from '../../src/storage/agent-file-reader.js';
import { canReadDatabases, readRows } from '../../src/storage/database.js';
import { readConversationBefore, readWholeConversation } from '../../src/session-files/read-conversation.js';
import { readHistory } from '../../src/session-files/read-history.js';
import { readReceipt } from '../../src/session-files/read-receipt.js';
import { readSessionFile } from '../../src/session-files/read-session-file.js';
import { followSession } from '../../src/worker/follow-session.js';
import { findTargets } from '../../src/cli/history-targets.js';
import { findSources, runningSource, sourcesAt } from '../../src/session-files/session-sources.js';
import { makeOpencodeDatabase, recordedAskId, recordedId } from '../support/opencode-database.js';
import { linesOf } from '../support/read-log.js';
import { fakePlace } from '../support/fake-machine.js';

let home = '';
let database: ReturnType<typeof makeOpencodeDatabase>;

beforeEach(() => {
  if (!canReadDatabases()) return;
  home = mkdtempSync(join(tmpdir(), 'ctxwrap-opencode-'));
  database = makeOpencodeDatabase(home);
});
afterEach(() => {
  if (!canReadDatabases()) return;
  database.close();
  rmSync(home, { recursive: true, force: true });
});

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
    it('is read in pieces, so that everything else goes on', async () => {
      database.session('long', 1);
      const output = 'x'.repeat(100_000);
      for (let at = 0; at < 40; at += 1) {
        database.message(`m${at}`, 'long', at, { role: 'assistant' });
        database.part(`p${at}`, `m${at}`, at, { type: 'tool', state: { output } });
      }
      const where = { env: {}, home, cwd: home };
      const source = await runningSource(agents.opencode, where, { sessionId: 'long' });
      let linesRead = 0;
      let most = 0; // of one piece
      for await (const piece of source?.open?.('everything') ?? []) {
        const lines = piece.toString().split('\n').length - 1;
        [linesRead, most] = [linesRead + lines, Math.max(most, lines)];
      }
      expect(linesRead).toBe(41);
      expect(most).toBeLessThan(10);
    });

    it('is the one with a message of the user after Enter, not one of a subagent or of another time', async () => {
      database.session('old', ENTER - 60_000);
      database.session('quiet', ENTER + 50);
      database.session('sub', ENTER + 50, { parent: 'mine' });
      database.session('mine', ENTER + 50);
      database.message('m1', 'old', ENTER - 60_000, user);
      database.message('m2', 'quiet', ENTER + 50, { role: 'assistant' });
      database.message('m3', 'sub', ENTER + 50, user);
      expect(await located()).toBeUndefined();
      database.message('m4', 'mine', ENTER + 50, user);
      expect(await located()).toBe('mine');
    });

    it('is found by the first of two Enters that came quickly one after the other', async () => {
      database.session('mine', ENTER + 50);
      database.message('m', 'mine', ENTER + 50, user);
      expect(await located({ at: ENTER + 700 })).toBeUndefined();
      expect(await located({ at: ENTER + 700, since: ENTER })).toBe('mine');
    });

    it('gives its messages in order, and then only those that changed', async () => {
      database.session('s', 100);
      database.message('m1', 's', 10, user);
      database.message('m2', 's', 20, { role: 'assistant', tokens: { output: 0 } });
      database.message('other', 'elsewhere', 20, user);
      const linesSince = async (since: number): Promise<readonly unknown[]> => {
        const [rows = []] = await readRows(database.path, [opencodeDatabase.changed('s', since)]);
        return rows.map(({ line }) => JSON.parse(String(line)));
      };
      expect(await linesSince(0)).toMatchObject([
        { type: 'session', id: 's', version: '1.18.33', isReverted: 0 },
        { type: 'message', id: 'm1', data: user },
        { type: 'message', id: 'm2', data: { role: 'assistant' } },
      ]);
      database.run("UPDATE message SET time_updated = 300 WHERE id = 'm2'");
      expect(await linesSince(200)).toMatchObject([{ id: 'm2' }]);
      expect(await readRows(database.path, [opencodeDatabase.counted('s', 10)])).toEqual([
        [{ rows: 2, older: 1 }],
      ]);
    });

    it('says of a compaction who asked for it, and how long its text is', async () => {
      database.session('s', 100);
      database.message('ask', 's', 10, user);
      database.part('p1', 'ask', 10, { type: 'compaction', auto: true });
      database.message('sum', 's', 20, { role: 'assistant', summary: true, parentID: 'ask' });
      database.part('p2', 'sum', 20, { type: 'step-start' });
      database.part('p3', 'sum', 21, { type: 'text', text: 'twelve chars' });
      const [rows = []] = await readRows(database.path, [opencodeDatabase.changed('s', 0)]);
      expect(JSON.parse(String(rows.at(-1)?.['line']))).toMatchObject({
        id: 'sum',
        characters: 12,
        isAuto: 1,
      });
    });
  },
);

const where = () => ({ env: {}, home, cwd: '/' });
const known = async () => {
  const source = await runningSource(agents.opencode, where(), { sessionId: recordedId });
  if (!source) throw new Error('not found');
  return source;
};

describe.runIf(canReadDatabases())(
  'the conversation in opencode’s database (skipped where Node has no SQLite)',
  () => {
    beforeEach(() => database.restore());

    it('is read as it was recorded', async () => {
      const lines: string[] = [];
      const { open } = await known();
      for await (const chunk of open?.('everything') ?? [])
        lines.push(...chunk.toString().trimEnd().split('\n'));
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        linesOf('opencode', 'tools.jsonl').map((line) => JSON.parse(line)),
      );
    });

    it('is found by its id, with the size of what was said; and none before the id is known', async () => {
      const source = await known();
      expect(source).toMatchObject({ agent: agents.opencode, path: database.path, idInDatabase: recordedId });
      expect(source.size).toBeGreaterThan(10_000);
      expect(await runningSource(agents.opencode, where(), {})).toBeUndefined();
      expect(await runningSource(agents.opencode, where(), { sessionId: 'ses_other' })).toBeUndefined();
    });

    it('has the compactions in the lines in which the history finds them', async () => {
      const source = await known();
      const history = await readHistory(source, { isFull: false, withUsage: false, now: 0 });
      const lines = history?.history.compactions.map(({ line }) => line) ?? [];
      const conversation = await readWholeConversation(source);
      expect(conversation && compactionsOf(conversation).map((each) => each.source.line + 1)).toEqual(lines);
      expect(lines).toHaveLength(2);
      const read = await readReceipt(source, { line: lines[0] ?? 0 });
      expect(read?.receipt.items.find(({ kind }) => kind === 'command')).toMatchObject({
        text: 'echo from the shell',
        isKept: false,
      });
      expect((await readConversationBefore(source, { line: lines[0] ?? 0 }))?.entries.at(-1)).toMatchObject({
        kind: 'answer',
      });
    });

    it('is without what the user has gone back from', async () => {
      const messageID = recordedAskId();
      database.run('UPDATE session SET revert = ?', JSON.stringify({ messageID }));
      const conversation = await readWholeConversation(await known());
      expect(conversation && compactionsOf(conversation)).toEqual([]);
      expect(await readReceipt(await known(), 'last')).toBeUndefined();
    });

    it('fills the window with the results of its tools', async () => {
      const { agent, open } = await known();
      database.run('DELETE FROM message WHERE id >= ?', recordedAskId());
      const read = await readSessionFile({ agent, path: database.path, open, env: {}, now: 0 });
      expect(read.toolResults.map(({ name }) => name)).toContain('todowrite');
      expect(read.filled?.fileTokens).toBeGreaterThan(0);
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
  database.message(`u${number}`, 's', at, user);
  database.message(`a${number}`, 's', at + 1, answer(at + 1, tokens(input)));
};
const compaction = (
  number: number,
  at: number,
  more: { readonly auto: boolean; readonly tail?: string },
): void => {
  database.message(`ask${number}`, 's', at, user);
  const { auto, tail } = more;
  database.part(`p${number}`, `ask${number}`, at, {
    type: 'compaction',
    auto,
    ...(tail ? { tail_start_id: tail } : {}),
  });
  database.message(
    `sum${number}`,
    's',
    at + 1,
    answer(at + 1, { summary: true, parentID: `ask${number}`, ...tokens(60_000) }),
  );
  database.part(`q${number}a`, `sum${number}`, at + 1, { type: 'text', text: `summary ${number}` });
  database.part(`q${number}b`, `sum${number}`, at + 1, { type: 'text', text: 'and more' });
};

describe.runIf(canReadDatabases())(
  'the history in opencode’s database (skipped where Node has no SQLite)',
  () => {
    const search = () => ({ agents: [agents.opencode], where: { env: {}, home, cwd: '/' } });
    const targetSearch = () => ({ ...search(), stateFolder: join(home, 'state') });
    const read = async () => {
      const { sources } = await findSources(search());
      const [first] = sources;
      return first && (await readHistory(first, { isFull: true, withUsage: false, now: 0 }))?.history;
    };

    it('has each compaction with its numbers, who wanted it, its summary and what left the window', async () => {
      database.session('sub', 900, { parent: 's' });
      database.session('s', 900);
      turn(1, 100, 20_000);
      turn(2, 200, 55_000);
      compaction(1, 300, { auto: false, tail: 'u2' });
      turn(3, 400, 9_000);
      compaction(2, 500, { auto: true });
      expect(await read()).toMatchObject({
        runtime: 'opencode',
        sessionId: 's',
        path: database.path,
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
      database.session('s', 900);
      turn(1, 100, 20_000);
      database.message('ask', 's', 200, user);
      database.part('p', 'ask', 200, { type: 'compaction', auto: false });
      const error = { name: 'APIError', data: { message: 'made up' } };
      database.message('sum', 's', 201, answer(201, { summary: true, parentID: 'ask', error }));
      expect((await read())?.compactions).toEqual([]);
    });

    it('is also found by the path of the database, and says what is wrong with a damaged one', async () => {
      database.session('s', 900);
      turn(1, 100, 20_000);
      const found = await sourcesAt({ ...search(), path: database.path });
      expect(found.sources.map(({ idInDatabase }) => idInDatabase)).toEqual(['s']);
      database.run('DROP TABLE session');
      expect(await findSources(search())).toEqual({
        sources: [],
        skipped: [{ path: database.path, reason: 'no such table: session' }],
      });
      database.run('CREATE TABLE session (id text)');
    });

    it('lists the newest 10,000 sessions, tells that there are more, and finds an older one by its id', async () => {
      database.run(
        `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 10002)
         INSERT INTO session SELECT 'ses_' || n, NULL, '/', '1', NULL, n FROM r`,
      );
      const { sources, skipped } = await findSources(search());
      expect(sources).toHaveLength(10_000);
      expect(sources.at(-1)?.idInDatabase).toBe('ses_3');
      const reason = 'all but the 10000 newest sessions in it';
      expect(skipped).toEqual([{ path: database.path, reason, isLimit: true }]);
      const named = await findSources({ ...search(), start: 'ses_2' });
      expect(named.sources.at(-1)?.idInDatabase).toBe('ses_2');
      expect(named.skipped).toEqual([]);
      expect((await findTargets(['SES_1'], targetSearch())).targets).toContainEqual(
        expect.objectContaining({ source: expect.objectContaining({ idInDatabase: 'ses_1' }) as unknown }),
      );
    });

    it('is left out where a table of it is a view that never ends, by a session that runs, too, and told once', async () => {
      database.run('DROP TABLE session');
      database.run(
        'CREATE VIEW session AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) ' +
          "SELECT n AS id, '/' AS directory, '1' AS version, NULL AS revert, NULL AS parent_id, n AS time_updated FROM r",
      );
      const reason = '"session" in it is a view, not a table, and could run without end';
      expect(await findSources(search())).toEqual({
        sources: [],
        skipped: [{ path: database.path, reason, isLimit: true }],
      });
      const problems: string[] = [];
      let looks = 0;
      const following = followSession({
        agent: agents.opencode,
        childPid: process.pid,
        cwd: '/',
        home,
        env: {},
        args: [],
        startedAt: 0,
        now: Date.now,
        enteredAt: () => {
          looks += 1;
          return Date.now() - 2_500;
        },
        onFact: () => undefined,
        onProblem: (problem) => problems.push(problem),
      });
      await expect.poll(() => looks, { timeout: 60_000 }).toBeGreaterThan(30);
      following.stop();
      expect(problems).toEqual([`looking for the session file: left out: ${reason}`]);
      database.run('DROP VIEW session');
      database.run('CREATE TABLE session (id text)');
    });
  },
);
