import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureSessionsFolder } from '../../src/storage/sessions.js';
import { ensureFolder, readSmallFile, stateFolder, writeAtomic } from '../../src/storage/state-folder.js';

let home = '';
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'ctxwrap-state-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const modeOf = (path: string): number => lstatSync(path).mode & 0o777;

describe('the state folder', () => {
  it.each([
    { given: undefined, folder: '/home/u/.local/state/ctxwrap' },
    { given: '/var/state', folder: '/var/state/ctxwrap' },
    { given: '', folder: '/home/u/.local/state/ctxwrap' },
    { given: 'relative', folder: '/home/u/.local/state/ctxwrap' },
  ])('with XDG_STATE_HOME=$given is $folder', ({ given, folder }) => {
    expect(stateFolder({ XDG_STATE_HOME: given }, '/home/u')).toBe(folder);
  });

  it('is created for the user only, with the requested folder in it', async () => {
    const folder = stateFolder({}, home);
    expect(await ensureFolder(folder, 'sessions')).toBe(join(folder, 'sessions'));
    expect([modeOf(folder), modeOf(join(folder, 'sessions'))]).toEqual([0o700, 0o700]);
  });

  it('is not created where the system allows no new folder', async () => {
    // Linux reports there that the parent is missing, at every try
    await expect(ensureFolder('/proc/none/ctxwrap')).rejects.toThrow('/proc/none');
  });

  it('loses the access rights of other users', async () => {
    const folder = join(home, 'ctxwrap');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    await ensureFolder(folder);
    expect(modeOf(folder)).toBe(0o700);
  });

  it('is refused when it is a link, and so is a folder in it', async () => {
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(home, 'linked'));
    await expect(ensureFolder(join(home, 'linked'))).rejects.toThrow('is a symbolic link');
    symlinkSync(elsewhere, join(elsewhere, 'sessions'));
    await expect(ensureFolder(elsewhere, 'sessions')).rejects.toThrow('is a symbolic link');
  });

  describe('that is a link', () => {
    const linked = (mode: number): { readonly disk: string; readonly link: string } => {
      const [disk, link] = [join(realpathSync(home), 'disk'), join(home, 'ctxwrap')];
      mkdirSync(disk);
      chmodSync(disk, mode);
      symlinkSync(disk, link);
      return { disk, link };
    };

    it('is where the link leads, if nobody else can change that', async () => {
      const { disk } = linked(0o700);
      const folder = stateFolder({ XDG_STATE_HOME: home }, '/');
      expect(folder).toBe(disk);
      await ensureSessionsFolder(folder);
      expect([readdirSync(disk), modeOf(disk)]).toEqual([['sessions'], 0o700]);
    });

    it('is refused where others can look into it: it may be in use for something else', async () => {
      const { disk, link } = linked(0o755);
      expect(stateFolder({ XDG_STATE_HOME: home }, '/')).toBe(link);
      await expect(ensureFolder(link)).rejects.toThrow(
        `${link} is a symbolic link, and other users can access ${disk}`,
      );
      expect(modeOf(disk)).toBe(0o755);
    });

    it.each([
      ['could put another one there', 0o777],
      ['may add to it, as to /tmp', 0o1777],
    ])('is refused with the reason if others %s, and stays as it is', async (_, mode) => {
      const { disk, link } = linked(mode);
      const folder = stateFolder({ XDG_STATE_HOME: home }, '/');
      expect(folder).toBe(link);
      await expect(ensureFolder(folder)).rejects.toThrow(
        `${link} is a symbolic link, and other users can write to ${disk}`,
      );
      expect(statSync(disk).mode & 0o7777).toBe(mode);
    });
  });

  it('is refused when a file is in its place', async () => {
    writeFileSync(join(home, 'file'), '');
    await expect(ensureFolder(join(home, 'file'))).rejects.toThrow(/EEXIST|ENOTDIR/);
  });

  it('may be below a link of the user', async () => {
    mkdirSync(join(home, 'disk'));
    symlinkSync(join(home, 'disk'), join(home, 'state'));
    await ensureFolder(join(home, 'state', 'ctxwrap'));
    expect(modeOf(join(home, 'disk', 'ctxwrap'))).toBe(0o700);
  });
});

describe('a file written there', () => {
  it('is readable by the user only, complete, and leaves no temporary file', async () => {
    const path = join(home, 'a.json');
    await writeAtomic(path, 'one');
    await writeAtomic(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(modeOf(path)).toBe(0o600);
    expect(readdirSync(home)).toEqual(['a.json']);
  });

  it('never replaces or follows a link', async () => {
    const victim = join(home, 'victim');
    writeFileSync(victim, 'untouched');
    symlinkSync(victim, join(home, 'a.json'));
    await expect(writeAtomic(join(home, 'a.json'), 'x')).rejects.toThrow('is not a regular file');
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
    expect(readdirSync(home).toSorted()).toEqual(['a.json', 'victim']);
  });

  it('can be read back, unless it is a link, a folder or too large', async () => {
    writeFileSync(join(home, 'a'), 'text');
    symlinkSync(join(home, 'a'), join(home, 'link'));
    expect(await readSmallFile(join(home, 'a'))).toBe('text');
    expect(await readSmallFile(join(home, 'a'), 4)).toBe('text');
    expect(await readSmallFile(join(home, 'a'), 3)).toBeUndefined();
    expect(await readSmallFile(join(home, 'link'))).toBeUndefined();
    expect(await readSmallFile(home)).toBeUndefined();
    expect(await readSmallFile(join(home, 'none'))).toBeUndefined();
  });
});

describe('the state folder of a new home', () => {
  it('is made by any number of wrappers that start at once', async () => {
    const inner = join(home, '.local/state/ctxwrap');
    const names = Array.from({ length: 50 }, () => ensureFolder(inner, 'sessions'));
    expect(new Set(await Promise.all(names))).toEqual(new Set([join(inner, 'sessions')]));
  });
});
