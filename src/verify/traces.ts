// What a session of ctxwrap leaves behind: its log, its recording of every byte, and its audit log.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

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
