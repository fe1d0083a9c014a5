import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import { makeScreenLog } from '../../src/worker/screen-reader.js';
import { startScreenState, readScreen } from '../../src/worker/screen-reader.js';
import { settledScreens } from '../../src/replay/sources.js';
import { castPath } from '../support/screen-play.js';

/** The log lines at each read of a recording's screens, and whether something had changed. */
const looksOf = async (cast: string) => {
  const { header, events } = await openRecordingFile(castPath(cast));
  const lines: string[] = [];
  const tell = makeScreenLog((line) => lines.push(line));
  const read = agents.claude.screen?.reader({});
  if (!read) throw new Error('claude has no screen');
  let watch = startScreenState(read);
  const looks = [];
  let before = '';
  for await (const moment of settledScreens(header, events())) {
    if (moment.type !== 'screen') continue;
    const report = readScreen(watch, moment.seen, moment.at);
    ({ state: watch } = report);
    tell(moment.seen, report);
    const percents = report.events.map((event) => event.type === 'reading' && event.reading.usedPercent);
    const news = JSON.stringify([report.activity, percents.filter((each) => each !== false)]);
    looks.push({ isNews: news !== before, seen: moment.seen, lines: lines.splice(0) });
    before = news;
  }
  return looks;
};

describe('the text of the screens', () => {
  it('is logged when a number or the activity changes, and not at each read', async () => {
    const looks = await looksOf('claude/climb-s46-120');
    expect(looks.filter(({ lines }) => lines.length > 0).length).toBeGreaterThan(5);
    const drawn = looks.slice(1); // the first screen is blank
    expect(drawn.filter(({ lines, isNews }) => lines.length > 0 !== isNews)).toEqual([]);
    expect(looks.some(({ isNews }) => !isNews)).toBe(true);
  });

  it('is the title and each row with something in it, the one of the cursor marked', async () => {
    const looks = (await looksOf('claude/climb-s46-120')).filter(({ isNews }) => isNews);
    const last = looks.at(-1);
    if (!last) throw new Error('nothing was told');
    const { lines } = last;
    const { screen, signals } = last.seen;
    expect(lines[0]).toBe(`title ${signals.title}`);
    expect(lines.filter((line) => line.startsWith(`row ${screen.cursorRow} > `))).toHaveLength(1);
    const rows = Array.from({ length: screen.rows }, (_, row) => screen.text(row)).filter((text) =>
      text.trim(),
    );
    expect(lines.slice(1).map((line) => line.replace(/^row \d+ [>|] /, ''))).toEqual(rows);
  });
});
