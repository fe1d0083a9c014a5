import { posix } from 'node:path';
import { getCount, getText, type JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import type { ChildPlace, FilePort, Located } from '../agent.js';
import type { AgentFolders } from '../home.js';
import type { RowQuery, SessionDatabase, WantedSessions } from '../database.js';
import { inThisView, sentBetween } from '../files.js';

// Where opencode keeps its sessions (docs/facts/opencode.md): all in one SQLite database, with the tables `session`, `message` and `part`.
// Nothing in it names the process, so this terminal's session is the one with the user's message.

export const opencodeFolder = ({ env, home }: AgentFolders): string =>
  posix.join(env['XDG_DATA_HOME'] || posix.join(home, '.local', 'share'), 'opencode');

const DATABASE = 'opencode.db';

const databaseIn = (place: AgentFolders): string =>
  posix.resolve(opencodeFolder(place), place.env['OPENCODE_DB'] || DATABASE);

const CLOCK_LAG_MS = 100;

/**
 * The only session in which a message of the user appeared when Enter was pressed here; of several the only one of this folder. Undefined
 * before the first message, and where this Node has no SQLite.
 */
export const locateOpencode = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const between = sentBetween(inThisView(place));
  if (!between) return undefined;
  const path = databaseIn(place);
  const found = (await port.rows(path, messagesBetween(between))) ?? [];
  const here = found.filter((row) => getText(row, 'directory') === place.cwd);
  const [one, ...others] = found.length > 1 ? here : found;
  const sessionId = getText(one, 'id');
  if (sessionId === undefined || others.length > 0) return undefined;
  return { sessionId, path, certain: false, writtenAt: getCount(one, 'sent') ?? between[0] };
};

/** Sessions of the user's, not those of subagents, with the time of their first message after these Enters. */
const messagesBetween = ([from, to]: readonly [Millis, Millis]): RowQuery => ({
  sql: `
    SELECT s.id AS id, s.directory AS directory, min(m.time_created) AS sent
    FROM session s JOIN message m ON m.session_id = s.id
    WHERE s.parent_id IS NULL AND s.time_updated >= ?
      AND m.time_created BETWEEN ? AND ? AND json_extract(${readable('m.data')}, '$.role') = 'user'
    GROUP BY s.id`,
  values: [from - CLOCK_LAG_MS, from - CLOCK_LAG_MS, to],
});

// A row that is no JSON, as of a damaged database, counts as one that says nothing: the others are read all the same.
const readable = (column: string): string => `CASE WHEN json_valid(${column}) THEN ${column} ELSE '{}' END`;
const PART = `(SELECT id, message_id, ${readable('data')} AS data FROM part)`;

/** The parts of a message, each with its id: texts, tools with their results. Without `json` the SQLite of Node 24 takes them as a text. */
const PARTS = `
             'parts', json((SELECT json_group_array(json_insert(p.data, '$.id', p.id) ORDER BY p.id)
                            FROM ${PART} p WHERE p.message_id = m.id))`;

/**
 * The session itself, then its messages. A message that asks for a summary has `asks`; the summary comes with its text, the number of its
 * characters, whether opencode asked for it by itself, and the first message that stays in the window, if any.
 */
const linesOf = (sessionId: string, since: Millis, more: readonly string[] = []): RowQuery => ({
  sql: `
    SELECT json_object('type', 'session', 'id', id, 'version', version, 'cwd', directory, 'at', time_updated,
                       'isReverted', revert IS NOT NULL, 'cutFrom', json_extract(${readable('revert')}, '$.messageID'),
                       'cutFromPart', json_extract(${readable('revert')}, '$.partID')) AS line,
           time_updated AS at, 0 AS place, id AS key
    FROM session WHERE id = ?1 AND time_updated >= ?2
    UNION ALL
    SELECT json_object('type', 'message', 'id', m.id, 'at', m.time_updated, 'data', json(m.data),
             'asks', CASE WHEN json_extract(m.data, '$.role') = 'user' AND EXISTS (
               SELECT 1 FROM ${PART} p
               WHERE p.message_id = m.id AND json_extract(p.data, '$.type') = 'compaction') THEN 1 END,
             'isSummary', json_extract(m.data, '$.summary') = 1,
             'characters', CASE WHEN json_extract(m.data, '$.summary') = 1 THEN (
               SELECT total(length(json_extract(p.data, '$.text'))) FROM ${PART} p
               WHERE p.message_id = m.id AND json_extract(p.data, '$.type') = 'text') END,
             'text', CASE WHEN json_extract(m.data, '$.summary') = 1 THEN (
               SELECT group_concat(text, char(10)) FROM (
                 SELECT json_extract(p.data, '$.text') AS text FROM ${PART} p
                 WHERE p.message_id = m.id AND json_extract(p.data, '$.type') = 'text' ORDER BY p.id)) END,
             'isAuto', CASE WHEN json_extract(m.data, '$.summary') = 1 THEN (
               SELECT max(json_extract(p.data, '$.auto')) FROM ${PART} p
               WHERE p.message_id = json_extract(m.data, '$.parentID')
                 AND json_extract(p.data, '$.type') = 'compaction') END,
             'keptFrom', CASE WHEN json_extract(m.data, '$.summary') = 1 THEN (
               SELECT max(json_extract(p.data, '$.tail_start_id')) FROM ${PART} p
               WHERE p.message_id = json_extract(m.data, '$.parentID')
                 AND json_extract(p.data, '$.type') = 'compaction') END${more.map((each) => `,${each}`).join('')}) AS line,
           m.time_updated AS at, m.time_created AS place, m.id AS key
    FROM (SELECT id, time_created, time_updated, ${readable('data')} AS data
          FROM message WHERE session_id = ?1 AND time_updated >= ?2) m
    ORDER BY place, key`,
  values: [sessionId, since],
});

const counted = (sessionId: string, until: Millis): RowQuery => ({
  sql: 'SELECT count(*) AS rows, total(min(time_created, time_updated) <= ?2) AS older FROM message WHERE session_id = ?1',
  values: [sessionId, until],
});

const sessions = ({ most, id, start }: WantedSessions): RowQuery => ({
  sql: `
    SELECT s.id AS id, s.at AS at,
           (SELECT total(octet_length(data)) FROM part WHERE session_id = s.id) AS bytes
    FROM (SELECT id, time_updated AS at FROM session
          WHERE parent_id IS NULL${id === undefined ? '' : ' AND id = ?'}${start === undefined ? '' : ' AND instr(lower(id), lower(?)) = 1'}
          ORDER BY time_updated DESC LIMIT ?) s`,
  values: [...[id, start].filter((each) => each !== undefined), most],
});

export const opencodeDatabase: SessionDatabase = {
  path: databaseIn,
  sessions,
  changed: linesOf,
  whole: (sessionId) => linesOf(sessionId, 0, [PARTS]),
  counted,
};

/** A line that `opencodeDatabase` gives. */
export const isOpencodeLine = ({ type, id, at }: JsonRecord): boolean =>
  (type === 'session' || type === 'message') && typeof id === 'string' && typeof at === 'number';
