import { startAgent, type Agent, type Effect, type Event } from './agent.js';
import type { Brush } from './draw.js';
import { play, playerDeadline, playerOf, type Player } from './player.js';
import type { Step } from './script.js';
import { deadline, moodOf, step } from './step.js';

/** The agent and whoever plays the script with it. */
export interface Demo {
  readonly agent: Agent;
  readonly player: Player;
}

export interface Advanced {
  readonly demo: Demo;
  readonly effects: readonly Effect[];
}

export const startDemo = (brush: Brush, steps: readonly Step[]): Demo => ({
  agent: startAgent(brush),
  player: playerOf(steps),
});

/** One event, and then every move of the script that is due because of it. */
export const advance = (demo: Demo, event: Event, now: number): Advanced => {
  const first = step(demo.agent, event, now);
  let current: Demo = { ...demo, agent: first.agent };
  const effects = [...first.effects];
  for (;;) {
    const { player, move } = play(current.player, moodOf(current.agent), now);
    if (player === current.player) return { demo: current, effects };
    const next = move ? step(current.agent, move, now) : { agent: current.agent, effects: [] };
    effects.push(...next.effects);
    current = { agent: next.agent, player };
  }
};

/** When time changes something next; undefined if only events can. */
export const demoDeadline = ({ agent, player }: Demo, now: number): number | undefined => {
  const dues = [deadline(agent, now), playerDeadline(player, moodOf(agent))].filter(
    (due) => due !== undefined,
  );
  return dues.length === 0 ? undefined : Math.min(...dues);
};
