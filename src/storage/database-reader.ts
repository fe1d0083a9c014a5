import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DatabaseAnswer, DatabaseQuestion, Row, RowQuery } from './database.js';

// The process in which databases are read, one question after the other: a statement cannot be interrupted from within, so database.ts
// kills this process when one takes too long. It reads with the SQLite of Node (22.13 and newer), writes nothing, also not the index of the
// write-ahead log (`readonly_shm`), and no lock outlasts a read, so the program that writes the database can always write and exit.

interface Sqlite {
  readonly DatabaseSync: new (
    place: URL,
    options: { readonly readOnly: true; readonly limits: { readonly length: number } },
  ) => Database;
}

interface Statement {
  readonly all: (...values: readonly (string | number)[]) => readonly Row[];
  readonly iterate: (...values: readonly (string | number)[]) => Iterator<Row>;
}

interface Database {
  readonly prepare: (sql: string) => Statement;
  readonly close: () => void;
}

/** Something in the database is more than is read of one. */
const overLimit = (message: string): Error => Object.assign(new Error(message), { isLimit: true });

const MODE_AT = 18; // byte 18 of the header: 2 for a database with a write-ahead log (SQLite's file format, 1.3.3)

const hasLogMode = (path: string): boolean => {
  const file = openSync(path, 'r');
  try {
    const mode = Buffer.alloc(1);
    readSync(file, mode, 0, 1, MODE_AT);
    return mode[0] === 2;
  } finally {
    closeSync(file);
  }
};

/**
 * Every program has closed it: its log is gone or empty, and so is the index, which SQLite would create again. Throws for a log without its
 * index, and the system's error.
 */
const isClosed = (path: string): boolean => {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (!log) return hasLogMode(path);
  if (existsSync(`${path}-shm`)) return false;
  if (log.size === 0) return true;
  throw new Error(`${basename(path)}-shm is missing; its program creates it again when you start it`);
};

const LONGEST_VALUE = 256 * 1024 * 1024; // bytes; versions of Node that do not know this option have 1 GB

/** All statements see the moment of the first one. */
const openToRead = (path: string): Database => {
  // opening a pipe would wait for its writer
  if (!statSync(path).isFile()) throw new Error('not a regular file');
  const how = isClosed(path) ? 'immutable=1' : 'readonly_shm=1';
  const place = new URL(`${pathToFileURL(path).href}?mode=ro&${how}`);
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as Sqlite;
  const database = new DatabaseSync(place, { readOnly: true, limits: { length: LONGEST_VALUE } });
  database.prepare('PRAGMA trusted_schema = OFF').all();
  return database;
};

const NAMED = /\b(?:from|join)\s+([a-z_]\w*)/gi;
const COMPUTED = [2, 3]; // `hidden` of a generated column (PRAGMA table_xinfo)

/**
 * What a statement reads must be tables with values of their own: a view, a virtual table or a generated column can compute without end, or
 * give more than the memory holds.
 */
const checkTables = (database: Database, { sql }: RowQuery): void => {
  const names = new Set([...sql.matchAll(NAMED)].map(([, name = '']) => name.toLowerCase()));
  for (const { name, type } of database.prepare('PRAGMA table_list').all())
    if (names.has(String(name).toLowerCase()) && type !== 'table')
      throw overLimit(`"${String(name)}" in it is a ${String(type)}, not a table, and could run without end`);
  for (const name of names)
    for (const { name: column, hidden } of database.prepare(`PRAGMA table_xinfo(${name})`).all())
      if (COMPUTED.includes(Number(hidden)))
        throw overLimit(`"${name}.${String(column)}" in it is computed, and could run without end`);
};

const bytesOf = (row: Row): number =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

/** The next row. Node gives none, and no error, where a value is longer than a string may be. */
const step = (rows: Iterator<Row>): IteratorResult<Row> => {
  const next = rows.next() as IteratorResult<Row> | undefined;
  if (!next) throw overLimit('a value in it is too long');
  return next;
};

const MOST_BYTES = 256 * 1024 * 1024; // of the rows of one answer
const MOST_ROWS = 1_000_000;
const BATCH_BYTES = 256 * 1024; // as much as a file gives at once

/** All rows of each query, all at the same moment. */
const readAll = (path: string, queries: readonly RowQuery[]): readonly (readonly Row[])[] => {
  const database = openToRead(path);
  try {
    database.prepare('BEGIN').all();
    let bytes = 0;
    return queries.map((query) => {
      checkTables(database, query);
      const rows: Row[] = [];
      const found = database.prepare(query.sql).iterate(...query.values);
      for (let next = step(found); next.done !== true; next = step(found)) {
        bytes += bytesOf(next.value);
        if (bytes > MOST_BYTES || rows.length >= MOST_ROWS)
          throw overLimit('it holds more rows than are read at once');
        rows.push(next.value);
      }
      return rows;
    });
  } finally {
    database.close();
  }
};

interface OpenRows {
  readonly rows: Iterator<Row>;
  readonly close: () => void;
}

const open = new Map<number, OpenRows>();

const begin = (id: number, path: string, query: RowQuery): void => {
  const database = openToRead(path);
  try {
    database.prepare('BEGIN').all();
    checkTables(database, query);
    open.set(id, {
      rows: database.prepare(query.sql).iterate(...query.values),
      close: () => database.close(),
    });
  } catch (error) {
    database.close();
    throw error;
  }
};

const end = (id: number): void => {
  open.get(id)?.close();
  open.delete(id);
};

/** Some of the next rows; the last ones are known as such by one that is not there. */
const nextRows = (id: number): { readonly rows: readonly Row[]; readonly isLast: boolean } => {
  const found = open.get(id);
  if (!found) throw new Error('reading it was stopped');
  const rows: Row[] = [];
  for (let bytes = 0; bytes < BATCH_BYTES;) {
    const next = step(found.rows);
    if (next.done === true) {
      end(id);
      return { rows, isLast: true };
    }
    rows.push(next.value);
    bytes += bytesOf(next.value);
  }
  return { rows, isLast: false };
};

const TOO_BIG = 18; // SQLITE_TOOBIG: a text or blob is longer than LONGEST_VALUE

const answer = (asked: DatabaseQuestion): DatabaseAnswer => {
  const cpuMs = (): number => process.cpuUsage().user / 1000;
  try {
    if (asked.kind === 'all')
      return { kind: 'all', results: readAll(asked.path, asked.queries), cpuMs: cpuMs() };
    if (asked.kind === 'end') end(asked.id);
    else if (asked.kind === 'begin') begin(asked.id, asked.path, asked.query);
    const rows = asked.kind === 'end' ? { rows: [], isLast: true } : nextRows(asked.id);
    return { kind: 'rows', ...rows, cpuMs: cpuMs() };
  } catch (error) {
    if (asked.kind !== 'all') end(asked.id);
    const { message, isLimit, errcode } = error as Error & Partial<Record<'isLimit' | 'errcode', unknown>>;
    return { kind: 'failed', message, isLimit: isLimit === true || errcode === TOO_BIG, cpuMs: cpuMs() };
  }
};

process.on('message', (asked: DatabaseQuestion) => process.send?.(answer(asked)));
