// `npm run docs:requirements` writes the page anew.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder } from '../support/pages.js';
import { sources } from './index.js';
import { requirementsPage } from './page.js';
import { namesOf } from './test-names.js';

const items = sources.flatMap((source) => source.items);

describe('the requirements', () => {
  it.each(sources)('of $prefix have one row each, in order', ({ prefix, count, items: rows }) => {
    const digits = prefix === 'C' ? 1 : 2;
    const wanted = Array.from(
      { length: count },
      (_, index) => `${prefix}.${`${index + 1}`.padStart(digits, '0')}`,
    );
    expect(rows.map(({ id }) => id)).toEqual(wanted);
  });

  it('are 123 of five designs, and 12 of the product', () => {
    const counted = (isProduct: boolean): number =>
      items.filter(({ id }) => id.startsWith('C.') === isProduct).length;
    expect([counted(false), counted(true)]).toEqual([123, 12]);
  });

  it('are each said in a sentence, with a reason where they do not work as asked', () => {
    const isSentence = (text: string): boolean =>
      /^(?:[A-Z`]|ctxwrap ).*[.?]$/.test(text) && !text.includes('\n');
    expect(items.filter(({ asks }) => !isSentence(asks)).map(({ id }) => id)).toEqual([]);
    expect(
      items.filter(({ verdict, why }) => (verdict === 'works') !== (why === undefined)).map(({ id }) => id),
    ).toEqual([]);
    expect(items.filter(({ why }) => why !== undefined && !isSentence(why)).map(({ id }) => id)).toEqual([]);
  });

  it('are each shown by tests that are there, named so that no other is meant', () => {
    expect(items.filter(({ shownBy }) => shownBy.length < 1).map(({ id }) => id)).toEqual([]);
    const wrong = items.flatMap(({ id, shownBy }) =>
      shownBy.flatMap((evidence) => {
        const names = namesOf(evidence);
        return names.length === 1
          ? []
          : `${id}: ${evidence.join(': ')} is ${names.join(' or ') || 'not there'}`;
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('are in the documentation as they are', async () => {
    await expect(requirementsPage(sources)).toMatchFileSnapshot(
      join(projectFolder, 'docs/internals/requirements.md'),
    );
  });
});
