// A session in a database is followed as a file is.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionDatabase } from '../../src/agents/database.js';
import { canReadDatabases } from '../../src/storage/database.js';
import { followDatabase } from '../../src/worker/session-database.js';

interface Writer {
  readonly exec: (sql: string) => void;
  readonly close: () => void;
}

const database: SessionDatabase = {
  path: () => path,
  sessions: () => ({ sql: 'SELECT 1', values: [] }),
  whole: () => ({ sql: 'SELECT 1', values: [] }),
  changed: (id, since) => ({
    sql: 'SELECT text AS line, at FROM said WHERE session = ? AND at >= ? ORDER BY at',
    values: [id, since],
  }),
  counted: (id, until) => ({
    sql: 'SELECT count(*) AS rows, total(at <= ?2) AS older FROM said WHERE session = ?1',
    values: [id, until],
  }),
};

const WAIT = { timeout: 60_000 };

let folder = '';
let path = '';
let writer: Writer;
let seen: string[];
let following: { readonly stop: () => void } | undefined;

const follow = (): void => {
  following = followDatabase({
    path,
    sessionId: 'one',
    database,
    intervalMs: 10,
    onLine: (line) => seen.push(line),
    onRestart: () => seen.push('restart'),
    onCaughtUp: () => seen.push('caught up'),
    onProblem: () => seen.push('problem'),
  });
};
const say = (text: string, at: number, session = 'one'): void =>
  writer.exec(`INSERT INTO said VALUES ('${session}', ${at}, '${text}')`);
/** What came first; a row that was read while it was written comes again. */
const first = (count: number) => (): readonly string[] => seen.slice(0, count);

describe.runIf(canReadDatabases())('a session in a database (skipped where Node has no SQLite)', () => {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctxwrap-database-'));
    path = join(folder, 'sessions.db');
    seen = [];
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
      readonly DatabaseSync: new (path: string) => Writer;
    };
    writer = new DatabaseSync(path);
    writer.exec('CREATE TABLE said (session TEXT, at INTEGER, text TEXT)');
    say('hello', 1);
    say('of another session', 2, 'two');
  });
  afterEach(() => {
    following?.stop();
    writer.close();
    rmSync(folder, { recursive: true });
  });

  it('is read once, and then what is new, with what has the time of the last row', async () => {
    follow();
    await expect.poll(first(2), WAIT).toEqual(['hello', 'caught up']);
    say('again', 3);
    await expect.poll(first(5), WAIT).toEqual(['hello', 'caught up', 'hello', 'again', 'caught up']);
  });

  it('is read from its beginning when rows were removed', async () => {
    say('again', 3);
    follow();
    await expect.poll(first(3), WAIT).toEqual(['hello', 'again', 'caught up']);
    writer.exec("DELETE FROM said WHERE text = 'again'");
    await expect
      .poll(first(6), WAIT)
      .toEqual(['hello', 'again', 'caught up', 'restart', 'hello', 'caught up']);
  });

  it('is read from its beginning when as many new ones stand in the place of those that were removed', async () => {
    say('again', 3);
    follow();
    await expect.poll(first(3), WAIT).toEqual(['hello', 'again', 'caught up']);
    writer.exec(
      "BEGIN; DELETE FROM said WHERE text = 'again'; INSERT INTO said VALUES ('one', 4, 'instead'); COMMIT",
    );
    await expect
      .poll(first(7), WAIT)
      .toEqual(['hello', 'again', 'caught up', 'restart', 'hello', 'instead', 'caught up']);
  });

  it('is read from its beginning after a problem, of which is told once, because what was read before is dropped then', async () => {
    follow();
    await expect.poll(first(2), WAIT).toEqual(['hello', 'caught up']);
    writer.exec('ALTER TABLE said RENAME TO moved');
    await expect.poll(first(3), WAIT).toEqual(['hello', 'caught up', 'problem']);
    writer.exec('ALTER TABLE moved RENAME TO said');
    await expect
      .poll(first(6), WAIT)
      .toEqual(['hello', 'caught up', 'problem', 'restart', 'hello', 'caught up']);
  });
});
