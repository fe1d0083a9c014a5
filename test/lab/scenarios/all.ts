import type { Agent } from '../../../src/agents/agent.js';
import { definitionOf } from '../agents/agent.js';
import { altKeys } from './alt-keys.js';
import { asked } from './asked.js';
import { channels } from './channel.js';
import { claudeViews } from './claude-views.js';
import { naming } from './commands.js';
import { background } from './background.js';
import { named } from './cold.js';
import { ending } from './ends.js';
import { drafts } from './drafts.js';
import { growing } from './grow.js';
import { hooks } from './hooks.js';
import { osc7501Scenarios, MARK } from './osc7501.js';
import { limits } from './limits.js';
import { models } from './models.js';
import { ownLimits } from './own-limit.js';
import { places } from './places.js';
import { pictures } from './pictures.js';
import { planted } from './planted.js';
import type { Scenario } from './scenario.js';
import { waiting } from './slow.js';
import { recalling } from './recall.js';
import { rescuing } from './rescue.js';
import { viewsOfOthers } from './views-of-others.js';
import { undoTraps } from './undo-traps.js';
import { undoing } from './undo.js';
import { views } from './views.js';

/** Scenarios of one kind: a column of the table. */
export interface Group {
  readonly name: string;
  readonly scenarios: readonly Scenario[];
}

const HEARD = ['idle', 'busy', 'permission dialog', 'draft'];

const onlyFor = (isAble: (agent: Agent) => boolean, all: readonly Scenario[]): readonly Scenario[] =>
  all.map((scenario) => ({
    ...scenario,
    isFor: (agent) => {
      const definition = definitionOf(agent);
      return definition !== undefined && isAble(definition) && (scenario.isFor?.(agent) ?? true);
    },
  }));

/** Only for agents whose sessions ctxwrap reads as conversations. */
const reading = (all: readonly Scenario[]): readonly Scenario[] =>
  onlyFor(({ log }) => log?.conversation !== undefined, all);

/** Only for agents whose sessions ctxwrap reads, and writes new ones. */
const writing = (all: readonly Scenario[]): readonly Scenario[] =>
  onlyFor(({ newSessions }) => newSessions !== undefined, all);

export const groups: readonly Group[] = [
  { name: 'full window', scenarios: growing },
  { name: 'slow summary', scenarios: waiting },
  { name: 'asked for', scenarios: asked },
  { name: 'other places', scenarios: places },
  { name: 'in the background', scenarios: background },
  { name: 'other ends', scenarios: ending },
  { name: 'limits', scenarios: limits },
  { name: 'other model', scenarios: models },
  { name: 'a limit in a million', scenarios: ownLimits },
  { name: 'hooks', scenarios: hooks },
  { name: 'undo', scenarios: writing([...undoing, ...undoTraps]) },
  { name: 'drafts', scenarios: reading(drafts) },
  { name: 'rescue', scenarios: writing(rescuing) },
  { name: 'recall', scenarios: reading(recalling) },
  { name: 'kept facts', scenarios: writing(planted) },
  { name: 'control channel', scenarios: channels },
  { name: 'what is in view', scenarios: [...views, ...claudeViews] },
  { name: 'Alt keys', scenarios: altKeys },
  { name: 'commands', scenarios: naming },
  { name: 'other conversations', scenarios: viewsOfOthers },
  { name: 'OSC 7501', scenarios: growing.filter(({ name }) => HEARD.includes(name)).map(osc7501Scenarios) },
];

export const scenarios: readonly Scenario[] = groups.flatMap((group) => group.scenarios);

/**
 * Also finds scenarios that are in no table: those that take very long or are played for their recording, and any scenario can run in a terminal that supports OSC 7501, for example `draft put aside, OSC
 * 7501`.
 */
export const scenarioNamed = (name: string): Scenario | undefined => {
  const found = [...scenarios, ...named, ...pictures].find((each) => each.name === name);
  if (found || !name.endsWith(MARK)) return found;
  const plain = scenarioNamed(name.slice(0, -MARK.length));
  return plain && osc7501Scenarios(plain);
};
