// The user's configuration on a bench.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bench } from '../launcher.js';

export const userFileOf = ({ folder }: Bench): string => join(folder, '.config/ctxwrap/config.jsonc');

/** For the user alone, so that it is read. */
export const writeConfig = (bench: Bench, text: string, path = userFileOf(bench)): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: 0o600 });
};
