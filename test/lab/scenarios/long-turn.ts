// A turn of the agent that goes on for long, so that something can happen meanwhile.
import type { Asked } from '../../../src/verify/mock/server.js';
import type { Stage } from './scenario.js';

// No two lines alike: Gemini stops a model that repeats itself.
const LINES = Array.from({ length: 40 }, (_, index) => `${index}. ${(index * 7919 + 1e7).toString(36)}\n`);

/** Begins one; `pieceMs` is the pause between two of its lines. What it gives tells how the turn ended, undefined while it goes on. */
export const workAtLength = async (
  { mock, say, untilAsked }: Stage,
  pieceMs: number,
): Promise<() => Asked['end']> => {
  mock.control({ turn: { pieces: LINES.length, spreadMs: LINES.length * pieceMs, text: LINES.join('') } });
  await say('go on at length');
  const isIt = ({ said, purpose }: Asked): boolean => purpose === 'turn' && said.includes('at length');
  await untilAsked(isIt, 'the long question');
  return () => mock.asked().findLast(isIt)?.end;
};
