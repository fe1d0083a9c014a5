// A database with the tables that opencode 1.18.33 makes, as far as ctxwrap reads them; only where Node has SQLite.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { linesOf } from './read-log.js';

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

/** The id of the session in the fixture `opencode/tools.jsonl`, and its first message that asks for a compaction. */
export const recordedId = 'ses_dec32da41ffeUpkGRMfCHAanrT';
export const recordedAskId = (): string =>
  linesOf('opencode', 'tools.jsonl')
    .map((line) => JSON.parse(line))
    .find(({ asks }) => asks === 1).id;

/** Opens a new one where opencode has it below this home folder. */
export const makeOpencodeDatabase = (home: string) => {
  mkdirSync(join(home, '.local/share/opencode'), { recursive: true });
  const path = join(home, '.local/share/opencode/opencode.db');
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite') as unknown as {
    readonly DatabaseSync: new (path: string) => Writer;
  };
  const writer = new DatabaseSync(path);
  writer.exec(TABLES);
  const insert = (table: string, ...values: readonly unknown[]): unknown =>
    writer.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join()})`).run(...values);
  return {
    path,
    run: (sql: string, ...values: readonly unknown[]): unknown => writer.prepare(sql).run(...values),
    session: (
      id: string,
      at: number,
      { parent = null as string | null, directory = '/proj/app' } = {},
    ): unknown => insert('session', id, parent, directory, '1.18.33', null, at),
    message: (id: string, of: string, at: number, data: object): unknown =>
      insert('message', id, of, at, at, JSON.stringify(data)),
    part: (id: string, of: string, at: number, data: object): unknown =>
      insert('part', id, of, 's', at, at, JSON.stringify(data)),
    /** the rows of the recorded session, with each message and part as `change` makes it */
    restore: (change: <Data>(data: Data) => Data = (data) => data): void => {
      const [head, ...messages] = linesOf('opencode', 'tools.jsonl').map((line) => JSON.parse(line));
      insert('session', head.id, null, head.cwd, head.version, null, head.at);
      for (const { id, at, data, parts } of messages) {
        insert('message', id, head.id, data.time.created, at, JSON.stringify(change(data)));
        for (const { id: partId, ...rest } of parts)
          insert('part', partId, id, head.id, at, at, JSON.stringify(change(rest)));
      }
    },
    close: (): void => writer.close(),
  };
};
