import type { AgentScreen, ScreenEvidence, ScreenResult } from '../../src/agents/agent.js';
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

/** What an agent's reader tells of these screens, one after another, a second apart. */
export const readScreens = async (
  { reader }: Pick<AgentScreen, 'reader'>,
  screens: readonly Promise<ScreenEvidence>[],
): Promise<readonly ScreenResult[]> => {
  const results: ScreenResult[] = [];
  let read = reader({});
  for (const [index, screen] of screens.entries()) {
    const result = read(await screen, index * 1_000);
    results.push(result);
    read = result.next;
  }
  return results;
};
