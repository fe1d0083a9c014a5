import type { Seen } from '../../src/agents/agent.js';
import { makeScreen } from '../../src/terminal/screen.js';

/** The screen after these bytes, as the wrapper sees it. */
export const seenAfter = async (output: string, size = { columns: 80, rows: 12 }): Promise<Seen> => {
  const screen = makeScreen(size, () => '');
  screen.feed(Buffer.from(output));
  await screen.settled();
  const seen = screen.seen();
  if (!seen) throw new Error('there is no screen');
  return seen;
};
