import { posix } from 'node:path';
import { UUID_FILE } from './files.js';
import { getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import {
  SKIPPED,
  summaryOf,
  type HistoryDetail,
  type HistoryFormat,
  type KeptMessages,
  type LineClass,
  type RecordChain,
} from '../history.js';
import { keptIdsIn } from './log.js';

// Compactions in a session file of Claude Code (facts/claude.md §7): a `compact_boundary`, and the summary in the next user record. Versions
// without boundaries mark the summary alone.

const BOUNDARY: LineClass = { facts: 'whole', details: 'whole' };
const TURN_ENDS: LineClass = { turn: 'ends' };

/** Attachments, snapshots and the records of subagents are no messages of the conversation. */
const classify: HistoryFormat['classify'] = (line) => {
  if (line.get('isSidechain') === 'true') return SKIPPED;
  const message = line.get('uuid') ?? '';
  switch (line.get('type')) {
    case 'assistant':
      return line.get('message.stop_reason') === 'end_turn'
        ? { message, facts: 'reduced', turn: 'ends' }
        : { message, facts: 'reduced' };
    case 'user':
      if (line.get('isCompactSummary') === 'true') return { message, details: 'whole' };
      return line.get('isMeta') === 'true' ? { message } : { message, turn: 'begins' };
    case 'system':
      if (line.get('subtype') === 'compact_boundary') return BOUNDARY;
      return line.get('subtype') === 'turn_duration' ? TURN_ENDS : SKIPPED;
    default:
      return SKIPPED;
  }
};

const details: HistoryFormat['details'] = (record, at) => {
  if (record['subtype'] === 'compact_boundary') return [compacted(record, at())];
  if (record['isCompactSummary'] !== true) return [];
  const said = textIn(getRecord(record, 'message'));
  return [
    { kind: 'summary', summary: summaryOf(withoutFrame(said)), at: at(), uuid: getText(record, 'uuid') },
  ];
};

const compacted = (record: JsonRecord, at: Millis): HistoryDetail => ({
  kind: 'compacted',
  at,
  isCertain: true,
  uuid: getText(record, 'uuid'),
  kept: keptIn(getRecord(record, 'compactMetadata')),
});

/** Versions before 2.1 keep nothing and say nothing of it. */
const keptIn = (metadata: JsonRecord | undefined): KeptMessages => {
  const keys = keptIdsIn(metadata);
  if (keys) return { keys };
  const segment = getRecord(metadata, 'preservedSegment');
  const [from, to] = [getText(segment, 'headUuid'), getText(segment, 'tailUuid')];
  return from === undefined || to === undefined ? { keys: [] } : { from, to };
};

// Each record names the one before (`parentUuid`). Versions 2.1.237 to 2.1.260 and the desktop app write records again after a compaction,
// and what a compaction keeps may be written for the first time after its boundary.
const chain: RecordChain = {
  link: (line) => {
    const id = line.get('uuid');
    if (id === undefined || line.get('isSidechain') === 'true') return undefined;
    const type = line.get('type');
    if (type === 'user') return { id, isSummary: line.get('isCompactSummary') === 'true' };
    const isBoundary = type === 'system' && line.get('subtype') === 'compact_boundary';
    return isBoundary ? { id, compaction: line.get('timestamp') } : { id };
  },
  parentId: (line) => {
    const id = line.get('parentUuid');
    return id === 'null' ? undefined : id;
  },
  keptIds: (record) => {
    const metadata = getRecord(record, 'compactMetadata');
    const segment = getRecord(metadata, 'preservedSegment');
    const last = [getText(segment, 'tailUuid'), getText(record, 'logicalParentUuid')];
    return [...(keptIdsIn(metadata) ?? []), ...last.filter((id) => id !== undefined)];
  },
  after: (record, parentUuid) => ({ ...record, parentUuid }),
};

const textIn = (message: JsonRecord | undefined): string =>
  getText(message, 'content') ??
  getList(message, 'content')
    .filter(isRecord)
    .map((block) => getText(block, 'text') ?? '')
    .join('\n');

// Claude's own sentences around the summary.
const BEFORE =
  /^This session is being continued from a previous conversation[\s\S]*?\n(?:Summary:\n|(?=Analysis:\n))/;
const AFTER =
  /\n\n?(?:If you need specific details from before compaction|(?:Please )?[Cc]ontinue the conversation from where)[\s\S]*$/;

const withoutFrame = (text: string): string => text.replace(BEFORE, '').replace(AFTER, '').trim();

const idInPath = (path: string): string | undefined => {
  const name = posix.basename(path);
  return UUID_FILE.test(name) ? name.slice(0, -'.jsonl'.length) : undefined;
};

export const claudeHistory: HistoryFormat = {
  fields: {
    fields: [
      'type',
      'subtype',
      'uuid',
      'parentUuid',
      'isSidechain',
      'isMeta',
      'isCompactSummary',
      'timestamp',
    ]
      .concat(['message.stop_reason'])
      .concat(['sessionId', 'cwd', 'version']),
    bulky: ['message.content', 'toolUseResult'],
  },
  session: (line) => ({
    id: line.get('sessionId'),
    project: line.get('cwd'),
    version: line.get('version'),
  }),
  idInPath,
  memoryOf: (path) => {
    const id = idInPath(path);
    return id && posix.join(posix.dirname(path), id, 'session-memory', 'summary.md');
  },
  classify,
  details,
  messages: 'appended',
  chain,
};
