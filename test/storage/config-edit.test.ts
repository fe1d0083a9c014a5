import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeConfig, newConfig, setKey, unsetKey } from '../../src/storage/config-edit.js';
import { readConfigFile, type ReadFile } from '../../src/storage/config-file.js';
import { runs } from '../support/runs.js';

let folder = '';
const path = (): string => join(folder, 'config.jsonc');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-edit-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (text: string): ReadFile => {
  writeFileSync(path(), text, { mode: 0o600 });
  const file = readConfigFile(path());
  if (file.kind !== 'read') throw new Error(file.kind);
  return file;
};
const valuesIn = (text: string): Record<string, unknown> => {
  const { entries, faults } = read(text);
  expect(faults).toEqual([]);
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
};
const set = (text: string, json = '"75%"', name = 'warn') => setKey(read(text), name, json);
const unset = (text: string, name = 'warn') => unsetKey(read(text), name);

describe('a key that is set', () => {
  it.each([
    ['', '{\n  "warn": "75%"\n}\n'],
    ['\uFEFF', '\uFEFF{\n  "warn": "75%"\n}\n'],
    ['// mine', '// mine\n{\n  "warn": "75%"\n}\n'],
    ['// mine\r\n', '// mine\r\n{\r\n  "warn": "75%"\r\n}\r\n'],
    ['{}', '{\n  "warn": "75%"\n}'],
    ['{ }\n', '{\n  "warn": "75%"\n}\n'],
    ['{ "warn": "70%" /* low */ } // end', '{ "warn": "75%" /* low */ } // end'],
    ['{"warn":70000,"mode":"ask"}', '{"warn":"75%","mode":"ask"}'],
    ['{"mode": "ask"}', '{"mode": "ask", "warn": "75%"}'],
    ['{ "mode": "ask", }', '{ "mode": "ask", "warn": "75%", }'],
    ['{ "mode": "ask" /* so */ }', '{ "mode": "ask", /* so */ "warn": "75%" }'],
    ['{\n  "mode": "ask" // so\n}\n', '{\n  "mode": "ask", // so\n  "warn": "75%"\n}\n'],
    [
      '{\n\t"mode": "ask", // so\n\n\t// more\n}',
      '{\n\t"mode": "ask", // so\n\n\t// more\n\t"warn": "75%",\n}',
    ],
    ['{\r\n    "mode": "ask"\r\n}\r\n', '{\r\n    "mode": "ask",\r\n    "warn": "75%"\r\n}\r\n'],
    ['{\n  "mode": "ask" }', '{\n  "mode": "ask",\n  "warn": "75%"\n}'],
    ['\uFEFF{ "warn": 1000 }', '\uFEFF{ "warn": "75%" }'],
    // below the line that shows it
    [
      '{\n  // "warn": "70%",\n  "mode": "ask"\n}',
      '{\n  // "warn": "70%",\n  "warn": "75%",\n  "mode": "ask"\n}',
    ],
    [
      '{\n  "mode": "ask"\n  // "warn": "70%",\n}',
      '{\n  "mode": "ask",\n  // "warn": "70%",\n  "warn": "75%",\n}',
    ],
    // what only looks like that line
    ['// "warn": 1\n{ "mode": "ask" }', '// "warn": 1\n{ "mode": "ask", "warn": "75%" }'],
    ['{\n  /*\n  // "warn": 1\n  */\n}', '{\n  /*\n  // "warn": 1\n  */\n  "warn": "75%"\n}'],
    ['{ "runtimes": {\n  // "warn": 1\n} }', '{ "runtimes": {\n  // "warn": 1\n},\n  "warn": "75%"\n}'],
    // the last of two counts
    ['{ "warn": 1000, "warn": 2000 }', '{ "warn": 1000, "warn": "75%" }'],
  ])('changes %j to %j', (before, after) => {
    expect(set(before)).toBe(after);
  });

  it.each(['{ "mode": ', '[]', '"warn"', '{ "mode" "ask" }', '/* open'])('is not set in %j', (text) => {
    expect(set(text)).toBeUndefined();
    expect(unset(text)).toBeUndefined();
  });

  it('has its own line in a new file with all keys, and goes without a trace', () => {
    const block = (name: string) => ({ name, lines: ['// what it does', `// "${name}": 1,`] });
    for (const schema of [undefined, './schema.json']) {
      const { text } = newConfig(['mode', 'warn', 'auto'].map(block), schema);
      const after = set(text) ?? '';
      expect(after).toContain('  // "warn": 1,\n  "warn": "75%",\n\n  // what it does\n  // "auto": 1,\n');
      expect(valuesIn(after)).toMatchObject({ warn: '75%' });
      expect(unset(after)).toBe(text);
    }
  });
});

