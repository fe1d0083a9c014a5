// What comments and pages name is there: pages and their headings, source files, scripts, commands and their options.
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agents } from '../src/agents/index.js';
import { commandWords, listedCommands } from '../src/cli/commands.js';
import { parseArguments } from '../src/cli/program.js';
import { commentsOf } from './support/comments.js';
import { headingsOf, projectFolder, readOwn } from './support/pages.js';

const below = (folder: string): readonly string[] =>
  readdirSync(join(projectFolder, folder), { recursive: true, encoding: 'utf8' }).map(
    (path) => `${folder}/${path}`,
  );
const files = [...below('src'), ...below('test'), ...below('docs')];
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...files.filter((path) => /^docs\/.*\.md$/.test(path)),
];
const sources = ['build.js', ...files].filter(
  (path) => /\.(?:tsx?|m?js)$/.test(path) && !path.startsWith('test/fixtures/'),
);

interface Text {
  readonly at: string;
  readonly text: string;
}

const comments = sources.flatMap((path) =>
  commentsOf(path, readOwn(path)).map((comment) => ({ ...comment, at: `${path}:${comment.line}` })),
);
/** The changelog tells of what was there once. */
const current: readonly Text[] = pages
  .filter((page) => page !== 'CHANGELOG.md')
  .flatMap((page) =>
    readOwn(page)
      .split('\n')
      .map((text, index) => ({ at: `${page}:${index + 1}`, text })),
  );

/** What of a text is wrong, one line each, so that a failure reads like a to-do list. */
const faultsIn = (
  texts: readonly Text[],
  pattern: RegExp,
  isThere: (found: RegExpMatchArray) => boolean,
): readonly string[] =>
  texts.flatMap(({ at, text }) =>
    [...text.matchAll(pattern)].filter((found) => !isThere(found)).map(([found]) => `${at}: ${found}`),
  );

