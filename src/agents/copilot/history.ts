import { getRecord, getText } from '../../core/json.js';
import { type HistoryFormat, type LineClass, SKIPPED, summaryOf } from '../history.js';
import { compactionIn } from './log.js';

// Compactions in a session file of GitHub Copilot CLI (docs/facts/copilot.md): `session.compaction_complete` with the summary that replaces the
// conversation.

const FACTS: LineClass = { facts: 'whole' };
const HEAD: LineClass = { details: 'whole' };
const COMPACTION: LineClass = { facts: 'whole', details: 'whole' };

const classify: HistoryFormat['classify'] = (line) => {
  if (line.has('agentId')) return SKIPPED; // a subagent's
  switch (line.get('type')) {
    case 'session.start':
      return HEAD;
    case 'session.usage_record':
    case 'session.truncation':
      return FACTS;
    case 'session.compaction_complete':
      return COMPACTION;
    case 'user.message':
    case 'assistant.message':
    case 'tool.execution_complete':
      return { message: line.get('id') ?? '' };
    default:
      return SKIPPED;
  }
};

const details: HistoryFormat['details'] = (record, at) => {
  const data = getRecord(record, 'data');
  if (record['type'] === 'session.start')
    return [
      {
        kind: 'session',
        id: getText(data, 'sessionId'),
        project: getText(getRecord(data, 'context'), 'cwd'),
        version: getText(data, 'copilotVersion'),
      },
    ];
  const boundary = compactionIn(record, at());
  if (!boundary) return [];
  return [
    {
      kind: 'compacted',
      at: boundary.at,
      isCertain: true,
      uuid: boundary.uuid,
      durationMs: boundary.durationMs,
      summary: summaryOf(getText(data, 'summaryContent') ?? ''),
    },
  ];
};

export const copilotHistory: HistoryFormat = {
  fields: { fields: ['type', 'id', 'agentId'] },
  classify,
  details,
  messages: 'appended',
};
