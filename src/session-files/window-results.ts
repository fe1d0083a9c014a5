import type {
  Call,
  Compaction,
  Entry,
  Result,
  SourceRecord,
  Step,
} from '../core/conversation/conversation.js';
import { isRecord, getText, type JsonRecord } from '../core/json.js';
import type { ToolResult } from '../core/reading.js';
import { toOneLine } from '../core/text.js';

// The tool results in the window, as the steps of a session file leave it. Their texts are not kept, so that files of any size can be read.

export interface WindowResults {
  readonly take: (steps: readonly Step[]) => void;
  /** in the order of the conversation */
  readonly list: () => readonly ToolResult[];
}

/** A result, and the place of its record among those of the window. */
interface Held {
  readonly place: number;
  readonly recordId: string | undefined;
  readonly result: ToolResult;
}

type Label = Pick<ToolResult, 'name' | 'label'>;

/** Changed in place: a file has millions of records. */
interface Window {
  held: Held[];
  /** places of the records by their ids */
  readonly places: Map<string, number>;
  /** places where the user's turns begin */
  turns: number[];
  /** calls without a result so far */
  readonly calls: Map<string, Label>;
  next: number;
}

const MOST_CALLS = 64; // waiting at one time; more are left over from aborted turns
// Of one window; only a file whose compactions are not in it has more.
const MOST_RECORDS = 100_000;
const MOST_RESULTS = 20_000;

export const makeWindowResults = (): WindowResults => {
  const window: Window = { held: [], places: new Map(), turns: [], calls: new Map(), next: 0 };
  return {
    take: (steps) => {
      for (const step of steps) take(window, step);
    },
    list: () => window.held.map(({ result }) => result),
  };
};

const take = (window: Window, step: Step): void => {
  switch (step.kind) {
    case 'record':
      return takeRecord(window, step.source, step.entries);
    case 'rewritten':
      keep(window, () => false);
      for (const entry of step.entries) takeRecord(window, entry.source, [entry]);
      return;
    case 'rewound':
      return cutBack(window, window.places.get(step.toId) ?? 0);
    case 'rewound-turns':
      return cutBack(window, window.turns.at(-step.turns) ?? 0);
    default:
      return;
  }
};

const takeRecord = (window: Window, source: SourceRecord, entries: readonly Entry[]): void => {
  const { id } = source;
  const known = id === undefined ? undefined : window.places.get(id);
  // some agents write a record again when it has changed
  if (known !== undefined) window.held = window.held.filter(({ place }) => place !== known);
  const place = known ?? window.next;
  window.next = Math.max(window.next, place + 1);
  if (id !== undefined) limited(window.places, MOST_RECORDS).set(id, place);
  for (const entry of entries) takeEntry(window, entry, place);
};

const takeEntry = (window: Window, entry: Entry, place: number): void => {
  switch (entry.kind) {
    case 'prompt':
      if (window.turns.at(-1) !== place) window.turns.push(place);
      return;
    case 'call':
      return takeCall(window, entry);
    case 'result':
      window.held.push({ place, recordId: entry.source.id, result: resultOf(window, entry) });
      if (window.held.length > MOST_RESULTS) window.held.shift();
      return;
    case 'compaction':
      return keep(window, keptBy(window, entry));
    default:
      return;
  }
};

const takeCall = ({ calls }: Window, { callId, name, input }: Call): void => {
  calls.delete(callId); // so that it is the newest one
  limited(calls, MOST_CALLS).set(callId, { name: shortLine(name, LONGEST_NAME), label: labelOf(input) });
};

/** The map with room for one more: without its oldest entry where it is full. */
const limited = <T>(map: Map<string, T>, most: number): Map<string, T> => {
  const [oldest] = map.keys();
  if (map.size >= most && oldest !== undefined) map.delete(oldest);
  return map;
};

const resultOf = ({ calls }: Window, { callId, name = 'tool', tokens, source }: Result): ToolResult => {
  const label = calls.get(callId) ?? { name: shortLine(name, LONGEST_NAME), label: '' };
  calls.delete(callId);
  return { ...label, tokens, at: source.at ?? 0 };
};

const keptBy = ({ places }: Window, { keptIds, keptSpan }: Compaction): IsKept => {
  const ids = new Set(keptIds);
  const first = places.get(keptSpan?.firstId ?? '') ?? Infinity;
  const last = places.get(keptSpan?.lastId ?? '') ?? -Infinity;
  return ({ place, recordId }) =>
    ids.has(recordId ?? '') || (ids.size === 0 && place >= first && place <= last);
};

type IsKept = (record: Pick<Held, 'place' | 'recordId'>) => boolean;

const keep = (window: Window, isKept: IsKept): void => {
  window.held = window.held.filter(isKept);
  for (const [recordId, place] of window.places)
    if (!isKept({ place, recordId })) window.places.delete(recordId);
  window.turns = [];
  window.calls.clear();
};

const cutBack = (window: Window, from: number): void => {
  window.held = window.held.filter(({ place }) => place < from);
  window.turns = window.turns.filter((place) => place < from);
};

// What a result is called: the tool and the most informative argument of its call, for all agents' tools; the first one present is used.

const LONGEST_NAME = 60;
const LONGEST_LABEL = 200;

const telling = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'absolute_path',
  'notebook_path',
  'path',
  'dir_path',
]
  .concat(['pattern', 'query', 'url', 'prompt', 'description'])
  .concat(['input']);

const labelOf = (input: unknown): string => {
  if (typeof input === 'string') return shortLine(input, LONGEST_LABEL);
  if (!isRecord(input)) return '';
  const name = telling.find((each) => ['string', 'object'].includes(typeof input[each]));
  return name === undefined ? '' : shortLine(wordsOf(input, name), LONGEST_LABEL);
};

const wordsOf = (input: JsonRecord, name: string): string => {
  const value = input[name];
  return Array.isArray(value)
    ? value.filter((part) => typeof part === 'string').join(' ')
    : (getText(input, name) ?? '');
};

/** Conversations hold anything, of any length. */
const shortLine = (text: string, longest: number): string => toOneLine(text.slice(0, longest * 2), longest);
