import { expect, it } from 'vitest';
import { makeEnterTimes } from '../../src/worker/session-choice.js';

const after = (...times: readonly number[]) => {
  const enters = makeEnterTimes();
  for (const at of times) enters.note(at);
  return [enters.first(), enters.last()];
};

it('remembers the last Enter, and the first of those that followed one another within two seconds of it', () => {
  expect(after()).toEqual([undefined, undefined]);
  expect(after(1_000)).toEqual([1_000, 1_000]);
  expect(after(1_000, 1_200, 2_900)).toEqual([1_000, 2_900]);
  expect(after(1_000, 2_900, 3_100)).toEqual([2_900, 3_100]);
  expect(after(1_000, 9_000)).toEqual([9_000, 9_000]);
});

it('forgets times that a clock which was set back has not reached yet', () => {
  expect(after(9_000, 1_000)).toEqual([1_000, 1_000]);
});