describe('a key that is unset', () => {
  it.each([
    ['{}', '{}'],
    ['{ "mode": "ask" } // warn', '{ "mode": "ask" } // warn'],
    ['{ "warn": 1000 }', '{ }'],
    ['{"warn": 1000, "mode": "ask"}', '{"mode": "ask"}'],
    ['{"mode": "ask", "warn": 1000}', '{"mode": "ask"}'],
    ['{"mode": "ask", "warn": 1000,}', '{"mode": "ask", }'],
    ['{\n  "mode": "ask",\n  "warn": 1000\n}\n', '{\n  "mode": "ask"\n}\n'],
    ['{\r\n  "warn": 1000,\r\n  "mode": "ask"\r\n}', '{\r\n  "mode": "ask"\r\n}'],
    [
      '{\n  // why\n  "warn": 1000, // low\n  "mode": "ask",\n}',
      '{\n  // why\n  // low\n  "mode": "ask",\n}',
    ],
    ['{ "mode": "ask" /* a */, /* b */ "warn": 1 /* c */ }', '{ "mode": "ask" /* a */ /* b */ /* c */ }'],
    ['{ "warn": 1 /* c */, "mode": "ask" }', '{ /* c */ "mode": "ask" }'],
    ['{ "warn": 1000, "mode": "ask", "warn": 2000 }', '{ "mode": "ask" }'],
    ['{ "runtimes": { "warn": 1 }, "warn": { "a": [1, 2] } }', '{ "runtimes": { "warn": 1 } }'],
    ['\uFEFF{ "warn": 1000 }', '\uFEFF{ }'],
  ])('changes %j to %j', (before, after) => {
    expect(unset(before)).toBe(after);
  });

  it('and set leave every other value and every comment where they are', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.constant({ warn: [1, { a: null }] }));
    const blank = fc.constantFrom('', ' ', '\n', '\r\n\t', ' // one, "warn": }\n', ' /* two } , */ ');
    const space = fc.constantFrom('', ' ', '\n'); // a comment between key and value goes with them
    const member = fc.tuple(
      fc.constantFrom('a', 'warn', 'b', 'mode'),
      value,
      fc.tuple(blank, space, space, blank),
    );
    fc.assert(
      fc.property(fc.array(member, { maxLength: 5 }), fc.boolean(), blank, (members, trails, end) => {
        const pairs = members.map(
          ([key, each, [a, b, c, d]]) => `${a}"${key}"${b}:${c}${JSON.stringify(each)}${d}`,
        );
        const text = `{${pairs.join(',')}${trails && pairs.length > 0 ? ',' : ''}${end}}`;
        const { warn: _, ...others } = valuesIn(text);
        const comments = (each: string): number => each.match(/\/\/ one|\/\* two/g)?.length ?? 0;
        const [without = '', having = ''] = [unset(text), set(text)];
        expect(valuesIn(without)).toEqual(others);
        expect(valuesIn(having)).toEqual({ ...others, warn: '75%' });
        expect([comments(without), comments(having)]).toEqual([comments(text), comments(text)]);
      }),
      runs(500),
    );
  });
});

