// What reading one screen costs, per agent: every screen of its recordings, played as they are and into a screen of 200 × 60.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importBundle, root } from './bundle.js';
import { percentile } from './numbers.js';

const casts = join(root, 'test/fixtures/casts');

// The readers are inside the bundle of the program; a bundle of their own lets them be called alone.
const SOURCE = `
export { agents } from './src/agents/index.js';
export { openRecordingFile } from './src/storage/recording-reader.js';
export { settledScreens } from './src/replay/sources.js';
`;

const load = (folder) => importBundle(folder, 'scan', SOURCE);

/** Milliseconds of each look at a screen. */
const timesOf = async ({ openRecordingFile, settledScreens }, { file, screen, size }) => {
  const { header, events } = await openRecordingFile(file);
  let read = screen.reader({});
  const times = [];
  for await (const { type, seen, at } of settledScreens({ ...header, ...size }, events())) {
    if (type !== 'screen') continue;
    const before = performance.now();
    read = read(seen, at).next;
    times.push(performance.now() - before);
  }
  return times;
};

export const measureScan = async (folder) => {
  const parts = await load(folder);
  const results = [];
  for (const { name, screen } of Object.values(parts.agents)) {
    if (!screen || !existsSync(join(casts, name))) continue; // the demo's agent has no recordings
    const files = readdirSync(join(casts, name)).map((file) => join(casts, name, file));
    for (const size of [{}, { columns: 200, rows: 60 }]) {
      const times = [];
      for (const file of files) times.push(...(await timesOf(parts, { file, screen, size })));
      results.push({ name, large: size.rows !== undefined, looks: times.length, times });
    }
  }
  return results.map(({ times, ...rest }) => ({
    ...rest,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    most: Math.max(...times),
  }));
};
