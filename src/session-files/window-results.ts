import { buildConversation } from '../core/conversation/build-conversation.js';
import { windowOf, type Conversation, type Entry, type Step } from '../core/conversation/conversation.js';
import { isRecord, getText, type JsonRecord } from '../core/json.js';
import type { Millis, ToolResult } from '../core/reading.js';
import { toOneLine } from '../core/text.js';
import { withoutText } from './session-steps.js';

// The tool results in the window of a session file: those of its conversation, which is built without texts, and only as far back as the
// window reaches, so that files of any size can be read.

export interface WindowResults {
  readonly take: (steps: readonly Step[]) => void;
  /** in the order of the conversation; `now` is the time of records that have none */
  readonly list: (now: Millis) => readonly ToolResult[];
}

export const makeWindowResults = (): WindowResults => {
  let steps: Step[] = [];
  return {
    take: (taken) => {
      for (const step of taken) {
        // a compaction keeps nothing that was not in the window before it
        if (hasCompaction(step)) steps = [{ kind: 'rewritten', entries: windowOf(buildConversation(steps)) }];
        steps.push(bareStep(step));
      }
    },
    list: (now) => resultsIn(buildConversation(steps), now),
  };
};

const hasCompaction = (step: Step): boolean =>
  step.kind === 'record' && step.entries.some(({ kind }) => kind === 'compaction');

const bareStep = (step: Step): Step =>
  step.kind === 'record' || step.kind === 'rewritten'
    ? { ...step, entries: step.entries.map(bareEntry) }
    : step;

/** Of a call only what it is about is kept. */
const bareEntry = (entry: Entry): Entry => {
  const bare = withoutText(entry);
  return entry.kind === 'call' && bare.kind === 'call'
    ? { ...bare, name: shortLine(entry.name, LONGEST_NAME), input: labelOf(entry.input), files: [] }
    : bare;
};

const resultsIn = (conversation: Conversation, now: Millis): readonly ToolResult[] => {
  const isInWindow = new Set(windowOf(conversation));
  const calls = new Map<string, Pick<ToolResult, 'name' | 'label'>>();
  return conversation.entries.flatMap((entry): readonly ToolResult[] => {
    if (entry.kind === 'call') calls.set(entry.callId, { name: entry.name, label: String(entry.input) });
    if (entry.kind !== 'result' || !isInWindow.has(entry)) return [];
    const { callId, name = 'tool', tokens, source } = entry;
    const call = calls.get(callId) ?? { name: shortLine(name, LONGEST_NAME), label: '' };
    return [{ ...call, tokens, at: source.at ?? now }];
  });
};

// What a result is called: the tool and the most informative argument of its call, for all agents' tools; the first one present is used.

const LONGEST_NAME = 60;
const LONGEST_LABEL = 200;

const labelFields = [
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
  const name = labelFields.find((each) => ['string', 'object'].includes(typeof input[each]));
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
