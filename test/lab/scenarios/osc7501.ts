// The same scenarios in a terminal that supports OSC 7501: an agent then reports its state there, and no longer in its title.
import { outputIn } from '../../../src/verify/keys.js';
import { assertThat } from '../../../src/verify/checks.js';
import type { Scenario } from './scenario.js';

export const MARK = ', OSC 7501';
const PATIENCE_MS = 5_000;

export const osc7501Scenarios = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}${MARK}`,
  expects: 'the same in a terminal that understands OSC 7501: every report that the agent makes reaches it',
  isFor: (agent) => agent.tellsState && (scenario.isFor?.(agent) ?? true),
  hearsState: true,
  play: async (session) => {
    const { terminal, cast } = session;
    const evidence = await scenario.play(session);
    const made = (): number => [...outputIn(cast()).matchAll(/\x1b\]7501;state=/g)].length;
    const areAllHeard = (): boolean => made() === terminal.states().length;
    await terminal.until(areAllHeard, "the agent's reports at the terminal, all of them", PATIENCE_MS);
    const isAsked = outputIn(cast()).includes('\x1b]7501;?');
    assertThat(made() > 0 || !isAsked, 'the agent asked who hears its reports, and then made none');
    return `${made() > 0 ? `${made()} reports, all heard` : 'this version reports nothing'}; ${evidence}`;
  },
});
