// What a user of a full window may not know yet: facts, seldom, and never while there is something to be said about a compaction.
import type { Activity } from './activity.js';
import type { Event } from './event.js';
import type { Tier } from './ladder.js';
import type { NoticeWish } from './notices.js';

/** How this agent's window can be emptied. */
export interface TipWays {
  /** the agent's own command */
  readonly command: string;
  /** how we are asked to type it */
  readonly ask: string;
}

export interface Tips {
  readonly ways: TipWays;
  /** prompts that were sent since the start; a turn of the agent shows one */
  readonly prompts: number;
  /** of them, before this conversation */
  readonly before: number;
  readonly conversation?: string;
  /** the agent has been at rest since its last turn */
  readonly isRested: boolean;
  /** after which prompt each one was shown last */
  readonly shown: Readonly<Partial<Record<TipName, number>>>;
}

/** What decides whether a tip fits. */
export interface TipSight {
  readonly tier: Tier | undefined;
  readonly activity: Activity;
  /** the footer says nothing else */
  readonly isQuiet: boolean;
}

type TipName = 'intro' | 'high' | 'critical';

interface Tip extends NoticeWish {
  readonly name: TipName;
  /** in prompts; whoever has seen it a few times does not read it any more */
  readonly cooldown: number;
}

const LEAST_PROMPTS = 10; // between two tips of any kind
const SETTLED_PROMPTS = 5; // a conversation that fills the window at once is not told how to begin

export const startTips = (ways: TipWays): Tips => ({
  ways,
  prompts: 0,
  before: 0,
  isRested: true,
  shown: {},
});

/** After an event: a turn that begins after a rest was a prompt. */
export const hearTips = (tips: Tips, event: Event): Tips => {
  if (event.type === 'session-changed') return inConversation(tips, event.sessionId);
  if (event.type !== 'activity') return tips;
  switch (event.report.activity) {
    case 'ready':
    case 'draft':
      return { ...tips, isRested: true };
    case 'busy':
      return tips.isRested ? { ...tips, isRested: false, prompts: tips.prompts + 1 } : tips;
    default:
      return tips;
  }
};

/** The first name is that of the conversation that is already on. */
const inConversation = (tips: Tips, conversation: string): Tips => {
  const before =
    tips.conversation === undefined || tips.conversation === conversation ? tips.before : tips.prompts;
  return { ...tips, conversation, before };
};

/** The tip that fits now, and the state in which it counts as shown. */
export const tipAt = (
  tips: Tips,
  sight: TipSight,
): { readonly tips: Tips; readonly tip: NoticeWish } | undefined => {
  const { tier, activity, isQuiet } = sight;
  if (!isQuiet || (activity !== 'ready' && activity !== 'draft')) return undefined;
  const tip = tipFor(tier, tips);
  if (!tip || isTooSoon(tips, tip)) return undefined;
  const { name, text, priority } = tip;
  return { tips: { ...tips, shown: { ...tips.shown, [name]: tips.prompts } }, tip: { text, priority } };
};

const isTooSoon = ({ shown, prompts }: Tips, { name, cooldown }: Tip): boolean => {
  const last = Math.max(-Infinity, ...Object.values(shown));
  return prompts < last + LEAST_PROMPTS || prompts < (shown[name] ?? -Infinity) + cooldown;
};

// The bands do not overlap: of the tiers there is always one.
const tipFor = (tier: Tier | undefined, { ways, prompts, before }: Tips): Tip | undefined => {
  const { ask, command } = ways;
  switch (tier) {
    case 'warn':
      if (prompts - before <= SETTLED_PROMPTS) return undefined;
      return { name: 'intro', priority: 50, cooldown: 40, text: `window at warn: ${ask} compacts` };
    case 'auto':
      return { name: 'high', priority: 90, cooldown: 20, text: `window at auto: ${ask} compacts` };
    case 'hard':
      return {
        name: 'critical',
        priority: 100,
        cooldown: 10,
        text: `window at hard: ${command} frees space`,
      };
    default:
      return undefined;
  }
};
