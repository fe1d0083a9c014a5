import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid } from 'node:process';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig, readConfigFile, readTrustedFile } from '../../src/storage/config-file.js';
import { projectConfigPath, userConfigPath } from '../../src/storage/config-paths.js';
import { runs } from '../support/runs.js';

let folder = '';
const at = (name = 'config.jsonc'): string => join(folder, name);
const put = (text: string | Uint8Array): string => {
  writeFileSync(at(), text, { mode: 0o600 });
  return at();
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-file-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a configuration file', () => {
  it('of the user is in its own folder, of a project in the working folder', () => {
    expect(userConfigPath({}, '/home/me')).toBe('/home/me/.config/ctxwrap/config.jsonc');
    expect(userConfigPath({ XDG_CONFIG_HOME: '/x' }, '/home/me')).toBe('/x/ctxwrap/config.jsonc');
    expect(userConfigPath({ XDG_CONFIG_HOME: 'x' }, '/home/me')).toBe(
      '/home/me/.config/ctxwrap/config.jsonc',
    );
    expect(projectConfigPath('/work')).toBe('/work/.ctxwrap.jsonc');
  });

  it('is read with comments and trailing commas, and with positions of values', () => {
    const path = put(
      '\uFEFF// mine\r\n{\r\n  "mode": "ask", /* so */\r\n  "runtimes": { "toy": { "log": [1, true] } },\r\n}\r\n',
    );
    const file = readConfigFile(path);
    expect(file).toMatchObject({
      kind: 'read',
      faults: [],
      entries: [
        { key: 'mode', value: 'ask', at: { line: 3, column: 11 } },
        { key: 'runtimes', at: { line: 4 } },
      ],
    });
    if (file.kind !== 'read') return;
    expect(file.positionOf(['runtimes', 'toy', 'log', '1'])).toEqual({ line: 4, column: 37 });
    expect(file.positionOf(['runtimes', 'other'])).toBeUndefined();
  });

  it('has the last of two values of one key', () => {
    expect(readConfigFile(put('{"mode": "auto", "mode": "warn"}'))).toMatchObject({
      entries: [{ key: 'mode', value: 'warn' }],
      duplicates: [{ key: 'mode', at: { line: 1, column: 26 } }],
    });
  });

  it('reports keys that occur more than once, at every depth', () => {
    const twice =
      '{"runtimes": {"toy": {"command": "a",\n"command": "b"}, "toy": {}, "my": [{"a": 1, "a": 2}]}}';
    expect(readConfigFile(put(twice))).toMatchObject({
      duplicates: [{ key: 'runtimes.toy' }, { key: 'runtimes.my.a' }],
    });
    expect(readConfigFile(put('{"a": {"b": 1}, "c": {"b": 1}}'))).toMatchObject({ duplicates: [] });
  });

  it.each([
    ['{"mode": "ask"', 'close brace expected', 1],
    ['{"mode" "ask"}', 'colon expected', 1],
    ['[1]', 'an object { … } is expected', 1],
    ['"mode"', 'an object { … } is expected', 1],
    ['{\n"mode": ask}', 'invalid symbol', 2],
  ])('that reads %j tells what is wrong and in which line', (text, reason, line) => {
    const file = readConfigFile(put(text));
    expect(file).toMatchObject({ kind: 'read' });
    expect(file.kind === 'read' && file.faults).toContainEqual({
      reason,
      at: expect.objectContaining({ line }),
    });
  });

  it.each(['', ' \n', '// nothing\n', '{}'])('may be as empty as %j', (text) => {
    expect(readConfigFile(put(text))).toMatchObject({ kind: 'read', entries: [], faults: [] });
  });

  it('that does not exist is absent, also below a file', () => {
    expect(readConfigFile(at('none'))).toEqual({ kind: 'absent', path: at('none') });
    expect(readConfigFile(join(put('{}'), 'config.jsonc'))).toMatchObject({ kind: 'absent' });
  });

  it('never throws, whatever it contains', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(['read', 'refused']).toContain(readConfigFile(put(bytes)).kind);
      }),
      runs(200),
    );
  });
});

