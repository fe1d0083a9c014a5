// Files that a configuration names, wherever their paths lead.
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readNamedFile } from '../../src/storage/config-paths.js';
import { inFolder } from '../support/wrapped.js';

it('a path that leads nowhere, in a circle, or is too long is no file, and no error', () =>
  inFolder(async (folder) => {
    const circle = join(folder, 'circle');
    symlinkSync(circle, circle);
    const paths = [circle, join(folder, 'none'), join(folder, 'x'.repeat(300)), folder];
    expect(paths.map(readNamedFile)).toEqual(paths.map(() => undefined));
    writeFileSync(join(folder, 'file'), 'text');
    expect(readNamedFile(join(folder, 'file'))).toEqual({ text: 'text' });
  }));
