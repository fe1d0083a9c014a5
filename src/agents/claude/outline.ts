import { posix } from 'node:path';
import { getRecord, getText } from '../../core/json.js';
import { uuidInPath } from '../files.js';
import { SKIPPED, type LineClass, type RecordChain, type SessionFormat } from '../session-format.js';
import { keptIdsIn } from './session.js';

// What a record of a Claude Code session file is, by the outline of its line, and how records name one another
// (docs/facts/claude.md#session-files).

const READ: LineClass = { read: 'whole', hasSteps: true };
const TURN_ENDS: LineClass = { turn: 'ends' };

/** Attachments, snapshots and the records of subagents are no messages of the conversation. */
const classify: SessionFormat['classify'] = (line) => {
  if (line.get('isSidechain') === 'true') return SKIPPED;
  const message = line.get('uuid') ?? '';
  switch (line.get('type')) {
    case 'assistant':
      return line.get('message.stop_reason') === 'end_turn'
        ? { message, read: 'reduced', turn: 'ends' }
        : { message, read: 'reduced' };
    case 'user':
      if (line.get('isCompactSummary') === 'true') return { message, ...READ };
      return line.get('isMeta') === 'true' ? { message } : { message, turn: 'begins' };
    case 'system':
      if (line.get('subtype') === 'compact_boundary') return READ;
      return line.get('subtype') === 'turn_duration' ? TURN_ENDS : SKIPPED;
    default:
      return SKIPPED;
  }
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

// Claude's own sentences around the summary.
const BEFORE =
  /^This session is being continued from a previous conversation[\s\S]*?\n(?:Summary:\n|(?=Analysis:\n))/;
const AFTER =
  /\n\n?(?:If you need specific details from before compaction|(?:Please )?[Cc]ontinue the conversation from where)[\s\S]*$/;

const withoutFrame = (text: string): string => text.replace(BEFORE, '').replace(AFTER, '').trim();

export const claudeSession: SessionFormat = {
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
  idInPath: uuidInPath,
  memoryOf: (path) => {
    const id = uuidInPath(path);
    return id && posix.join(posix.dirname(path), id, 'session-memory', 'summary.md');
  },
  classify,
  summaryWords: withoutFrame,
  messages: 'by-id',
  chain,
};
