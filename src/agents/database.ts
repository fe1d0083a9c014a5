import type { Millis } from '../core/reading.js';
import type { AgentFolders } from './home.js';

// How an agent's sessions are read that are in an SQLite database. The statements are data; `FilePort.rows` and the follower run them.

/** A statement for an SQLite database, with its parameters. */
export interface RowQuery {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** At most so many; with this id, or with ids that begin so in any case of letters, where one is given. */
export interface WantedSessions {
  readonly most: number;
  readonly id?: string | undefined;
  readonly start?: string | undefined;
}

/** The rows of a session in an SQLite database, as the lines that the agent's `SessionReader` reads. */
export interface SessionDatabase {
  /** where the database is */
  readonly path: (where: AgentFolders) => string;
  /** the user's sessions, the last changed first: `id`, `at`, the time of the last change, and `bytes`, how much its contents take */
  readonly sessions: (wanted: WantedSessions) => RowQuery;
  /**
   * rows written since then (milliseconds since the epoch; 0 for all), the conversation's oldest first: `line` is a JSON text, `at` the time
   * of the last change. The same row comes again whenever it has changed
   */
  readonly changed: (sessionId: string, since: Millis) => RowQuery;
  /** the same rows from the beginning, with all messages in their `line`s */
  readonly whole: (sessionId: string) => RowQuery;
  /** one row: `rows`, how many the conversation has, and `older`, how many of them were made at this time or before */
  readonly counted: (sessionId: string, until: Millis) => RowQuery;
}
