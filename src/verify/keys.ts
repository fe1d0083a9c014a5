import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord, parseRecord, getList, getText } from '../core/json.js';
import { splitElements, isTyped } from '../core/terminal-input.js';

// Which keys the agent received, and which of them the user did not press: from the wrapper's recording of all bytes.

export interface RecordedKeys {
  /** writes that the user did not make, in order */
  readonly ours: readonly string[];
  /** number of runs of the wrapper's keys; one for each command when nothing comes between its text and its Enter */
  readonly runs: number;
  /** what the user pressed and the agent did not receive */
  readonly lost: string;
}

/** The writes to the agent in a recording (asciicast v2 with input). */
export const writesIn = (cast: string): readonly string[] => eventsIn(cast, 'i');

/** The agent's output in a recording. */
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
    return undefined; // the last line of a recording may be cut off
  }
};

/** The writes that remain when the user's keys are removed in the order in which they were pressed. */
export const attributeKeys = (writes: readonly string[], pressed: string): RecordedKeys => {
  let left = pressed;
  let runs = 0;
  let wasOurs = false;
  const ours = writes.flatMap((write) => {
    const keys = splitElements(write)
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

// The keys that the wrapper's audit log lists.

/** The keystrokes of its attempts, in order; the log escapes control characters as JavaScript does. */
export const strokesIn = (audit: string): readonly string[] =>
  audit
    .split('\n')
    .map(parseRecord)
    .filter((line) => getText(line, 'initiator') === 'ctxwrap')
    .flatMap((line) => getList(line, 'strokes'))
    .map((stroke) => unescaped(getText(stroke, 'keys') ?? ''));

const unescaped = (keys: string): string => {
  const text: unknown = JSON.parse(`"${keys}"`);
  return typeof text === 'string' ? text : keys;
};

// The files of a ctxwrap session: its log, its recording of all bytes, and its audit log.

export interface SessionFiles {
  readonly log: () => string;
  /** asciicast v2, with input */
  readonly cast: () => string;
  readonly audit: () => string;
  /** the agent's activity as last seen by the wrapper */
  readonly activity: () => string | undefined;
}

const pathsIn = (folder: string) => ({
  log: join(folder, 'ctxwrap.log'),
  cast: join(folder, 'session.cast'),
});

/** Options with which ctxwrap writes these files to a folder. */
export const sessionFileOptions = (folder: string): readonly string[] => {
  const { log, cast } = pathsIn(folder);
  return ['--log', log, '--record', cast, '--record-input'];
};

export const sessionFilesIn = (folder: string, home: string): SessionFiles => {
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
