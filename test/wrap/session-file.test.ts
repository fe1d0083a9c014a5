// A recorded session file says the same whatever its writer did to it between two looks of ours.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/event.js';
import { runtimes } from '../../src/runtimes/index.js';
import type { Runtime } from '../../src/runtimes/runtime.js';
import { growingFile } from '../../src/storage/growing-file.js';
import { linesOf, readLines } from '../support/read-log.js';

const cases = [
  { name: 'claude', file: 'session-with-compaction.jsonl' },
  { name: 'codex', file: 'compactions.jsonl' },
  { name: 'gemini', file: 'failed-compactions.jsonl' },
] as const;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'session-file-'));
  path = join(folder, 'session.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const factsOf = (runtime: Runtime) => {
  let facts: Fact[] = [];
  let reader = runtime.log?.reader({});
  const file = growingFile({
    path,
    onLine: (line) => {
      const step = reader?.(line, 0);
      reader = step?.next;
      facts.push(...(step?.facts ?? []));
    },
    onRestart: () => {
      reader = runtime.log?.reader({});
      facts = [];
    },
  });
  return { readNew: file.readNew, facts: () => facts };
};

const torn = fc.constantFrom('', '{"type":"assis', 'garbage', '\xff\xfe', '{}', 'null', '[1]');

describe.each(cases)('a session file of $name', ({ name, file }) => {
  const runtime = runtimes[name];
  const lines = linesOf(name, file);
  const expected = readLines(runtime, lines).facts;
  const whole = Buffer.from(lines.map((line) => `${line}\n`).join(''));

  it('gives the same facts in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 8 }), async (places) => {
        const { readNew, facts } = factsOf(runtime);
        writeFileSync(path, '');
        let written = 0;
        for (const place of [...places.toSorted((a, b) => a - b), whole.length]) {
          appendFileSync(path, whole.subarray(written, place));
          written = place;
          await readNew();
        }
        expect(facts()).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('gives the same facts with lines of nonsense in it, with CRLF and with a byte order mark', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(torn, { maxLength: 20 }), fc.nat(), async (nonsense, seed) => {
        const mixed = lines.flatMap((line, i) => [nonsense[(i + seed) % 20] ?? '', line]);
        writeFileSync(path, Buffer.from(`\ufeff${mixed.join('\r\n')}\r\n`, 'utf8'));
        const { readNew, facts } = factsOf(runtime);
        await readNew();
        expect(facts()).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('gives the same facts again after it was truncated and written anew', async () => {
    const { readNew, facts } = factsOf(runtime);
    writeFileSync(path, whole);
    await readNew();
    writeFileSync(path, '');
    await readNew();
    expect(facts()).toEqual([]);
    writeFileSync(path, whole);
    await readNew();
    expect(facts()).toEqual(expected);
  });
});
