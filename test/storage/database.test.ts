import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canReadDatabases, eachRow, readRows } from '../../src/storage/database.js';

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
  canReadDatabases(); // loads it without its warning
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
    it('is read with all that was committed, and none of its files changes', () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      const before = stamps();
      expect(readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      expect(stamps()).toEqual(before);
      writer.exec('INSERT INTO t VALUES (3)');
      expect(readRows(path, [query])[0]).toHaveLength(3);
      writer.close();
    });

    it('is read when every program has closed it, and no file comes', () => {
      const path = join(folder, 'some.db');
      openWriter(path).close();
      const before = stamps();
      expect(before).toHaveLength(1);
      expect(readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      expect(stamps()).toEqual(before);
    });

    it('is read with its locks where it has no write-ahead log', () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      writer.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
      expect(() => readRows(path, [query])).toThrow(/locked/);
      writer.exec('COMMIT');
      expect(readRows(path, [query])[0]).toHaveLength(2);
      writer.close();
    });

    it('gives a row after the other, and is let go of where they are not all taken', () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      for (const row of eachRow(path, query)) {
        expect(row).toEqual({ n: 1 });
        writer.exec('INSERT INTO t VALUES (3)'); // the program can write meanwhile
        break;
      }
      expect([...eachRow(path, query)]).toHaveLength(3);
      writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      expect(statSync(`${path}-wal`).size).toBe(0); // no reader is left
      writer.close();
    });

    it('is read while a transaction is open, without what is not committed', () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      writer.exec('BEGIN IMMEDIATE; INSERT INTO t VALUES (3)');
      expect(readRows(path, [query])[0]).toHaveLength(2);
      writer.exec('COMMIT');
      writer.close();
    });

    it('is read with an empty log and no index, as some programs leave it', () => {
      const path = join(folder, 'some.db');
      openWriter(path).close();
      writeFileSync(`${path}-wal`, '');
      const before = stamps();
      expect(readRows(path, [query])).toEqual([[{ n: 1 }, { n: 2 }]]);
      expect(stamps()).toEqual(before);
    });

    it('says what is missing where the log has no index, and does not wait for a pipe', () => {
      const path = join(folder, 'some.db');
      openWriter(path).close();
      writeFileSync(`${path}-wal`, 'x');
      expect(() => readRows(path, [query])).toThrow(/some\.db-shm is missing/);
      const pipe = join(folder, 'pipe.db');
      execFileSync('mkfifo', [pipe]);
      expect(() => readRows(pipe, [query])).toThrow(/not a regular file/);
    });

    it('cannot be written', () => {
      const path = join(folder, 'some.db');
      const writer = openWriter(path);
      expect(() => readRows(path, [{ sql: 'DELETE FROM t', values: [] }])).toThrow(/readonly/);
      writer.close();
    });

    it('is not made where there is none, and its files are gone when its program closes it after a read', () => {
      const path = join(folder, 'some.db');
      expect(() => readRows(path, [query])).toThrow(/ENOENT/);
      expect(readdirSync(folder)).toEqual([]);
      const writer = openWriter(path);
      readRows(path, [query]);
      writer.close();
      expect(readdirSync(folder)).toEqual(['some.db']);
    });
  },
);

describe.runIf(!canReadDatabases())('a Node without SQLite', () => {
  it('says which one has it', () => {
    expect(() => readRows(join(folder, 'some.db'), [query])).toThrow(/Node 22\.13/);
  });
});
