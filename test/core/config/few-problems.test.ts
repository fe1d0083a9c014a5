import { describe, expect, it } from 'vitest';
import {
  countProblems,
  limitProblems,
  problemAt,
  type Origin,
  type Problem,
} from '../../../src/core/config/problem.js';

const file: Origin = { layer: 'project', place: '/p/.ctxwrap.jsonc' };
const unknown = (index: number, origin: Origin = file): Problem =>
  problemAt(
    { ...origin, at: { line: index + 1, column: 1 } },
    { kind: 'unknown', level: 'error', key: `k${index}`, what: `k${index} is unknown`, why: 'no such key' },
  );
const many = (count: number, origin?: Origin): readonly Problem[] =>
  Array.from({ length: count }, (_, index) => unknown(index, origin));

describe('the problems of a configuration', () => {
  it('are all told where they are few', () => {
    expect(limitProblems(many(10))).toEqual(many(10));
    expect(limitProblems([])).toEqual([]);
  });

  it('are told up to ten of a kind, and the others counted', () => {
    const texts = { what: 'mode appears more than once', why: 'the last one is used' };
    const repeated = problemAt(file, { kind: 'repeated', level: 'warning', key: 'mode', ...texts });
    const few = limitProblems([...many(24_000), repeated]);
    expect(few.slice(0, -1)).toEqual([...many(10), repeated]);
    expect(few.at(-1)).toMatchObject({
      kind: 'unknown',
      level: 'error',
      what: '23990 more keys are unknown',
      origin: file,
    });
    expect(countProblems(few)).toBe(24_001);
    expect(limitProblems(few)).toHaveLength(few.length);
  });

  it('are counted for each file, and for the environment as one', () => {
    const user: Origin = { layer: 'user', place: '/u/config.jsonc' };
    const names = Array.from({ length: 30 }, (_, index) =>
      problemAt(
        { layer: 'env', place: `CTXWRAP_K${index}` },
        { kind: 'unknown', level: 'warning', what: `CTXWRAP_K${index} is unknown`, why: 'no such key' },
      ),
    );
    const few = limitProblems([...many(11), ...many(11, user), ...names]);
    const more = few.flatMap(({ more: count, level, origin }) =>
      count === undefined ? [] : [{ count, level, origin }],
    );
    expect(more).toEqual([
      { count: 1, level: 'error', origin: file },
      { count: 1, level: 'error', origin: user },
      { count: 20, level: 'warning', origin: { layer: 'env' } },
    ]);
  });
});