describe('a file that is not read', () => {
  const refusal = (reason: string, kind: string, more: object = {}) => ({
    kind: 'refused',
    path: at(),
    reason,
    fault: { kind, ...more },
  });

  it('is a symbolic link, also a dangling one', () => {
    writeFileSync(at('real'), '{"mode": "off"}');
    symlinkSync(at('real'), at());
    expect(readConfigFile(at())).toEqual(
      refusal('it is a symbolic link', 'link', { leadsTo: realpathSync(at('real')) }),
    );
    rmSync(at());
    symlinkSync(at('nowhere'), at());
    expect(readConfigFile(at())).toEqual(refusal('it is a symbolic link', 'link', { leadsTo: undefined }));
  });

  it('has more than 256 KB', () => {
    put(' '.repeat(256 * 1024));
    expect(readConfigFile(at()).kind).toBe('read');
    put(' '.repeat(256 * 1024 + 1));
    expect(readConfigFile(at())).toEqual(refusal('it has more than 256 KB', 'unusable'));
  });

  it('is not text', () => {
    put(Buffer.from([0x7b, 0x00, 0x7d]));
    expect(readConfigFile(at())).toEqual(refusal('it is not a text in UTF-8', 'unusable'));
    put(Buffer.from([0x7b, 0xff, 0x7d]));
    expect(readConfigFile(at())).toEqual(refusal('it is not a text in UTF-8', 'unusable'));
  });

  it('is writable by everybody', () => {
    put('{}');
    chmodSync(at(), 0o666);
    expect(readConfigFile(at())).toEqual(
      refusal('every user can write to it', 'open-to-all', { isOwn: true }),
    );
  });

  it('is a folder, or a pipe that nobody writes to', () => {
    mkdirSync(at());
    expect(readConfigFile(at())).toEqual(refusal('it is not a regular file', 'unusable'));
    rmSync(at(), { recursive: true });
    spawnSync('mkfifo', [at()]);
    expect(readConfigFile(at())).toEqual(refusal('it is not a regular file', 'unusable'));
  });

  it('has thousands of members, of which the known ones and the first others are read where they are, and the rest is counted', () => {
    const value = fc.constantFrom(
      '1',
      'true',
      '"}, \\\\\\""',
      '{"a": [1, {}], // }\n}',
      '[[], "]", /* ] */ {}]',
      '-1.5e3',
    );
    const key = fc.constantFrom('"mode"', '"\\\\u006dode"', '"auto"', '"x"', '"y z"', '"{"', '"\\\\""');
    const gap = fc.constantFrom('', ' ', '\n', '// , "a": 1\n', '/* { */');
    const member = fc
      .tuple(gap, key, gap, value, gap)
      .map(([a, name, b, each, c]) => `${a}${name}${b}:${a}${each}${c}`);
    fc.assert(
      fc.property(fc.array(member, { maxLength: 30 }), fc.nat(5), gap, (members, times, end) => {
        const text = `{${Array.from({ length: times }, () => members.join(',')).join(',')}${end}}`;
        const isKnown = (name: string): boolean => name === 'mode' || name === 'auto';
        const [whole, read] = [readConfigFile(put(text)), readConfigFile(at(), isKnown)];
        if (whole.kind !== 'read' || read.kind !== 'read') throw new Error('not read');
        expect(read.entries.filter((each) => isKnown(each.key))).toEqual(
          whole.entries.filter((each) => isKnown(each.key)),
        );
        expect(read.faults).toEqual(whole.faults);
        const unknown = whole.members.filter((each) => !isKnown(each.key)).length;
        expect(whole.faults.length > 0 || read.left === Math.max(0, unknown - 100)).toBe(true);
      }),
      runs(300),
    );
    const many = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',\n');
    const read = readConfigFile(put(`{${many},\n"mode":"ask"}`), (name) => name === 'mode');
    expect(read).toMatchObject({ kind: 'read', faults: [], left: 19_900 });
    const entries = read.kind === 'read' ? read.entries : [];
    expect([entries.length, entries.at(-1)?.at]).toEqual([101, { line: 20_001, column: 8 }]);
  });

  it.each(['//\n', '/**/', '/*', '"\\\\', '"a":{', '"a":[', '"a":"\\\\'])(
    'has nothing but %j, tens of thousands of times',
    (each) => {
      const text = `{${each.repeat(60_000)}`.slice(0, 250_000);
      expect(readConfigFile(put(text), () => false).path).toBe(at());
    },
  );

  it('has comments without an end, which are looked for once', () => {
    const text = `{"auto":"80%"${' /*x'.repeat(700_000)}`;
    expect(parseConfig(text)?.entries).toMatchObject([{ key: 'auto' }]);
    expect(parseConfig(text)?.faults).not.toEqual([]);
  });

  it('is nested too deep to be read', () => {
    put(`{"a": ${'['.repeat(200_000)}`);
    expect(readConfigFile(at())).toEqual(refusal('it is nested too deep', 'unusable'));
  });

  it.skipIf(getuid?.() !== 0)('belongs to another user', () => {
    chownSync(put('{}'), 12_345, 12_345);
    expect(readConfigFile(at())).toEqual(refusal('it belongs to another user', 'foreign'));
  });

  it('is not /dev/null, which counts as an empty configuration', () => {
    expect(readConfigFile('/dev/null')).toMatchObject({ kind: 'read', entries: [], faults: [] });
    expect(readConfigFile('/dev/zero')).toMatchObject({ kind: 'refused', fault: { kind: 'device' } });
  });

  it('cannot be opened, with the system’s reason', () => {
    const path = `${folder}/${'x'.repeat(300)}`;
    expect(readTrustedFile(path)).toMatchObject({ kind: 'refused', reason: 'name too long' });
  });

  it.skipIf(getuid?.() === 0)('may not be read', () => {
    chmodSync(put('{}'), 0o000);
    expect(readConfigFile(at())).toMatchObject({ fault: { kind: 'closed', path: at() } });
  });
});