const ofUsers = ['CLAUDE.md']; // files of a user's project
const PAGE = /((?:[\w.-]+\/)*[\w-]+\.md)\b((?:[ (,]*#[\w-]+)*)/g;

describe('a page that a comment cites', () => {
  it('is in the repository', () => {
    expect(comments.filter(({ text }) => text.includes('.md#')).length).toBeGreaterThan(50);
    const isThere = ([, page = '']: RegExpMatchArray): boolean =>
      pages.includes(page) || ofUsers.includes(page);
    expect(faultsIn(comments, PAGE, isThere)).toEqual([]);
  });

  it('has the headings that it names', () => {
    const isThere = ([, page = '', names = '']: RegExpMatchArray): boolean =>
      !pages.includes(page) ||
      (names.match(/[\w-]+/g) ?? []).every((name) => headingsOf(page).includes(name));
    expect(faultsIn(comments, PAGE, isThere)).toEqual([]);
    expect(faultsIn(comments, /\.md,? (?:§|")/g, () => false)).toEqual([]);
  });

  it('is in the repository where another page cites it', () => {
    const isThere = ([page]: RegExpMatchArray): boolean => pages.includes(page.replace('NAME', 'qwen'));
    expect(faultsIn(current, /\bdocs\/[\w/-]+\.md\b/g, isThere)).toEqual([]);
  });
});

const examples = ['a.ts', 'data.ts', 'src/options.ts', 'src/config.ts', 'src/main.ts'];

/** Also without the beginning of its path, and with NAME for any agent, version or recording. */
const hasFile = (named: string): boolean => {
  const [path = ''] = named.replace('agents/NAME', 'agents/qwen').split(/\/(?:NAME|VERSION)\b/);
  const isAlone = !path.includes('/');
  return (
    examples.includes(path) ||
    [path, `${path}.ts`, `${path}.test.ts`].some((each) =>
      isAlone
        ? files.some((file) => basename(file) === each)
        : existsSync(join(projectFolder, each)) || files.some((file) => file.endsWith(`/${each}`)),
    )
  );
};

describe('a source file', () => {
  const named =
    /(?<![\w/.~-])(?:(?:src|test)\/(?:[\w-]+[/.])*[\w-]+|(?:[\w-]+\/)*[\w-]+(?:\.test)?\.tsx?)\b/g;

  it.each([
    ['comment', comments],
    ['page', current],
  ])('that a %s names is there', (_, texts) => {
    expect(faultsIn(texts, named, ([path]) => hasFile(path))).toEqual([]);
  });
});

describe('a script of package.json', () => {
  const { scripts } = JSON.parse(readOwn('package.json'));
  const ofOthers = ['test:e2e', 'test:ci', 'test:browser']; // of a made-up project

  it.each([
    ['comment', comments],
    ['page', current],
  ])('that a %s names is there', (_, texts) => {
    const isThere = ([, name = '']: RegExpMatchArray): boolean => name in scripts || ofOthers.includes(name);
    expect(faultsIn(texts, /npm run ([\w:-]+)/g, isThere)).toEqual([]);
  });
});

const help = (...words: readonly string[]): string => {
  const request = parseArguments([...words, '--help'], '1');
  return request.kind === 'print' ? request.text : '';
};
const flagsIn = (text: string): readonly string[] => text.match(/(?<![\w-])--?[a-z][\w-]*/g) ?? [];

/** What is wrong with a command line of ctxwrap's: a word or an option that it does not know. */
const faultsOf = (line: string): readonly string[] => {
  const [whole = ''] = line.split(/\s(?:[#|>&;]|--\s|2>|\s)/);
  const words = whole.split(/\s+/).slice(1);
  const at = words.findIndex((word) => word in agents || commandWords.includes(word));
  const before = at < 0 ? words : words.slice(0, at);
  const unknown = flagsIn(before.join(' ')).filter((flag) => !flagsIn(help()).includes(flag));
  const [first = '', second = ''] = at < 0 ? before : words.slice(at);
  if (at < 0 && /^[a-z]/.test(first)) return [...unknown, first];
  if (!listedCommands.includes(first)) return unknown;
  const known = flagsIn(`${help()}\n${help(first)}\n${/^[a-z]+$/.test(second) ? help(first, second) : ''}`);
  return [...unknown, ...flagsIn(words.slice(at).join(' ')).filter((flag) => !known.includes(flag))];
};

/** Lines of blocks of code; `$ ` may stand before them. */
const blocksOf = (text: string): readonly string[] =>
  [...text.matchAll(/^```.*\n([^]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'));

describe('a command of ctxwrap', () => {
  const defined = /\b(?:mycode|toy|greet)\b/; // made up, as a user or a reader would
  const inWords = (text: string): readonly string[] =>
    [...text.matchAll(/`(ctxwrap [^`]+)`/g)].map(([, line = '']) => line);
  const faults = (texts: readonly Text[], linesOf: (text: string) => readonly string[]): readonly string[] =>
    texts.flatMap(({ at, text }) =>
      linesOf(text)
        .filter((line) => !defined.test(line) && !line.includes(': ')) // with a colon it is a message
        .flatMap((line) => faultsOf(line).map((fault) => `${at}: ${line}: ${fault}`)),
    );

  it('that a comment names is there, with its options', () => {
    expect(comments.flatMap(({ text }) => inWords(text)).length).toBeGreaterThan(50);
    expect(faults(comments, inWords)).toEqual([]);
  });

  it('that a page names is there, with its options', () => {
    const isOurs = (line: string): boolean => line.startsWith('ctxwrap ');
    const inBlocks = (text: string): readonly string[] =>
      blocksOf(text)
        .map((line) => line.replace(/^\$ /, ''))
        .filter(isOurs);
    const whole = pages
      .filter((page) => page !== 'CHANGELOG.md')
      .map((page) => ({ at: page, text: readOwn(page) }));
    expect(whole.flatMap(({ text }) => inBlocks(text)).length).toBeGreaterThan(50);
    expect([...faults(current, inWords), ...faults(whole, inBlocks)]).toEqual([]);
  });
});

describe('a docstring', () => {
  it('stands over what it describes', () => {
    expect(comments.filter(({ isDoc }) => isDoc).length).toBeGreaterThan(1000);
    expect(comments.filter(({ isOrphaned }) => isOrphaned).map(({ at, text }) => `${at}: ${text}`)).toEqual(
      [],
    );
  });
});
