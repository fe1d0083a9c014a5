// What belongs to another user is not kept, whoever may read it: what counts is the owner of the file that was opened.
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isBeginningOf, markFile } from '../../src/storage/blackbox/keep.js';
import { pruneBlackBox } from '../../src/storage/blackbox/prune.js';
import { filesIn, linesFrom, makeBox, SESSION, type Box } from '../support/kept.js';

const FOREIGN = 'the session file belongs to another user';
const STRANGER = 65_534;

let box: Box;
beforeEach(() => {
  box = makeBox();
});
afterEach(() => box.remove());

const first = linesFrom(0, 100);
const sessionFolder = (): string => join(box.stateFolder, 'checkpoints', `claude-${SESSION}`);

describe.skipIf(getuid?.() !== 0)(
  'a session file of another user (skipped where no other user can be made)',
  () => {
    // root may read it anyhow, and others may where it is shown to all
    it.each(['600', '644', '666'])('is not kept (mode %s)', async (mode) => {
      writeFileSync(box.path, first);
      chmodSync(box.path, Number.parseInt(mode, 8));
      chownSync(box.path, STRANGER, STRANGER);
      expect(await box.link()).toMatchObject({ kind: 'refused', reason: 'it belongs to another user' });
      await expect(box.keep()).rejects.toThrow(FOREIGN);
      await expect(markFile(box.path)).rejects.toThrow(FOREIGN);
      expect(filesIn(box.stateFolder)).toEqual([]);
    });

    it('is not kept by a hard link to it in a folder of this user', async () => {
      const theirs = join(box.root, 'theirs');
      writeFileSync(theirs, first);
      chownSync(theirs, STRANGER, STRANGER);
      linkSync(theirs, box.path);
      await expect(box.keep()).rejects.toThrow(FOREIGN);
      expect(filesIn(box.stateFolder)).toEqual([]);
    });

    it('is kept where it is this user’s, in a folder of another one', async () => {
      writeFileSync(box.path, first);
      chownSync(dirname(box.path), STRANGER, STRANGER);
      expect(await box.link()).toMatchObject({ kind: 'linked' });
      expect(await box.keep()).toMatchObject({ isNew: true });
    });

    it('is not kept through a link to it, or to its folder', async () => {
      const theirs = join(box.root, 'theirs');
      mkdirSync(theirs);
      const path = join(theirs, basename(box.path));
      writeFileSync(path, first);
      chownSync(path, STRANGER, STRANGER);
      symlinkSync(path, box.path);
      await expect(box.keep()).rejects.toThrow('ELOOP');
      rmSync(dirname(box.path), { recursive: true });
      symlinkSync(theirs, dirname(box.path));
      expect(await box.link()).toMatchObject({ kind: 'refused' });
      await expect(box.keep()).rejects.toThrow(FOREIGN);
    });

    it('is not read from the black box where a kept file has become another user’s; it can be removed', async () => {
      writeFileSync(box.path, first);
      await box.link();
      chownSync(box.path, STRANGER, STRANGER);
      const [copy] = (await box.session()).copies;
      await expect(copy && box.text(copy)).rejects.toThrow(FOREIGN);
      await expect(isBeginningOf(join(sessionFolder(), `${copy?.id}.file`), box.path)).rejects.toThrow(
        FOREIGN,
      );
      await pruneBlackBox({ stateFolder: box.stateFolder, now: 0, before: Infinity });
      expect(existsSync(sessionFolder())).toBe(false);
    });
  },
);
