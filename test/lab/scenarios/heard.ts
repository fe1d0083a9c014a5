// The same stories in a terminal that understands OSC 7501: an agent then tells its state there, and no longer in its title.
import { outputIn } from '../../../src/verify/keys.js';
import { must } from '../../../src/verify/certificate.js';
import type { Scenario } from './scenario.js';

export const MARK = ', OSC 7501';
const PATIENCE_MS = 5_000;

export const heard = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}${MARK}`,
  expects: 'the same in a terminal that understands OSC 7501: every report that the agent makes reaches it',
  isFor: (agent) => agent.tellsState && (scenario.isFor?.(agent) ?? true),
  hearsState: true,
  play: async (stage) => {
    const { terminal, cast } = stage;
    const evidence = await scenario.play(stage);
    const made = (): number => [...outputIn(cast()).matchAll(/\x1b\]7501;state=/g)].length;
    const areAllHeard = (): boolean => made() === terminal.states().length;
    await terminal.until(areAllHeard, "the agent's reports at the terminal, all of them", PATIENCE_MS);
    const isAsked = outputIn(cast()).includes('\x1b]7501;?');
    must(made() > 0 || !isAsked, 'the agent asked who hears its reports, and then made none');
    return `${made() > 0 ? `${made()} reports, all heard` : 'this version reports nothing'}; ${evidence}`;
  },
});
