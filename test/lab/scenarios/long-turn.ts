// A long turn of the agent, during which something else happens.
import type { RecordedRequest } from '../../../src/verify/mock/server.js';
import type { LabSession } from './scenario.js';

// No two lines are equal, because Gemini stops a model that repeats itself.
const LINES = Array.from({ length: 40 }, (_, index) => `${index}. ${(index * 7919 + 1e7).toString(36)}\n`);

/**
 * Starts a long turn; `pieceMs` is the pause between two of its lines. The returned function tells how the turn ended; undefined while it
 * runs.
 */
export const startLongTurn = async (
  { mock, submit, untilRequest }: LabSession,
  pieceMs: number,
): Promise<() => RecordedRequest['end']> => {
  mock.configure({ turn: { pieces: LINES.length, spreadMs: LINES.length * pieceMs, text: LINES.join('') } });
  await submit('go on at length');
  const isIt = ({ said, purpose }: RecordedRequest): boolean =>
    purpose === 'turn' && said.includes('at length');
  await untilRequest(isIt, 'the long question');
  return () => mock.requests().findLast(isIt)?.end;
};
