import { describe, expect, it } from 'vitest';
import { matchInTime, matchRow, parsePattern } from '../../src/agents/defined/pattern.js';
import { makeTimeLimit } from '../../src/cli/time-limit.js';
import { define, least } from '../support/defined.js';
import { seenAfter } from '../support/drawn-screen.js';

const ENDLESS = '^(?:a+)+$';
const row = `${'a'.repeat(40)}!`;

describe('a pattern that a user may give', () => {
  it.each([
    ['(unclosed', 'nterminated'],
    ['', 'empty'],
    ['x'.repeat(201), 'longer than 200'],
  ])('%s is refused with the reason', (source, reason) => {
    expect(() => parsePattern(source)).toThrow(reason);
  });

  it('sees the first 512 characters of one row, whose ends are ^ and $', () => {
    const { pattern, groups } = parsePattern('^a*(b)?');
    expect(matchRow(pattern, `${'a'.repeat(511)}b`)?.[1]).toBe('b');
    expect(matchRow(pattern, `${'a'.repeat(512)}b`)?.[1]).toBeUndefined();
    expect(groups).toBe(1);
  });
});

describe('patterns under a time limit', () => {
  const limit = makeTimeLimit();

  it('are ended when they take too long, and the one that does so is named', () => {
    const patterns = ['^b', ENDLESS].map((source) => parsePattern(source).pattern);
    const work = () => patterns.map((pattern) => matchRow(pattern, row));
    expect(() => matchInTime(limit, { patterns, texts: () => [row] }, work)).toThrow(
      'the pattern /^(?:a+)+$/u takes too long',
    );
  });

  it('give what they give, and throw what they throw', () => {
    const nothing = { patterns: [], texts: () => [] };
    expect(matchInTime(limit, nothing, () => 42)).toBe(42);
    const broken = () => {
      throw new Error('broken');
    };
    expect(() => matchInTime(limit, nothing, broken)).toThrow('broken');
  });

  it('are tried again where none is slow by itself: the machine was', () => {
    let times = 0;
    const sleepy = <T>(work: () => T) => ((times += 1) === 1 ? undefined : { value: work() });
    expect(matchInTime(sleepy, { patterns: [/a/u], texts: () => [row] }, () => 'read')).toBe('read');
    expect(() =>
      matchInTime(
        () => undefined,
        { patterns: [], texts: () => [] },
        () => 0,
      ),
    ).toThrow('its patterns take too long');
  });

  it('end the reading of a screen and of its prompt, so that nothing is taken for known', async () => {
    const seen = await seenAfter(row);
    const sign = { region: 'first-rows:5', pattern: ENDLESS };
    const { screen } = define({ ...least, activity: { dialog: [sign] }, prompt: '^> (.*)$' });
    expect(() => screen?.reader({})(seen, 7)).toThrow('takes too long');
    expect(() => screen?.prompt?.(seen)).toThrow('takes too long');
  });

  it('leave a model without a window, say so with its number, and are not used again', () => {
    const log = { globs: '~/x', used: 'used', model: 'model' };
    const { log: file } = define({ ...least, log, window: [{ pattern: ENDLESS, tokens: 5_000 }] });
    const line = (model: string): string => JSON.stringify({ used: 10, model });
    const first = file?.reader({})(line(row), 0);
    expect(first).toMatchObject({ facts: [{ reading: { usedTokens: 10 } }] });
    expect(first?.misfit).toContain('takes too long');
    const second = first?.next(line('aaa'), 0);
    expect(second?.facts).toEqual([
      { type: 'reading', reading: { usedTokens: 10, model: 'aaa', source: 'log', at: 0 } },
    ]);
    expect(second?.misfit).toContain('takes too long');
  });
});
