import { formatFill, formatTokens } from '../core/format.js';
import { getCount, getRecord, getText, type JsonRecord } from '../core/json.js';
import type { ReadEvent } from '../core/published-event.js';
import { toOneLine } from '../core/text.js';

// An event as a line for people: `14:03:07  4711-x2  tier warn → auto`.

const LONGEST = 300; // characters

export const eventText = (event: ReadEvent): string =>
  toOneLine(`${timeOf(event.at)} ${event.session} ${wordsOf(event)}`, LONGEST);

const timeOf = (at: number): string => {
  const time = new Date(at);
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
};

const wordsOf = ({ type, fields }: ReadEvent): string => {
  const text = (key: string): string => getText(fields, key) ?? 'unknown';
  switch (type) {
    case 'session-start':
      return `begins: ${stateWords(getRecord(fields, 'state'))}`;
    case 'state':
      return stateWords(getRecord(fields, 'state'));
    case 'reading':
      return readingWords(getRecord(fields, 'reading'));
    case 'tier':
      return `tier ${text('before')} → ${text('tier')}`;
    case 'activity':
      return `activity ${text('before')} → ${[text('activity'), getText(fields, 'asks')].filter(Boolean).join(': ')}`;
    case 'mode':
      return `mode ${text('before')} → ${text('mode')}`;
    case 'conversation':
      return `conversation ${text('agentSessionId')}`;
    case 'attempt':
      return 'compacting';
    case 'outcome':
      return getText(getRecord(fields, 'attempt'), 'words') ?? 'a compaction has ended';
    case 'refused':
      return `request refused: ${text('reason')}`;
    case 'dropped':
      return `${getCount(fields, 'count') ?? 'some'} events are lost`;
    case 'error':
      return text('message');
    case 'session-end':
      return endWords(getRecord(fields, 'exit'));
  }
};

const stateWords = (state: JsonRecord | undefined): string =>
  [
    getText(state, 'runtime'),
    getText(state, 'cwd'),
    readingWords(getRecord(state, 'reading')),
    getText(state, 'tier'),
    getText(state, 'activity'),
  ]
    .filter((part) => part !== undefined)
    .join(' ');

const readingWords = (reading: JsonRecord | undefined): string => {
  const [percent, used, window] = ['usedPercent', 'usedTokens', 'windowTokens'].map((key) =>
    getCount(reading, key),
  );
  const mark = getText(reading, 'source') === 'estimate' ? '~' : '';
  const fill = percent === undefined ? undefined : formatFill(percent, reading?.['over'] === true, mark);
  const tokens = used === undefined ? undefined : `${mark}${formatTokens(used)}`;
  const whole = tokens === undefined || window === undefined ? tokens : `${tokens}/${formatTokens(window)}`;
  return [fill, whole].filter((part) => part !== undefined).join(' ') || 'size unknown';
};

const endWords = (exit: JsonRecord | undefined): string => {
  if (!exit) return 'ended: ctxwrap was killed';
  return `ended: ${getText(exit, 'signal') ?? getCount(exit, 'code') ?? 'unknown'}`;
};
