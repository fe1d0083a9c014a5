import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { completeConfig, newConfig } from '../../src/storage/config-edit.js';
import { readConfigFile } from '../../src/storage/config-file.js';
import { runs } from '../support/runs.js';

const folder = mkdtempSync(join(tmpdir(), 'complete-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = join(folder, 'config.jsonc');
const blocks = ['mode', 'auto', 'watch.omc'].map((name) => ({
  name,
  lines: ['// what it does', `// "${name}": 1,`],
}));

const completed = (text: string): ReturnType<typeof completeConfig> => {
  writeFileSync(path, text, { mode: 0o600 });
  const file = readConfigFile(path);
  return file.kind === 'read' ? completeConfig(file, blocks) : undefined;
};

const entriesOf = (text: string) => {
  writeFileSync(path, text);
  const file = readConfigFile(path);
  return file.kind === 'read'
    ? { entries: file.entries.map(({ key, value }) => [key, value]), faults: file.faults }
    : {};
};

describe('a configuration with all keys', () => {
  it('is created if there was none', () => {
    const { text, added } = newConfig(blocks, './schema.json');
    expect(added).toEqual(['mode', 'auto', 'watch.omc']);
    expect(entriesOf(text)).toEqual({ entries: [['$schema', './schema.json']], faults: [] });
    expect(text.match(/^ {2}\/\/ "/gm)).toHaveLength(3);
  });

  it.each([
    ['{}', ['mode', 'auto', 'watch.omc']],
    ['{"mode": "auto"}', ['auto', 'watch.omc']], // a value is no key
    ['// mine\n{\n  "mode": "ask" // so\n}\n', ['auto', 'watch.omc']],
    ['{\n  "mode": "ask", // so\n}\n', ['auto', 'watch.omc']],
    ['{\r\n  "auto": "80%" /* , */\r\n}\r\n', ['mode', 'watch.omc']],
    ['{\n  // "mode": "auto",\n  // "auto": 1,\n}', ['watch.omc']],
    ['{"watchXomc": 1}', ['mode', 'auto', 'watch.omc']],
    ['{"runtimes": {\n  // "mode": 5,\n}\n  // "auto": 1,\n}', ['mode', 'watch.omc']],
    ['\uFEFF{ "focus": "a \\"mode\\": b, }" }', ['mode', 'auto', 'watch.omc']],
  ])('keeps %j and gets what is missing', (text, added) => {
    const after = completed(text);
    expect(after?.added).toEqual(added);
    const { entries, faults } = entriesOf(after?.text ?? '');
    expect(faults).toEqual([]);
    expect(entries).toEqual(entriesOf(text).entries);
    // each of the new lines can be uncommented unchanged
    const open = (after?.text ?? '').replace(/^( *)\/\/ ("(?:mode|auto|watch\.omc)": 1,)/gm, '$1$2');
    expect(entriesOf(open).faults).toEqual([]);
  });

  it.each(['// mine', '/* mine\n   too */\n', '  \n', ''])(
    'goes below %j, if there is no object yet',
    (text) => {
      const after = completed(text);
      expect(after?.added).toEqual(['mode', 'auto', 'watch.omc']);
      expect(after?.text.startsWith(text)).toBe(true);
      expect(entriesOf(after?.text ?? '')).toEqual({ entries: [], faults: [] });
    },
  );

  it('has the line ends of the comments that were there', () => {
    expect(completed('// mine\r\n')?.text).not.toMatch(/[^\r]\n/);
  });

  it('keeps the existing text byte for byte and in order', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const comment = fc.constantFrom('', ' // so, "mode": }\n', '/* a } , */', '\n\n', '\t');
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), value),
        fc.array(comment, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        (values, [a, b, c, d], trails) => {
          const pairs = Object.entries(values).map(
            ([key, each]) => `${a}${JSON.stringify(key)}:${b}${JSON.stringify(each)}`,
          );
          const tail = trails && pairs.length > 0 ? ',' : '';
          const text = `${c}{${pairs.join(`${d},`)}${b}${tail}${a}}${d}`;
          const after = completed(text);
          expect(after).toBeDefined();
          let place = 0;
          for (const character of text) {
            const next = (after?.text ?? '').indexOf(character, place);
            expect(next).toBeGreaterThanOrEqual(place);
            place = next + 1;
          }
          expect(entriesOf(after?.text ?? '').entries).toEqual(entriesOf(text).entries);
          expect(completed(after?.text ?? '')).toEqual({ text: after?.text, added: [] });
        },
      ),
      runs(100),
    );
  });

  it.each(['{"mode": ', '/* mine', '[]', '"x"', '{"a" 1}'])('is not made of %j', (text) => {
    expect(completed(text)).toBeUndefined();
  });
});
