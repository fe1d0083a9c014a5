// The animated picture of the README. Its timing differs a little in every run, so it is drawn from a recording that is kept, and the
// recording is compared with what the program shows now. `npm run docs:screens` replaces a recording that is out of date.
import { beforeAll, describe, expect, it } from 'vitest';
import { animatedSvgOf, svgOf } from './svg.js';
import type { PieceRow } from './cells.js';
import {
  framesOf,
  readRecording,
  recordTour,
  storyOf,
  tourPath,
  writeRecording,
  type Recording,
  type Story,
} from './tour-recording.js';

const title =
  'The demo: a simulated agent fills its window; the row below it goes from 6% through warn to auto at 85%, says "compacting in 5 s · Esc: not now", ctxwrap types /compact, the number falls to 7%, "✓ compacted 169k → 14k · forgot 1 of 2 rules", the recap opens, and Enter gives the rule back as a draft';

const recapTitle =
  'The recap of a compaction: of two rules "Never push to main." is forgotten and chosen, the other one is kept, as are the changed file and the command';

const STEADY_MS = 900; // a row that was there for so long is not missed on a slow machine either
const END_MS = 4_000; // for the three lines at the end

/** The program shows all of it. */
const isFresh = (kept: Story, live: Story): boolean =>
  kept.footers.every((row) => live.footers.includes(row)) &&
  JSON.stringify([kept.text, kept.overview]) === JSON.stringify([live.text, live.overview]);

const lastMs = ({ output }: Recording): number => output.at(-1)?.[0] ?? 0;

describe('the tour of the demo', () => {
  let live: Story;
  let kept: Recording;
  beforeAll(async () => {
    const recording = await recordTour();
    live = await storyOf(recording);
    const before = readRecording(tourPath);
    const mayReplace = process.env['RECORD_TOUR'] === '1';
    if (mayReplace && !(before && isFresh(await storyOf(before, STEADY_MS), live)))
      writeRecording(tourPath, recording);
    const found = readRecording(tourPath);
    if (!found) throw new Error('there is no recording: npm run docs:screens makes one');
    kept = found;
  });

  it('is what the recording shows: the rows below the agent, the overview, and what is left on the screen', async () => {
    const { footers, text, overview } = await storyOf(kept, STEADY_MS);
    expect(live.footers).toEqual(expect.arrayContaining([...footers]));
    expect(live.text).toEqual(text);
    expect(live.overview).toEqual(overview);
  });

  it('climbs through warn to auto, counts down, types, succeeds, says what was forgotten, gives it back, and ends in three lines', async () => {
    const told = [
      'safe',
      'warn',
      'auto waiting',
      'compacting in N s · Esc: not now',
      '✓ compacted 169k → 14k',
      'forgot 1 of 2 rules',
      'draft in the prompt, not',
    ];
    const places = told.map((words) => live.footers.findIndex((row) => row.includes(words)));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(live.overview.join('\n')).toMatch(/▶ \[x\] forgotten Never push to main\./);
    expect(live.text.join('\n')).toMatch(
      /> The summary of our conversation left this out:[^●]*Never push\s+to main/,
    );
    expect(live.text.slice(-4).map((row) => row.replaceAll(/\s{2,}.*/g, ''))).toEqual(['Next:', '', '', '$']);
    expect(live.text.join('\n')).toContain('ctxwrap init bash');
    expect(live.text.join('\n')).not.toContain('1 compaction');
  });

  it('has the recap of docs/screens/recap.svg', async () => {
    const rows = (await framesOf(kept))
      .map((frame) => frame.rows)
      .find((each) =>
        each.some((row) => textOf(row).includes('Never push to main.') && textOf(row).includes('forgotten')),
      );
    const end =
      rows?.findLastIndex((row, index) => index < rows.length - 1 && textOf(row).trim() !== '') ?? 0;
    const shown = [...(rows?.slice(0, end + 2) ?? []), rows?.at(-1) ?? []];
    const picture = { title: recapTitle, columns: kept.columns, rows: shown };
    await expect(svgOf(picture)).toMatchFileSnapshot('../../docs/screens/recap.svg');
  });

  it('is docs/screens/demo.svg, small enough for a page', async () => {
    const frames = await framesOf(kept);
    const shown = (await storyFrame(kept)) ?? 0;
    const picture = { title, columns: kept.columns, frames, lengthMs: lastMs(kept) + END_MS, stillMs: shown };
    const svg = animatedSvgOf(picture);
    expect(svg.length).toBeLessThan(300_000);
    await expect(svg).toMatchFileSnapshot('../../docs/screens/demo.svg');
  });
});

/** The time at which the success has just been told: the picture for readers who want no motion. */
const storyFrame = async (recording: Recording): Promise<number | undefined> => {
  const frames = await framesOf(recording);
  return frames.find(({ rows }) => textOf(rows.at(-1) ?? []).includes('forgot 1 of'))?.atMs;
};

const textOf = (row: PieceRow): string =>
  row.flatMap(({ characters }) => characters.map(({ text }) => text)).join('');
