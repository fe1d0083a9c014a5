import type { Key } from './keys.js';
import type { AgentStep, Step } from './script.js';

/** Somebody who plays a script: the user's keys and what the agent is told to do. */
export interface Player {
  readonly steps: readonly Step[];
  /** characters of the current `type` step that are typed already */
  readonly typed: number;
  /** nothing happens before; virtual milliseconds like every time of the demo */
  readonly notBefore: number;
}

/** What a player can see of the agent. */
export type Mood = 'idle' | 'busy' | 'dialog';

export type Move =
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'told'; readonly step: AgentStep };

export const playerOf = (steps: readonly Step[]): Player => ({ steps, typed: 0, notBefore: 0 });

export interface Played {
  readonly player: Player;
  readonly move?: Move;
}

/** The next move that is due, or the same player when there is none. At most one, so that the agent can answer it. */
export const play = (player: Player, mood: Mood, now: number): Played => {
  const [step] = player.steps;
  if (!step || now < player.notBefore) return { player };
  switch (step.step) {
    case 'type':
      return typeOne(player, step, now);
    case 'key':
      return { player: next(player), move: { type: 'key', key: { name: step.key } } };
    case 'wait':
      if ('ms' in step) return { player: { ...next(player), notBefore: now + step.ms } };
      return { player: mood === step.until ? next(player) : player };
    default:
      return { player: next(player), move: { type: 'told', step } };
  }
};

/** When the player wants to be asked again; undefined if it waits for the agent or has ended. */
export const playerDeadline = (player: Player, mood: Mood): number | undefined => {
  const [step] = player.steps;
  if (!step || (step.step === 'wait' && 'until' in step && step.until !== mood)) return undefined;
  return player.notBefore;
};

const typeOne = (player: Player, step: Extract<Step, { step: 'type' }>, now: number): Played => {
  const text = Array.from(step.text)[player.typed];
  if (text === undefined) return { player: next(player) };
  return {
    player: { ...player, typed: player.typed + 1, notBefore: now + step.everyMs },
    move: { type: 'key', key: { name: 'text', text } },
  };
};

const next = (player: Player): Player => ({ ...player, steps: player.steps.slice(1), typed: 0 });
