// What children write where output is measured, as files.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const casts = join(import.meta.dirname, '../fixtures/casts');

const plainLines = () => {
  const words = 'the quick brown fox jumps over the lazy dog while nobody looks and runs away again';
  const line = (number) => `${number} ${words.slice(number % 40)} ${words}\n`.slice(0, 78);
  return Array.from({ length: 1000 }, (_, number) => `${line(number).trimEnd()}\n`).join('');
};

/** What a text interface draws: whole frames of rows in colours, each row erased to its end. */
const frames = () => {
  const row = (frame, at) =>
    `\x1b[3${(frame + at) % 8}m● row ${at} of frame ${frame}\x1b[0m \x1b[2m${'─'.repeat(30)}\x1b[22m\x1b[K`;
  const frame = (number) =>
    `\x1b[?2026h\x1b[?25l\x1b[H${Array.from({ length: 22 }, (_, at) => row(number, at)).join('\r\n')}\x1b[22;3H\x1b[?25h\x1b[?2026l`;
  return Array.from({ length: 100 }, (_, number) => frame(number)).join('');
};

/** What real agents wrote, one recording after the other. */
const recordings = () => {
  const names = readdirSync(casts, { recursive: true }).filter((name) => name.endsWith('.cast.gz'));
  const texts = names.toSorted().map((name) => {
    const lines = gunzipSync(readFileSync(join(casts, name)))
      .toString('utf8')
      .trim()
      .split('\n')
      .slice(1);
    const events = lines.map((line) => JSON.parse(line)).filter(([, kind]) => kind === 'o');
    return events.map(([, , text]) => text).join('');
  });
  return texts.join('');
};

const contents = { plainLines, frames, recordings };

/** Writes a file of exactly so many bytes, the content again and again: `{ file, bytes }`. */
export const writeStream = (folder, content, bytes) => {
  const file = join(folder, `${content}-${bytes}`);
  const block = Buffer.from(contents[content]());
  writeFileSync(file, Buffer.alloc(bytes, block));
  return { file, bytes };
};
