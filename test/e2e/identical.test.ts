import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { caseOf, type Step } from '../fuzz/case.js';
import { casts } from '../support/casts.js';
import { describeTerminal, makeEmulator } from '../support/emulator.js';
import { programOutput } from '../support/sequences.js';
import { lastRow, FOOTER, footerShown, withWrapped, type Wrapped } from '../support/wrapped.js';

/** How a recording is split, differently for each; single bytes only for short ones. */
const sizesFor = (index: number, length: number): readonly number[] => {
  const random = fc.sample(fc.integer({ min: 1, max: 500 }), { numRuns: 40, seed: index });
  const choices = [...(length < 40_000 ? [[1]] : []), [7], [4096], random];
  return choices[index % choices.length] ?? random;
};

const recordings = casts().map((cast, index) => ({ ...cast, sizes: sizesFor(index, cast.output.length) }));

/** Full, also of what a recording or a run has left open: each starts as in a new terminal. */
const RESET = Buffer.from('\x1b\\\x1bc\x1b[3J');

const IN_A_SESSION = 6; // recordings: a session costs more than to play one

/** The recordings of one size, as many as are played in one session. */
const playsOf = (all: typeof recordings) => {
  const sizes = new Set(all.map(({ columns, rows }) => `${columns}x${rows}`));
  return [...sizes].flatMap((size) => {
    const same = all.filter(({ columns, rows }) => `${columns}x${rows}` === size);
    const starts = [...same.keys()].filter((index) => index % IN_A_SESSION === 0);
    return starts.map((from) => same.slice(from, from + IN_A_SESSION));
  });
};

const plays = playsOf(recordings).map((played) => ({
  played,
  names: played.map(({ name }) => name).join(', '),
}));

/** The output of a random program, in pieces. */
const chunksOf = (steps: readonly Step[]): readonly Buffer[] => {
  const chunks: string[] = [''];
  for (const { bytes, isEnd } of steps) {
    chunks.push((chunks.pop() ?? '') + bytes);
    if (isEnd === true) chunks.push('');
  }
  return chunks.map((chunk) => Buffer.from(chunk, 'latin1'));
};

const expectSame = async (
  wrapped: Wrapped,
  plain: ReturnType<typeof makeEmulator>,
  name: string,
): Promise<void> => {
  await wrapped.caughtUp();
  await footerShown(wrapped.window);
  const shown = { name, ...describeTerminal(wrapped.window.emulator.terminal, 1) };
  expect(shown).toEqual({ name, ...describeTerminal(plain.terminal) });
};

describe.concurrent('under the built program', () => {
  it.each(plays)(
    'the recordings $names look and answer as in a terminal without the footer row',
    async ({ played }) => {
      const { columns = 0, rows = 0 } = played[0] ?? {};
      const plain = makeEmulator(columns, rows);
      await withWrapped({ columns, rows: rows + 1 }, async (wrapped) => {
        await wrapped.started();
        for (const { name, output, sizes } of played) {
          for (const [bytes, pieces] of [[RESET], [output, sizes]] as const) {
            await plain.write(bytes);
            await wrapped.player.write(bytes, pieces);
          }
          await expectSame(wrapped, plain, name);
          expect(lastRow(wrapped.window)).toMatch(FOOTER);
          await wrapped.player.until(() => wrapped.player.received().length >= plain.answers().length);
          expect({ name, received: wrapped.player.received() }).toEqual({ name, received: plain.answers() });
        }
      });
    },
  );

  it('output of everything that terminals know looks as in a terminal without the footer row', async () => {
    const [columns, rows] = [40, 10];
    const runs = process.env['FUZZ'] === undefined ? 12 : Number(process.env['FUZZ']);
    for (let seed = 1; seed <= runs; seed += 1) {
      const chunks = chunksOf(caseOf(seed, true).steps);
      const plain = makeEmulator(columns, rows);
      await withWrapped({ columns, rows: rows + 1 }, async (wrapped) => {
        await wrapped.started();
        for (const chunk of [...chunks, Buffer.from('\x18\x1b\\')]) {
          await plain.write(chunk);
          await wrapped.player.write(chunk);
        }
        await wrapped.caughtUp();
        const shown = { seed, ...describeTerminal(wrapped.window.emulator.terminal, 1) };
        expect(shown).toEqual({ seed, ...describeTerminal(plain.terminal) });
      });
    }
  });

  it('any output looks and answers as in a terminal without the footer row', async () => {
    const [columns, rows] = [40, 12];
    const plain = makeEmulator(columns, rows);
    await withWrapped({ columns, rows: rows + 1 }, async (wrapped) => {
      await wrapped.started();
      const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(programOutput, sizes, async (output, pieces) => {
          const bytes = Buffer.concat([RESET, output]);
          await plain.write(bytes);
          await wrapped.player.write(bytes, pieces);
          await expectSame(wrapped, plain, 'random output');
          const answers = plain.answers();
          await wrapped.player.until(() => wrapped.player.received().length >= answers.length);
          expect(wrapped.player.received()).toBe(answers);
        }),
        process.env['FUZZ'] === undefined
          ? { numRuns: 20, seed: 20261121 }
          : { numRuns: Number(process.env['FUZZ']) },
      );
    });
  });
});
