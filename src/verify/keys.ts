import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, parseRecord, listAt, textAt } from '../core/json.js';
import { elementsIn, isTyped } from '../core/terminal-input.js';

// Which keys the agent got, and which of them no user pressed: from the wrapper's own recording of every byte that it wrote.

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
    const keys = elementsIn(write)
      .filter(isTyped)
      .map(({ text }) => text)
      .join('');
    if (keys === '') return [];
    const isUsers = left.startsWith(keys);
    if (isUsers) left = left.slice(keys.length);
    else if (!wasOurs) runs += 1;
    wasOurs = !isUsers;
    return isUsers ? [] : [keys];
  });
  return { ours, runs, lost: left };
};

// The keys that the wrapper's own audit log admits to.

/** The strokes of its attempts, in order; the log writes a control character as JavaScript does. */
export const strokesIn = (audit: string): readonly string[] =>
  audit
    .split('\n')
    .map(parseRecord)
    .filter((line) => textAt(line, 'initiator') === 'ctxwrap')
    .flatMap((line) => listAt(line, 'strokes'))
    .map((stroke) => unescaped(textAt(stroke, 'keys') ?? ''));

const unescaped = (keys: string): string => {
  const text: unknown = JSON.parse(`"${keys}"`);
  return typeof text === 'string' ? text : keys;
};

// What a session of ctxwrap leaves behind: its log, its recording of every byte, and its audit log.

export interface Traces {
  readonly log: () => string;
  /** asciicast v2, with input */
  readonly cast: () => string;
  readonly audit: () => string;
  /** of the agent, as the wrapper has last seen it */
  readonly activity: () => string | undefined;
}

const pathsIn = (folder: string) => ({
  log: join(folder, 'ctxwrap.log'),
  cast: join(folder, 'session.cast'),
});

/** With these options ctxwrap leaves its traces in a folder. */
export const tracingOptions = (folder: string): readonly string[] => {
  const { log, cast } = pathsIn(folder);
  return ['--log', log, '--record', cast, '--record-input'];
};

export const tracesIn = (folder: string, home: string): Traces => {
  const paths = pathsIn(folder);
  const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
  const log = (): string => read(paths.log);
  return {
    log,
    cast: () => read(paths.cast),
    audit: () => read(join(home, '.local/state/ctxwrap/audit.jsonl')),
    activity: () => [...log().matchAll(/ activity (\w+)/g)].at(-1)?.[1],
  };
};
