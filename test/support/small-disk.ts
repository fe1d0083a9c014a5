// A disk of its own for a test, which can be full. Only a user who may mount file systems has one.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounts a disk of this size (`64k`, `1m`) on an empty folder, and tells whether that worked. */
export const mountDisk = (folder: string, size: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0;

export const unmountDisk = (folder: string): void => void spawnSync('umount', ['-l', folder]);

/** Writes a file until there is no room for more. */
export const fillDisk = (file: string): void =>
  void spawnSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1k', 'count=100000']);

/** Whether this user may mount a file system of its own. */
export const mayMount = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-mount-'));
  try {
    const isMounted = mountDisk(folder, '64k');
    if (isMounted) unmountDisk(folder);
    return isMounted;
  } finally {
    rmSync(folder, { recursive: true });
  }
})();
