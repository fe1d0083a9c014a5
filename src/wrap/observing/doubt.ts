// Whether the agent that has drawn the screen is still there. One that was killed leaves its last frame, and what another program reads
// next must not be typed on it.
import type { Activity } from '../../core/activity.js';
import type { Seen } from '../../runtimes/seen.js';

export interface DoubtPorts {
  /** who reads the child's terminal, as `terminalReaders` tells */
  readonly readers: () => readonly string[] | undefined;
}

/** Asked at each look. */
export interface Doubt {
  /**
   * Why the screen may not be believed, though the agent's own rows are on it. `isFresh`: the child has written since the last look, so
   * that whoever reads its terminal now was there when it did.
   */
  readonly about: (activity: Activity, seen: Seen, isFresh: boolean) => string | undefined;
}

const witnesses = [
  ['its status file', ({ status }: Seen) => status !== undefined],
  ['its title', ({ signals }: Seen) => (signals.title ?? '') !== ''],
  ['its state (OSC 7501)', ({ signals }: Seen) => /^state=(?!clear)/.test(signals.agentState ?? '')],
] as const;

export const makeDoubt = ({ readers }: DoubtPorts): Doubt => {
  let spoken = new Set<string>();
  let agents: readonly string[] | undefined;
  let helpers: readonly string[] = [];
  let before: readonly string[] | undefined; // at the look before
  let young: readonly string[] = []; // first seen when the agents were found

  /** A source that has spoken once and does not any more. */
  const silent = (activity: Activity, seen: Seen): string | undefined => {
    const speaking = witnesses.filter(([, speaks]) => speaks(seen)).map(([name]) => name);
    const missing = [...spoken].find((name) => !speaking.some((each) => each === name));
    if (missing === undefined && activity !== 'unknown') spoken = new Set([...spoken, ...speaking]);
    return missing === undefined ? undefined : `${missing} has gone`;
  };
  /**
   * A dead agent draws nothing more: whoever is there when one begins to work is the agent. Those that come later and are there while it
   * draws are its helpers, and may go. So may a process that is there at one look only: each that an agent starts has its terminal for a
   * moment, before it is given a pipe.
   */
  const replaced = (activity: Activity, isFresh: boolean): string | undefined => {
    const now = readers();
    if (now === undefined) return undefined;
    const steady = before ? now.filter((each) => before?.includes(each)) : now;
    if (agents) agents = [...agents, ...young.filter((each) => now.includes(each))];
    [before, young] = [now, []];
    const isWhole = (): boolean => agents?.every((each) => now.includes(each)) === true;
    const begins = activity === 'busy' || (agents === undefined && activity !== 'unknown');
    if (isFresh && !isWhole() && begins && steady.length > 0) {
      [agents, helpers] = [steady, now];
      young = now.filter((each) => !steady.includes(each));
    }
    if (agents === undefined) return undefined;
    if (isFresh && isWhole()) helpers = now;
    const isKnown = isWhole() && now.every((each) => agents?.includes(each) || helpers.includes(each));
    return isKnown ? undefined : 'another program reads its terminal';
  };
  return {
    about: (activity, seen, isFresh) => {
      const reasons = [silent(activity, seen), replaced(activity, isFresh)];
      return reasons.find((reason) => reason !== undefined);
    },
  };
};