describe('changing a file', () => {
  const text = (): string => readFileSync(path(), 'utf8');
  const add = (character: string) => (file: { kind: string; text?: string }) =>
    `${file.text ?? ''}${character}`;

  it('keeps the previous text as a backup, and the permissions', async () => {
    writeFileSync(path(), '{} // before');
    for (const mode of [0o600, 0o644, 0o664]) {
      chmodSync(path(), mode);
      await changeConfig(path(), add(' '));
      expect(statSync(path()).mode & 0o777).toBe(mode);
      expect(statSync(`${path()}.bak`).mode & 0o777).toBe(mode);
    }
    expect([text(), readFileSync(`${path()}.bak`, 'utf8')]).toEqual(['{} // before   ', '{} // before  ']);
    expect(readdirSync(folder).toSorted()).toEqual(['config.jsonc', 'config.jsonc.bak']);
  });

  it('creates the folders above it, for this user only', async () => {
    const deep = join(folder, 'a/b/config.jsonc');
    await changeConfig(deep, () => '{}');
    expect(statSync(deep).mode & 0o777).toBe(0o600);
    for (const each of ['a', 'a/b']) expect(statSync(join(folder, each)).mode & 0o777).toBe(0o700);
  });

  it('writes nothing where nothing changes, not even a folder', async () => {
    await changeConfig(join(folder, 'a/config.jsonc'), () => undefined);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('changes what a link leads to, keeps the link, and the previous text beside the link', async () => {
    const target = join(folder, 'dotfiles/mine.jsonc');
    await changeConfig(target, () => '{}');
    chmodSync(target, 0o640);
    symlinkSync('dotfiles/mine.jsonc', path());
    await Promise.all([changeConfig(path(), add(' ')), changeConfig(target, add(' '))]); // by both names
    expect(readlinkSync(path())).toBe('dotfiles/mine.jsonc');
    expect([readFileSync(target, 'utf8'), statSync(target).mode & 0o777]).toEqual(['{}  ', 0o640]);
    expect(readFileSync(`${path()}.bak`, 'utf8')).toMatch(/^\{\} ?$/);
    expect(readdirSync(folder).toSorted()).toEqual(['config.jsonc', 'config.jsonc.bak', 'dotfiles']);
  });

  it('writes no special file, and nothing beside it', async () => {
    await expect(changeConfig('/dev/null', () => '{}')).rejects.toThrow('not a regular file');
    await expect(changeConfig('/proc/no/such/config.jsonc', () => '{}')).rejects.toThrow('ENOENT');
    symlinkSync('elsewhere', path());
    await expect(changeConfig(path(), () => '{}')).rejects.toThrow('not a regular file');
    expect(readdirSync(folder)).toEqual(['config.jsonc']);
  });

  it('loses none of several changes at a time', async () => {
    await Promise.all(Array.from('abcdefgh', (each) => changeConfig(path(), add(each))));
    expect([...text()].toSorted().join('')).toBe('abcdefgh');
    expect(readdirSync(folder)).not.toContain('config.jsonc.lock');
  });

  it('does not lose what an editor writes meanwhile', async () => {
    writeFileSync(path(), '{}');
    let calls = 0;
    await changeConfig(path(), (file) => {
      calls += 1;
      if (calls === 2) writeFileSync(path(), '{ } // by an editor'); // after the file was read
      return add('!')(file);
    });
    expect(text()).toBe('{ } // by an editor!');
    expect(readFileSync(`${path()}.bak`, 'utf8')).toBe('{ } // by an editor');
  });

  it('gives up where the file changes again and again, and leaves it', async () => {
    let calls = 0;
    const change = (): string => {
      calls += 1;
      writeFileSync(path(), `// ${calls}`);
      return '{}';
    };
    await expect(changeConfig(path(), change)).rejects.toThrow('again and again');
    expect(text()).toBe(`// ${calls}`);
    expect(readdirSync(folder).toSorted()).toEqual(['config.jsonc', 'config.jsonc.bak']);
  });

  it('does not wait for a process that has died while it changed the file', async () => {
    writeFileSync(`${path()}.lock`, '');
    utimesSync(`${path()}.lock`, 1, 1);
    await changeConfig(path(), () => '{}');
    expect(readdirSync(folder)).toEqual(['config.jsonc']);
  });
});
