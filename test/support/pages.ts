import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const projectFolder = resolve(import.meta.dirname, '../..');

/** A file of the project. */
export const readOwn = (path: string): string => readFileSync(join(projectFolder, path), 'utf8');

/** The names of a page's headings, as GitHub makes them. */
export const headingsOf = (path: string): readonly string[] =>
  [...readOwn(path).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
