import { describe, expect, it } from 'vitest';
import { makeQuestions } from '../../src/terminal/questions.js';

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
});
