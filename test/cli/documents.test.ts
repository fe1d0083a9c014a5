// What the documents say of the command line.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listedCommands } from '../../src/cli/commands.js';
import { parseArguments } from '../../src/cli/program.js';
import { headingsOf, projectFolder, readOwn as read } from '../support/pages.js';

const fileOf = (path: string): string => join(projectFolder, path);
const help = (...words: readonly string[]): string => {
  const request = parseArguments([...words, '--help'], '1');
  return request.kind === 'print' ? request.text : '';
};
const flagsIn = (text: string): readonly string[] => [...new Set(text.match(/--[a-z][a-z-]+/g))];

const pagesIn = (folder: string): readonly string[] =>
  readdirSync(fileOf(folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const forUsers = pagesIn('docs');
const internals = pagesIn('docs/internals');
const own = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const pages = [...own, ...forUsers, ...internals, ...pagesIn('docs/facts')];

interface Link {
  readonly path: string;
  /** '' for the whole page */
  readonly heading: string;
}

/** The links to files of the project, and to headings of the same page. */
const linksOf = (page: string): readonly Link[] =>
  [...read(page).matchAll(/\]\(([^)#:\s]*)#?([^)\s]*)\)/g)]
    .filter(([whole]) => !whole.includes('://'))
    .map(([, path = '', heading = '']) => ({
      path: path === '' ? page : normalize(join(dirname(page), path)),
      heading,
    }));

/** What an element of HTML shows: pictures for a light and for a dark background. */
const picturesOf = (page: string): readonly string[] =>
  [...read(page).matchAll(/\b(?:src|srcset)="([^":]+)"/g)].map(([, path = '']) =>
    normalize(join(dirname(page), path)),
  );

const hasHeading = (path: string, heading: string): boolean =>
  heading === '' || headingsOf(path).includes(heading);

describe('the documents', () => {
  it('name every option that --help names, and no other', () => {
    const told = flagsIn(/^## Options\n[^]*?(?=^## )/m.exec(read('docs/configuration.md'))?.[0] ?? '');
    const known = flagsIn(help().split('\nExamples:')[0] ?? '').filter((flag) => flag !== '--all'); // of `help`
    expect(told.toSorted()).toEqual(known.toSorted());
  });

  it('name every command in docs/internals/commands.md', () => {
    expect(listedCommands.length).toBeGreaterThan(8);
    const text = read('docs/internals/commands.md');
    const named = new Set([...text.matchAll(/^ctxwrap (?:\[options\] )?([a-z]+)/gm)].map(([, name]) => name));
    expect(listedCommands.filter((name) => !named.has(name))).toEqual([]);
  });

  it('have a README of at most 120 lines of at most 120 characters', () => {
    const lines = read('README.md').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(120);
    expect(lines.filter(({ length }) => length > 120)).toEqual([]);
  });

  it('have links that lead to files and headings that are there', () => {
    const broken = pages.flatMap((page) =>
      linksOf(page)
        .filter(({ path, heading }) => !existsSync(fileOf(path)) || !hasHeading(path, heading))
        .map(({ path, heading }) => `${page}: ${path}#${heading}`),
    );
    expect(broken).toEqual([]);
  });

  it('begin with a picture for a light and for a dark background', () => {
    const pictures = picturesOf('README.md');
    expect(pictures.slice(0, 2)).toEqual(['dark', 'light'].map((name) => `docs/screens/claude-${name}.svg`));
    expect(pictures.filter((path) => !existsSync(fileOf(path)))).toEqual([]);
  });

  it('are eight pages for a user, and the table of agents', () => {
    const names = ['compacting', 'configuration', 'faq', 'footer', 'memory', 'safety', 'sessions', 'start'];
    expect(forUsers.toSorted()).toEqual(['agents', ...names].map((name) => `docs/${name}.md`));
  });

  it('are within one click of the README if a user needs them, and all within two', () => {
    const targetsOf = (page: string): readonly string[] => linksOf(page).map(({ path }) => path);
    const near = targetsOf('README.md').filter((path) => path.endsWith('.md'));
    const reached = new Set([...near, ...near.flatMap(targetsOf)]);
    const leftOut = ['requirements', 'evidence'].map((name) => `docs/internals/${name}.md`); // of the package
    expect(forUsers.filter((page) => !near.includes(page))).toEqual([]);
    expect(internals.filter((page) => !reached.has(page) && !leftOut.includes(page))).toEqual([]);
  });
});

describe('--help', () => {
  const commands = [[], ...listedCommands.map((name) => [name])];
  const configCommands = [...help('config').matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, name = '']) => name);
  const all = [
    ...commands,
    ...['show', 'set', 'unset', 'edit', 'check', 'init', 'path', 'schema'].map((name) => ['config', name]),
  ];

  it('lists the commands of config', () => {
    expect(configCommands).toEqual(expect.arrayContaining(all.flatMap(([, name]) => name ?? [])));
  });

  it.each(all)('%s %s fits into 80 columns, and has an example that ctxwrap takes', (...words) => {
    const text = help(...words.filter((word) => typeof word === 'string'));
    expect(text.split('\n').filter(({ length }) => length > 80)).toEqual([]);
    const [, examples = ''] = text.split(/^Examples?:\n/m);
    expect(examples).toContain(
      `ctxwrap ${words.filter((word) => typeof word === 'string').join(' ')}`.trim(),
    );
  });
});
