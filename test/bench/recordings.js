import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const folder = join(import.meta.dirname, '../fixtures/casts');

/** What real agents wrote, one recording after the other. */
export const readRecordings = () => {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.cast.gz'));
  const texts = names.toSorted().map((name) => {
    const lines = gunzipSync(readFileSync(join(folder, name)))
      .toString('utf8')
      .trim()
      .split('\n')
      .slice(1);
    const events = lines.map((line) => JSON.parse(line)).filter(([, kind]) => kind === 'o');
    return events.map(([, , text]) => text).join('');
  });
  return Buffer.from(texts.join(''));
};
