import { posix } from 'node:path';
import { getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { SKIPPED, summaryOf, type HistoryFormat, type LineClass } from '../history.js';

// Compactions in a session file of Qwen Code (facts/qwen.md): a `chat_compression` record with the history that replaces the conversation.

const FACTS: LineClass = { facts: 'whole' };
const COMPRESSION: LineClass = { facts: 'whole', details: 'whole' };
const UUID_FILE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/;
const COMPRESSED = 1; // CompressionStatus.COMPRESSED; with any other nothing was replaced

const classify: HistoryFormat['classify'] = (line) => {
  if (line.get('isSidechain') === 'true') return SKIPPED;
  switch (line.get('type')) {
    case 'assistant':
      return { message: line.get('uuid') ?? '', facts: 'reduced' };
    case 'user':
    case 'tool_result':
      return { message: line.get('uuid') ?? '' };
    case 'system':
      if (line.get('subtype') === 'chat_compression') return COMPRESSION;
      return line.get('subtype') === 'rewind' ? FACTS : SKIPPED;
    default:
      return SKIPPED;
  }
};

const details: HistoryFormat['details'] = (record, at) => {
  const payload = getRecord(record, 'systemPayload');
  const info = getRecord(payload, 'info');
  if (record['subtype'] !== 'chat_compression' || info?.['compressionStatus'] !== COMPRESSED) return [];
  const [first] = getList(payload, 'compressedHistory').filter(isRecord);
  return [
    {
      kind: 'compacted',
      at: at(),
      isCertain: false, // the line reader decides
      uuid: getText(record, 'uuid'),
      summary: summaryOf(withoutFrame(textOf(first))),
    },
  ];
};

const textOf = (message: JsonRecord | undefined): string =>
  getList(message, 'parts')
    .map((part) => getText(part, 'text') ?? '')
    .join('\n');

const AFTER = /\n+Resume the prior task using the summary above[\s\S]*$/;
const TAGS = /^<state_snapshot>((?:(?!<state_snapshot>)[\s\S])*)<\/state_snapshot>$/;

const withoutFrame = (text: string): string => text.replace(AFTER, '').trim().replace(TAGS, '$1').trim();

export const qwenHistory: HistoryFormat = {
  fields: {
    fields: ['type', 'subtype', 'uuid', 'isSidechain', 'sessionId', 'cwd', 'version'],
    bulky: ['message', 'toolCallResult'],
  },
  session: (line) => ({
    id: line.get('sessionId'),
    project: line.get('cwd'),
    version: line.get('version'),
  }),
  idInPath: (path) => {
    const name = posix.basename(path);
    return UUID_FILE.test(name) ? name.slice(0, -'.jsonl'.length) : undefined;
  },
  classify,
  details,
  messages: 'appended',
};
