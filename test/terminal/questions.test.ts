import { describe, expect, it } from 'vitest';
import { makeQuestions } from '../../src/terminal/modes.js';

describe('answers of the terminal', () => {
  it('belong to whoever asked first', () => {
    const questions = makeQuestions();
    questions.ask('R', false);
    questions.ask('R', true);
    expect([questions.take('R'), questions.take('R'), questions.take('R')]).toEqual([false, true, false]);
  });

  it('show that an older question of another kind will get none', () => {
    const questions = makeQuestions();
    questions.ask('c', true);
    questions.ask('R', true);
    expect(questions.take('R')).toBe(true);
    expect(questions.open()).toBe(0);
    expect(questions.take('c')).toBe(false);
  });

  it('do not pile up in a terminal that never answers', () => {
    const questions = makeQuestions();
    for (let count = 0; count < 1000; count += 1) questions.ask('R', true);
    expect(questions.open()).toBeLessThan(100);
  });

  it('to a question of ours are ours however late they come, unless a key writes the same', () => {
    let now = 0;
    const questions = makeQuestions(() => now);
    for (const final of ['c', 'R', 'R']) questions.ask(final, true);
    now = 30_000;
    expect(questions.open()).toBe(0);
    expect(questions.isUnanswered()).toBe(true);
    expect(questions.take('R', true)).toBe(false);
    expect([questions.take('c'), questions.take('R'), questions.take('R')]).toEqual([true, true, true]);
    expect(questions.isUnanswered()).toBe(false);
    expect(questions.take('R')).toBe(false);
  });

  it('are the child’s when ours had none long before it asked, and the next one is ours', () => {
    let now = 0;
    const questions = makeQuestions(() => now);
    questions.ask('R', true);
    now = 10_000;
    questions.ask('R', false);
    expect([questions.take('R'), questions.take('R'), questions.take('R')]).toEqual([false, true, false]);
  });

  it('are told apart behind thousands of questions of the child’s', () => {
    const questions = makeQuestions();
    for (let count = 0; count < 3000; count += 1) questions.ask('R', false);
    questions.ask('R', true);
    const owners = Array.from({ length: 3001 }, () => questions.take('R'));
    expect(owners.indexOf(true)).toBe(3000);
  });
});
