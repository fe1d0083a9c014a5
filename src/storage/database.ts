import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';

// Reads SQLite databases that another program is writing, with the SQLite of Node (22.13 and newer; Node 20 has none). Nothing is written,
// also not the index of the write-ahead log (`readonly_shm`), and no lock outlasts a read, so the program can always write and exit.

/** A statement with its parameters. */
export interface RowQuery {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

export type Row = Readonly<Record<string, unknown>>;

interface Sqlite {
  readonly DatabaseSync: new (place: URL, options: { readonly readOnly: true }) => Database;
}

interface Database {
  readonly prepare: (sql: string) => {
    readonly all: (...values: readonly (string | number)[]) => readonly Row[];
    readonly iterate: (...values: readonly (string | number)[]) => Iterable<Row>;
  };
  readonly close: () => void;
}

let sqlite: Sqlite | undefined | 'unasked' = 'unasked';

/** Loaded late. Its warning that it is experimental would be written into the user's terminal. */
const loadSqlite = (): Sqlite | undefined => {
  if (sqlite !== 'unasked') return sqlite;
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    const found = process.getBuiltinModule?.('node:sqlite') as unknown;
    sqlite = found as Sqlite | undefined;
  } catch {
    sqlite = undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
  return sqlite;
};

/** Whether this Node can read databases. */
export const canReadDatabases = (): boolean => loadSqlite() !== undefined;

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
 * Every program has closed it: its log is gone or empty, and so is the index, which SQLite would make anew. Throws for a log without its
 * index, and the system's error.
 */
const isClosed = (path: string): boolean => {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (!log) return hasLogMode(path);
  if (existsSync(`${path}-shm`)) return false;
  if (log.size === 0) return true;
  throw new Error(`${basename(path)}-shm is missing; its program makes it again when you start that`);
};

const openToRead = (path: string): Database => {
  const found = loadSqlite();
  if (!found) throw new Error(`Node ${process.versions.node} has no SQLite; Node 22.13 and newer have`);
  // opening a pipe would wait for its writer
  if (!statSync(path).isFile()) throw new Error('not a regular file');
  const how = isClosed(path) ? 'immutable=1' : 'readonly_shm=1';
  const place = new URL(`${pathToFileURL(path).href}?mode=ro&${how}`);
  return new found.DatabaseSync(place, { readOnly: true });
};

/** The rows of each query, all at the same moment. Throws the database's error, as for one that is no database or has other tables. */
export const readRows = (path: string, queries: readonly RowQuery[]): readonly (readonly Row[])[] => {
  const database = openToRead(path);
  try {
    database.prepare('BEGIN').all();
    return queries.map(({ sql, values }) => database.prepare(sql).all(...values));
  } finally {
    database.close();
  }
};

/** The rows of one query, one after the other, all of the moment of the first. Throws as `readRows` does. */
export function* eachRow(path: string, { sql, values }: RowQuery): Generator<Row> {
  const database = openToRead(path);
  try {
    yield* database.prepare(sql).iterate(...values);
  } finally {
    database.close();
  }
}
