import type { Event } from '../../core/event.js';
import { versionIn } from '../../runtimes/tested.js';

/** Which version writes the file, told once for each. */
export const versionTeller = ({ onFact }: { readonly onFact: (event: Event) => void }) => {
  let [seen, told]: (string | undefined)[] = [];
  return {
    see: (line: string): void => void (seen = versionIn(line) ?? seen),
    tell: (): void => {
      if (seen !== undefined && seen !== told) onFact({ type: 'agent-version', version: seen });
      told = seen;
    },
  };
};
