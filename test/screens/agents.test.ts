// The pictures of real agents, drawn from recordings of the lab: `npm run lab -- claude --scenario "picture of the recap"` leaves one as
// `terminal.cast`. What the model says in them is made up, and so is the summary.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { PieceRow } from './cells.js';
import { animatedSvgOf, svgOf, type Frame } from './svg.js';
import { framesOf, readRecording, type Recording } from './tour-recording.js';

const recordingOf = (name: string): Recording => {
  const found = readRecording(fileURLToPath(new URL(`../fixtures/screens/${name}.cast.gz`, import.meta.url)));
  if (!found) throw new Error(`there is no recording of ${name}`);
  return found;
};

const textOf = (row: PieceRow | undefined): string =>
  (row ?? []).flatMap(({ characters }) => characters.map(({ text }) => text)).join('');
const footerOf = ({ rows }: Frame): string => textOf(rows.at(-1));
const whenFooter = (frames: readonly Frame[], pattern: RegExp): number =>
  frames.find((frame) => pattern.test(footerOf(frame)))?.atMs ?? Number.NaN;

const CALM_MS = 800; // Claude's turning signs change faster than a reader needs

/** Those from `from` to `to` that last, as if the first one were at 0. */
const calmed = (frames: readonly Frame[], from: number, to: number): readonly Frame[] => {
  const kept: Frame[] = [];
  for (const { atMs, rows } of frames.toReversed()) {
    const next = kept.at(-1)?.atMs ?? Infinity;
    if (atMs >= from && atMs <= to && next - (atMs - from) >= CALM_MS) kept.push({ atMs: atMs - from, rows });
  }
  return kept.toReversed().map((frame, index) => (index === 0 ? { ...frame, atMs: 0 } : frame));
};

const backgrounds = ['light', 'dark'] as const;
const LAST_LOOK_MS = 3_000;

const recapTitle =
  'Claude Code under ctxwrap: at 82% of 200k it counts down, types /compact, and says "✓ compacted 164k → 44k · forgot 1 of 2 rules"; the recap opens over Claude, has "Never push to main." as forgotten, and Enter gives it back with the next message';
const codexTitle =
  'Codex under ctxwrap: below it the footer, 67%, 68k of 95k, auto, compacting in 8 s · Esc: not now';

describe('a picture of a real agent', () => {
  it.each(backgrounds)(
    'is docs/screens/claude-%s.svg, from the countdown to the recap',
    async (background) => {
      const recording = recordingOf(`claude-${background}`);
      const all = await framesOf(recording);
      const from = whenFooter(all, /compacting in 8 s/);
      const forgot = whenFooter(all, /forgot 1 of 2 rules/) - from + CALM_MS;
      const given = whenFooter(all, /1 line given back/) - from;
      const isOfChord = (frame: Frame): boolean => /c compact +b recap/.test(footerOf(frame)); // between its keys
      const frames = calmed(
        all.filter((frame) => !isOfChord(frame)),
        from,
        from + given,
      );
      const shown = frames.flatMap(({ rows }) => rows.map(textOf));
      expect(shown.some((row) => /\[x\] +forgotten +Never push to main/.test(row))).toBe(true);
      const times = { lengthMs: given + LAST_LOOK_MS, stillMs: forgot };
      const svg = animatedSvgOf({
        title: recapTitle,
        columns: recording.columns,
        background,
        frames,
        ...times,
      });
      expect(svg.length).toBeLessThan(60_000);
      await expect(svg).toMatchFileSnapshot(`../../docs/screens/claude-${background}.svg`);
    },
  );

  it.each(backgrounds)('is docs/screens/codex-%s.svg, in its countdown', async (background) => {
    const recording = recordingOf(`codex-${background}`);
    const frame = (await framesOf(recording)).find((each) => /compacting in 8 s/.test(footerOf(each)));
    const picture = { title: codexTitle, columns: recording.columns, rows: frame?.rows ?? [], background };
    await expect(svgOf(picture)).toMatchFileSnapshot(`../../docs/screens/codex-${background}.svg`);
  });
});
