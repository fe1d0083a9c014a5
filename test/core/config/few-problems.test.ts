import { describe, expect, it } from 'vitest';
import { countProblems, limitProblems } from '../../../src/core/config/check.js';
import type { Origin, Problem } from '../../../src/core/config/merge.js';

const file: Origin = { layer: 'project', place: '/p/.ctxwrap.jsonc' };
const unknown = (index: number, origin: Origin = file): Problem => ({
  kind: 'unknown',
  level: 'error',
  key: `k${index}`,
  origin: { ...origin, at: { line: index + 1, column: 1 } },
});
const many = (count: number, origin?: Origin): readonly Problem[] =>
  Array.from({ length: count }, (_, index) => unknown(index, origin));

describe('the problems of a configuration', () => {
  it('are all told where they are few', () => {
    expect(limitProblems(many(10))).toEqual(many(10));
    expect(limitProblems([])).toEqual([]);
  });

  it('are told up to ten of a kind, and the others counted', () => {
    const repeated: Problem = { kind: 'repeated', level: 'warning', key: 'mode', origin: file };
    const few = limitProblems([...many(24_000), repeated]);
    expect(few).toEqual([
      ...many(10),
      repeated,
      { kind: 'more', level: 'error', of: 'unknown', count: 23_990, origin: file },
    ]);
    expect(countProblems(few)).toBe(24_001);
    expect(limitProblems(few)).toHaveLength(few.length);
  });

  it('are counted for each file, and for the environment as one', () => {
    const user: Origin = { layer: 'user', place: '/u/config.jsonc' };
    const names = Array.from({ length: 30 }, (_, index): Problem => ({
      kind: 'unknown',
      level: 'warning',
      key: `CTXWRAP_K${index}`,
      origin: { layer: 'env', place: `CTXWRAP_K${index}` },
    }));
    const few = limitProblems([...many(11), ...many(11, user), ...names]);
    expect(few.filter(({ kind }) => kind === 'more')).toEqual([
      { kind: 'more', level: 'error', of: 'unknown', count: 1, origin: file },
      { kind: 'more', level: 'error', of: 'unknown', count: 1, origin: user },
      { kind: 'more', level: 'warning', of: 'unknown', count: 20, origin: { layer: 'env' } },
    ]);
  });
});
