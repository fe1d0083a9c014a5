import { describe, expect, it } from 'vitest';
import { makeQueryQueue } from '../../src/terminal/mode-tracker.js';

describe('answers of the terminal', () => {
  it('belong to the oldest query', () => {
    const questions = makeQueryQueue();
    questions.add('R', false);
    questions.add('R', true);
    expect([questions.takeAnswer('R'), questions.takeAnswer('R'), questions.takeAnswer('R')]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('show that an older query of another kind will get no answer', () => {
    const questions = makeQueryQueue();
    questions.add('c', true);
    questions.add('R', true);
    expect(questions.takeAnswer('R')).toBe(true);
    expect(questions.ownCount()).toBe(0);
    expect(questions.takeAnswer('c')).toBe(false);
  });

  it('that never come do not make the queue grow without limit', () => {
    const questions = makeQueryQueue();
    for (let count = 0; count < 1000; count += 1) questions.add('R', true);
    expect(questions.ownCount()).toBeLessThan(100);
  });

  it('to a query of the wrapper go to the wrapper however late they come, unless a key sends the same bytes', () => {
    let now = 0;
    const questions = makeQueryQueue(() => now);
    for (const final of ['c', 'R', 'R']) questions.add(final, true);
    now = 30_000;
    expect(questions.ownCount()).toBe(0);
    expect(questions.hasOpenOwnQuery()).toBe(true);
    expect(questions.takeAnswer('R', true)).toBe(false);
    expect([questions.takeAnswer('c'), questions.takeAnswer('R'), questions.takeAnswer('R')]).toEqual([
      true,
      true,
      true,
    ]);
    expect(questions.hasOpenOwnQuery()).toBe(false);
    expect(questions.takeAnswer('R')).toBe(false);
  });

  it('go to the child when the wrapper’s query was unanswered long before, and the next one to the wrapper', () => {
    let now = 0;
    const questions = makeQueryQueue(() => now);
    questions.add('R', true);
    now = 10_000;
    questions.add('R', false);
    expect([questions.takeAnswer('R'), questions.takeAnswer('R'), questions.takeAnswer('R')]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('are assigned correctly after thousands of queries of the child', () => {
    const questions = makeQueryQueue();
    for (let count = 0; count < 3000; count += 1) questions.add('R', false);
    questions.add('R', true);
    const owners = Array.from({ length: 3001 }, () => questions.takeAnswer('R'));
    expect(owners.indexOf(true)).toBe(3000);
  });
});
