// Which keys the agent got, and which of them no user pressed: from the wrapper's own recording of every byte that it wrote.
import { isRecord, parseRecord } from '../core/json.js';

/** What a terminal says by itself: answers to questions, focus. */
const ANSWERS = /\x1b\[[?>=]?[\d;:]*\$?[cnRty]|\x1b\[\?\d+u|\x1b\[[IO]|\x1b[P\]][^\x07\x1b]*(?:\x07|\x1b\\)/g;

export interface RecordedKeys {
  /** writes that no user made, in order */
  readonly ours: readonly string[];
  /** how often the user's keys gave way to ours: once for each command when nothing comes between its text and its Enter */
  readonly runs: number;
  /** what the user pressed and the agent never got */
  readonly lost: string;
}

/** The writes to the agent in a recording (asciicast v2 with input). */
export const writesIn = (cast: string): readonly string[] => eventsIn(cast, 'i');

/** What the agent wrote in a recording. */
export const outputIn = (cast: string): string => eventsIn(cast, 'o').join('');

const eventsIn = (cast: string, kind: 'i' | 'o'): readonly string[] =>
  cast.split('\n').flatMap((line) => {
    if (line.startsWith('{') && isRecord(parseRecord(line))) return [];
    const event = parseEvent(line);
    return event?.kind === kind ? [event.data] : [];
  });

const parseEvent = (line: string): { readonly kind: string; readonly data: string } | undefined => {
  try {
    const event: unknown = JSON.parse(line);
    if (!Array.isArray(event)) return undefined;
    const [, kind, data] = event as readonly unknown[];
    return typeof kind === 'string' && typeof data === 'string' ? { kind, data } : undefined;
  } catch {
    return undefined; // the last line of a recording that was cut off
  }
};

/** What is left of the writes when the user's keys are taken out in the order in which they were pressed. */
export const sortKeys = (writes: readonly string[], pressed: string): RecordedKeys => {
  let left = pressed;
  let runs = 0;
  let wasOurs = false;
  const ours = writes.flatMap((write) => {
    const keys = write.replaceAll(ANSWERS, '');
    if (keys === '') return [];
    const isUsers = left.startsWith(keys);
    if (isUsers) left = left.slice(keys.length);
    else if (!wasOurs) runs += 1;
    wasOurs = !isUsers;
    return isUsers ? [] : [keys];
  });
  return { ours, runs, lost: left };
};
