import type { ScreenEvidence } from '../../src/agents/agent.js';
import { makeScreenModel } from '../../src/terminal/screen-model.js';

/** The screen after these bytes, as the wrapper sees it. */
export const seenAfter = async (
  output: string,
  size = { columns: 80, rows: 12 },
): Promise<ScreenEvidence> => {
  const screen = makeScreenModel(size, () => '');
  screen.feed(Buffer.from(output));
  await screen.settled();
  const seen = screen.snapshot();
  if (!seen) throw new Error('there is no screen');
  return seen;
};
