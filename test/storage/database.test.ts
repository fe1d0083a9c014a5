import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LimitError } from '../../src/core/errors.js';
import { canReadDatabases, readRows, rowBatches } from '../../src/storage/database.js';

interface Writer {
  readonly exec: (sql: string) => void;
  readonly close: () => void;
}

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-database-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that has the database open, as opencode has. */
const openWriter = (path: string): Writer => {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    readonly DatabaseSync: new (path: string) => Writer;
  };
  const writer = new DatabaseSync(path);
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1), (2)');
  return writer;
};

const stamps = (): readonly string[] =>
  readdirSync(folder).map((name) => {
    const { size, mtimeMs, ino } = statSync(join(folder, name));
    return `${name} ${ino} ${size} ${mtimeMs}`;
  });

const query = { sql: 'SELECT n FROM t WHERE n > ? ORDER BY n', values: [0] };

// Node has SQLite from 22.13 on
describe.runIf(canReadDatabases())(
  'a database that another program is writing (skipped where Node has no SQLite)',
  () => {
    it('is read with all that was committed, and none of its files changes', async () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      const before = stamps();
      expect(await readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      expect(stamps()).toEqual(before);
      writer.exec('INSERT INTO t VALUES (3)');
      expect((await readRows(path, [query]))[0]).toHaveLength(3);
      writer.close();
    });

    it('is read when every program has closed it, and no file comes', async () => {
      const path = join(folder, 'some.db');
      openWriter(path).close();
      const before = stamps();
      expect(before).toHaveLength(1);
      expect(await readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      expect(stamps()).toEqual(before);
    });

    it('is read with its locks where it has no write-ahead log', async () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      writer.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
      await expect(readRows(path, [query])).rejects.toThrow(/locked/);
      writer.exec('COMMIT');
      expect((await readRows(path, [query]))[0]).toHaveLength(2);
      writer.close();
    });

    it('gives a row after the other, and is let go of where they are not all taken', async () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      writer.exec('CREATE TABLE long AS SELECT t.n, hex(zeroblob(100000)) AS text FROM t, t AS other');
      const long = { sql: 'SELECT n, text FROM long ORDER BY n', values: [] };
      for await (const rows of rowBatches(path, long)) {
        expect(rows.map(({ n }) => n)).toEqual([1, 1]);
        writer.exec('INSERT INTO t VALUES (3)'); // the program can write meanwhile
        break;
      }
      const found: unknown[] = [];
      for await (const rows of rowBatches(path, query)) found.push(...rows);
      expect(found).toHaveLength(3);
      writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      expect(statSync(`${path}-wal`).size).toBe(0); // no reader is left
      writer.close();
    });

    it('is read while a transaction is open, without what is not committed', async () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      writer.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (3)');
      expect((await readRows(path, [query]))[0]).toHaveLength(2);
      writer.exec('COMMIT');
      writer.close();
    });

    it('is read with an empty log and no index, as some programs leave it', async () => {
      const path = join(folder, 'some.db');
      openWriter(path).close();
      writeFileSync(`${path}-wal`, '');
      const before = stamps();
      expect(await readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      expect(stamps()).toEqual(before);
    });

    it('says what is missing where the log has no index, and does not wait for a pipe', async () => {
      const path = join(folder, 'some.db');
      openWriter(path).close();
      writeFileSync(`${path}-wal`, 'x');
      await expect(readRows(path, [query])).rejects.toThrow(/some\.db-shm is missing/);
      const pipe = join(folder, 'pipe.db');
      execFileSync('mkfifo', [pipe]);
      await expect(readRows(pipe, [query])).rejects.toThrow(/not a regular file/);
    });

    it('cannot be written', async () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      await expect(readRows(path, [{ sql: 'DELETE FROM t', values: [] }])).rejects.toThrow(/readonly/);
      writer.close();
    });

    it('is not made where there is none, and its files are gone when its program closes it after a read', async () => {
      const path = join(folder, 'some.db');
      await expect(readRows(path, [query])).rejects.toThrow(/ENOENT/);
      expect(readdirSync(folder)).toEqual([]);
      const writer = openWriter(path);
      await readRows(path, [query]);
      writer.close();
      expect(readdirSync(folder)).toEqual(['some.db']);
    });

    it.each([
      [
        'a view',
        'CREATE VIEW v AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r',
      ],
      ['a virtual table', 'CREATE VIRTUAL TABLE v USING fts5(n)'],
      ['a computed column', 'CREATE TABLE v (m, n AS (hex(zeroblob(m))))'],
    ])('is left out at once where a statement would read %s', async (_, sql) => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      writer.exec(sql);
      const reading = readRows(path, [{ sql: 'SELECT count(*) FROM t JOIN v ON v.n = t.n', values: [] }]);
      await expect(reading).rejects.toThrow(LimitError);
      await expect(reading).rejects.toThrow(/^"v(?:\.n)?" in it is .* without end$/);
      expect(await readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      writer.close();
    });

    it('is left out when it takes too long, and is not tried again; others are read meanwhile', async () => {
      const [slow, other] = [join(folder, 'slow.db'), join(folder, 'other.db')];
      const writers = [openWriter(slow), openWriter(other)];
      const sql =
        'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) AS n FROM r';
      const endless = readRows(slow, [{ sql, values: [] }], { seconds: 1, ticks: 0 });
      const beside = readRows(other, [query]);
      await expect(endless).rejects.toThrow(new LimitError('reading it takes more than 1 s'));
      expect(await beside).toEqual([[{ n: 1 }, { n: 2 }]]);
      await expect(readRows(slow, [query])).rejects.toThrow(LimitError);
      writers.forEach((writer) => writer.close());
    });

    it('is left out when many short reads together take too long', async () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      const timer = { seconds: 1, ticks: 0 };
      const sql =
        'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 300000) SELECT count(*) AS n FROM r';
      await readRows(path, [{ sql, values: [] }], timer);
      expect(timer.ticks).toBeGreaterThan(0);
      timer.ticks = 1;
      await expect(readRows(path, [query], timer)).rejects.toThrow(
        new LimitError('reading it takes more than 1 s'),
      );
      expect(await readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      writer.close();
    });

    it('is left out where its rows would fill the memory, one by one or together', async () => {
      const [large, many] = [join(folder, 'large.db'), join(folder, 'some.db')];
      const writers = [large, many].map(openWriter);
      for (const [path, sql] of [
        // Node 22 knows no limit for a value: the process that reads it ends
        [large, 'SELECT hex(zeroblob(400000000)) AS n'],
        [many, 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r'],
      ] as const) {
        const reading = readRows(path, [{ sql, values: [] }]);
        await expect(reading).rejects.toThrow(/too big|too long|more rows|ended with/);
        await expect(reading).rejects.toThrow(LimitError);
      }
      expect(await readRows(many, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      for (const writer of writers) writer.close();
    });
  },
);

describe.runIf(!canReadDatabases())('a Node without SQLite', () => {
  it('says which one has it', async () => {
    await expect(readRows(join(folder, 'some.db'), [query])).rejects.toThrow(/Node 22\.13/);
  });
});
