import { describe, expect, it } from 'vitest';
import { present } from '../../src/core/present.js';

describe('fields that may be undefined', () => {
  const unknown = undefined as number | undefined;

  it('are left out where they are', () => {
    expect(present({ used: unknown, window: 200_000 })).toStrictEqual({ window: 200_000 });
  });

  it('are kept where they only look empty', () => {
    const fields = { window: 0, model: '', shown: false, cache: null };
    expect(present(fields)).toStrictEqual(fields);
  });
});
