import { describe, expect, it } from 'vitest';
import { present } from '../../src/core/present.js';

describe('fields that may be undefined', () => {
  it('are left out where they are, and kept where they only look empty', () => {
    const unknown = undefined as number | undefined;
    expect(
      Object.keys({ ...{ used: 5 }, ...present({ used: unknown, window: 0, model: '', shown: false }) }),
    ).toEqual(['used', 'window', 'model', 'shown']);
    expect({ ...{ used: 5 }, ...present({ used: unknown }) }).toStrictEqual({ used: 5 });
  });
});
