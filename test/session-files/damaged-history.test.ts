// Session files that are cut off, overwritten or not session files at all.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_LINE_BYTES } from '../../src/session-files/read-history.js';
import {
  counted,
  fixture,
  readBytes,
  readSource,
  recordsOf,
  type Name,
} from '../support/counted-compactions.js';

const cases = counted.filter(({ file, found }) => file.endsWith('.jsonl') && found.length > 0);
const linesOf = (agent: Name, file: string): readonly string[] =>
  readFileSync(fixture(agent, file), 'utf8').trimEnd().split('\n');

describe('a damaged session file', () => {
  it('has all compactions in what is left of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...cases), fc.nat(), async ({ agent, file, found }, cutAt) => {
        const bytes = readFileSync(fixture(agent, file));
        const cut = bytes.subarray(0, cutAt % bytes.length);
        const lines = cut.toString('latin1').split('\n').length - 1; // complete ones
        const history = await readBytes(agent, cut);
        const wanted = found.filter(({ line }) => line <= lines).map(({ line }) => line);
        const isComplete = found.some(({ line }) => line === lines + 1); // the last line may be whole without its newline
        const read = history?.compactions.map(({ line }) => line) ?? [];
        expect(isComplete ? read.filter((line) => line <= lines) : read).toEqual(wanted);
        expect(history?.damagedLines ?? 0).toBe(0); // half a line at the end is being written
      }),
      { numRuns: 40 },
    );
  });

  it('has no record in the half of a line that ends with an object inside of it', async () => {
    const line =
      '{"type":"attachment","list":[{"a":"x:"}, {"type":"user"},  {"type":"user","uuid":"1"}],"one":{"type":"user"}}';
    const first = '{"type":"user","sessionId":"1"}\n';
    for (let cut = 1; cut < line.length; cut += 1)
      expect([cut, (await readBytes('claude', first + line.slice(0, cut)))?.damagedLines]).toEqual([cut, 0]);
    const glued = await readBytes('claude', `${first}${line.slice(0, 30)}{"type":"user","sessionId":"1"}`);
    expect(glued?.damagedLines).toBe(1); // the half before a whole record
  });

  it('has all compactions between lines of garbage, which are counted', async () => {
    const garbage = fc.constantFrom(
      'garbage',
      '{"type":"user"',
      '\0\0\0\0',
      '{"a":1}{"b":2}',
      '[]',
      'x'.repeat(5_000),
    );
    const places = fc.array(fc.tuple(fc.nat(), garbage), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...cases), places, async ({ agent, file }, added) => {
        const lines = [...linesOf(agent, file)];
        const whole = await readBytes(agent, `${lines.join('\n')}\n`);
        for (const [place, text] of added) lines.splice(1 + (place % lines.length), 0, text);
        const history = await readBytes(agent, `${lines.join('\n')}\n`);
        const without = (each: typeof whole) =>
          each?.compactions.map((one) => ({ ...one, line: 0, offset: 0, summary: one.summary?.text }));
        expect(without(history)).toEqual(without(whole));
        expect(history?.damagedLines).toBe(added.length);
      }),
      { numRuns: 20 },
    );
  });

  it('is read around lines that are too long or too complex, which are told apart from damaged ones', async () => {
    const agent = 'claude';
    const lines = linesOf(agent, 'session-with-compaction.jsonl');
    const whole = await readSource(agent, `${lines.join('\n')}\n`);
    const added = [
      `{"type":"assistant","x":${'['.repeat(600)}${']'.repeat(600)}}`,
      `{"type":"assistant","x":[${'{},'.repeat(1_000_001)}1]}`,
      'x'.repeat(MAX_LINE_BYTES + 1),
      'garbage',
    ];
    const read = await readSource(agent, `${[...lines, ...added].join('\n')}\n`);
    expect(read?.history.compactions).toEqual(whole?.history.compactions);
    expect([whole?.leftOut, read?.leftOut]).toEqual([
      undefined,
      '1 line with more than 64 MB and 2 lines nested too deep or with too many values',
    ]);
    expect(read?.history.damagedLines).toBe(1);
  });

  it('never fails, whatever bytes are changed', async () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 30 });
    const all = fc.constantFrom(...counted);
    await fc.assert(
      fc.asyncProperty(all, changes, async ({ agent, file, found }, changed) => {
        const bytes = readFileSync(fixture(agent, file));
        for (const [place, byte] of changed) bytes[place % bytes.length] = byte;
        const history = await readBytes(agent, bytes);
        const most = found.length + changed.length; // a changed time can make two of one record
        expect(history?.compactions.length ?? 0).toBeLessThanOrEqual(most);
        expect(JSON.stringify(history ? recordsOf(history) : [])).toMatch(/^\[/);
      }),
      { numRuns: 40 },
    );
  });

  it('of any other kind has none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Name>('claude', 'codex', 'gemini', 'qwen'),
        fc.uint8Array(),
        async (agent, noise) => {
          expect((await readBytes(agent, Buffer.from(noise)))?.compactions ?? []).toEqual([]);
        },
      ),
    );
  });
});
