import { fileURLToPath } from 'node:url';

/** The built program, started as `node BIN …`. */
export const bin = fileURLToPath(new URL('../../bin/ctxwrap.js', import.meta.url));

export const programPath = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/programs/${name}`, import.meta.url));
