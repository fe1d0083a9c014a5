import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** A recording of a real agent (asciicast v2, gzipped): what it wrote, all in one. */
export interface Cast {
  readonly name: string;
  readonly columns: number;
  readonly rows: number;
  readonly output: Uint8Array;
}

const folder = fileURLToPath(new URL('../fixtures/casts/', import.meta.url));

const read = (path: string, name: string): Cast => {
  const lines = gunzipSync(readFileSync(path)).toString('utf8').trim().split('\n');
  const { width, height } = JSON.parse(lines[0] ?? '') as { width: number; height: number };
  const events = lines.slice(1).map((line) => JSON.parse(line) as [number, string, string]);
  const output = events.filter(([, kind]) => kind === 'o').map(([, , text]) => text);
  return { name, columns: width, rows: height, output: Buffer.from(output.join('')) };
};

/** Every recording; an empty folder is an error. */
export const casts = (): readonly Cast[] => {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.cast.gz'))
    .sort()
    .map((name) => read(folder + name, name.replace('.cast.gz', '')));
  if (found.length === 0) throw new Error(`no recordings in ${folder}`);
  return found;
};
