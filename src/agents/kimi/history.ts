import { getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { SKIPPED, summaryOf, type HistoryFormat, type LineClass } from '../history.js';
import { idInPath, timeOfKimi } from './files.js';

// Compactions in a session file of Kimi Code (docs/facts/kimi.md): a `context.apply_compaction` record with the summary, between `full_compaction.begin` and
// `.complete`. The file names neither its session nor the folder: its path and `state.json` do.

const FACTS: LineClass = { facts: 'whole' };

const classify: HistoryFormat['classify'] = (line) => {
  switch (line.get('type')) {
    case 'context.append_message':
      return { message: '' };
    case 'turn.prompt':
      return { turn: 'begins' };
    case 'turn.ended':
      return { turn: 'ends' };
    case 'context.apply_compaction':
      return { facts: 'whole', details: 'whole' };
    case 'metadata':
    case 'usage.record':
    case 'token_counting.measured':
    case 'token_counting.truncated':
    case 'full_compaction.begin':
    case 'full_compaction.cancel':
    case 'context.clear':
      return FACTS;
    default:
      return SKIPPED;
  }
};

const details: HistoryFormat['details'] = (record, at) =>
  record['type'] === 'context.apply_compaction'
    ? [
        {
          kind: 'compacted',
          at: timeOfKimi(record, at()),
          isCertain: false, // the line reader decides
          summary: summaryOf(summaryText(record)),
        },
      ]
    : [];

/** The model's words; older records hold them in a message. */
export const summaryText = (record: JsonRecord): string =>
  getText(record, 'summary') ??
  getText(record, 'contextSummary') ??
  textsIn(getRecord(record, 'summary')).join('\n');

/** The texts of a message. */
export const textsIn = (message: JsonRecord | undefined): readonly string[] =>
  getList(message, 'content')
    .filter(isRecord)
    .map((part) => getText(part, 'text') ?? '');

export const kimiHistory: HistoryFormat = {
  fields: { fields: ['type', 'time'], bulky: ['message', 'event', 'input'] },
  classify,
  details,
  idInPath: (path) => idInPath(path) || undefined,
  messages: 'appended',
};
