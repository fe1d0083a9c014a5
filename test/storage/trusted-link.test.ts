import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfigFile, readUserConfig } from '../../src/storage/config-file.js';
import { followLink } from '../../src/storage/trusted-link.js';

let folder = '';
const at = (name: string): string => join(folder, name);
const file = (name: string, mode = 0o600): string => {
  mkdirSync(dirname(at(name)), { recursive: true, mode: 0o755 });
  writeFileSync(at(name), '{ "mode": "ask" }');
  chmodSync(at(name), mode);
  return at(name);
};
const link = (name: string, target: string): string => {
  mkdirSync(dirname(at(name)), { recursive: true, mode: 0o755 });
  symlinkSync(target, at(name));
  return at(name);
};

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'trusted-link-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a link to a file of the user', () => {
  it.each([
    ['absolute', () => link('config/a', file('dotfiles/a'))],
    ['relative', () => (file('dotfiles/a'), link('config/a', '../dotfiles/./a'))],
    ['over another link', () => (file('dotfiles/a'), link('b', 'dotfiles/a'), link('config/a', '../b'))],
    [
      'through a folder that is a link',
      () => (file('dotfiles/a'), link('d', 'dotfiles'), link('config/a', '../d/a')),
    ],
    [
      'in a folder that is a link',
      () => (file('dotfiles/a'), link('dotfiles/b', 'a'), join(link('config', 'dotfiles'), 'b')),
    ],
    [
      'up from a folder that is a link',
      () => (file('x/a'), mkdirSync(at('x/y')), link('d', 'x/y'), link('b', 'd/../a')),
    ],
    ['to a file that others may read', () => link('config/a', file('dotfiles/a', 0o644))],
  ])('is followed: %s', (_, make) => {
    const path = make();
    expect(followLink(path)).toEqual({ kind: 'trusted', path: realpathSync.native(path) });
    expect(readUserConfig(path)).toMatchObject({
      kind: 'read',
      path,
      target: realpathSync.native(path),
      entries: [{ value: 'ask' }],
    });
  });

  it('is refused in a project, whatever it leads to', () => {
    const path = link('.ctxwrap.jsonc', file('a'));
    expect(readConfigFile(path)).toMatchObject({
      kind: 'refused',
      reason: 'it is a symbolic link',
      fault: { kind: 'link', leadsTo: at('a') },
    });
  });
});

describe('a link is not followed', () => {
  const refused = (path: string): unknown => {
    const found = readUserConfig(path);
    return found.kind === 'refused' ? found : undefined;
  };

  it.each([
    ['the file', 0o620, 'dotfiles/a'],
    ['the file', 0o602, 'dotfiles/a'],
    ['a folder', 0o770, 'dotfiles'],
    ['a folder above it', 0o707, 'x'],
    ['the folder of the link', 0o775, 'config'],
    ['a folder of another link on the way', 0o775, 'between'],
  ])('where others may write %s (%o)', (_, mode, open) => {
    const target = file(open === 'x' ? 'x/dotfiles/a' : 'dotfiles/a');
    link('between/b', target);
    const path = link('config/a', '../between/b');
    chmodSync(at(open), mode);
    expect(refused(path)).toMatchObject({
      path,
      reason: `it is a symbolic link, and other users can write to ${at(open)}`,
      fault: { kind: 'link', leadsTo: target, open: at(open) },
    });
    chmodSync(at(open), open === 'dotfiles/a' ? 0o600 : 0o755);
    expect(readUserConfig(path).kind).toBe('read');
  });

  it.skipIf(getuid?.() !== 0)('where the file, a folder or a link on the way belongs to another user', () => {
    const path = link('config/a', file('dotfiles/a'));
    for (const foreign of ['dotfiles/a', 'dotfiles']) {
      chownSync(at(foreign), 12_345, 12_345);
      expect(refused(path)).toMatchObject({
        reason: `it is a symbolic link, and ${at(foreign)} belongs to another user`,
      });
      chownSync(at(foreign), 0, 0);
    }
    expect(refused(path)).toBeUndefined();
    lchownSync(path, 12_345, 12_345);
    expect(refused(path)).toMatchObject({
      reason: `it is a symbolic link, and ${path} belongs to another user`,
    });
  });

  it.each([
    ['it leads nowhere', 'no/such/file'],
    ['it leads in a circle', 'a'],
    ['/dev/null is not a file', '/dev/null'],
    ['/etc is not a file', '/etc'],
    ['it leads nowhere', '../trusted-link.test.ts/x'],
  ])('where %s', (reason, target) => {
    expect(refused(link('a', target))).toMatchObject({ reason: `it is a symbolic link, and ${reason}` });
  });

  it('to a file that would not be read itself', () => {
    const target = file('dotfiles/a');
    writeFileSync(target, Buffer.from([0]));
    expect(refused(link('config/a', target))).toMatchObject({
      reason: 'it is not a text in UTF-8',
      path: target,
    });
  });
});
