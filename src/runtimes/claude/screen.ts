// Claude Code's screen as a source: how full the window is, how large, what it is doing, and compactions it shows.
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import { screenReader } from '../runtime.js';
import type { AgentScreen, Env, Seeing, Seen } from '../runtime.js';
import { activityOf, habitsAfter } from './activity.js';
import type { Habits } from './activity.js';
import { claimOf, hasBanner, namedAfter } from './banner.js';
import type { Named } from './banner.js';
import { compactingOn, endOf } from './compaction-end.js';
import type { Compacting } from './compaction-end.js';
import { layoutOf, rowsBelow } from './layout.js';
import type { Layout } from './layout.js';
import { shownPercent } from './shown-percent.js';
import { readStatus } from './status.js';
import { basisTokensOf, compactionWindow } from './window.js';

interface ClaudeScreen {
  readonly env: Env;
  readonly habits: Habits;
  readonly named: Named;
  readonly compacting?: Compacting;
}

const CLAUDE_TITLE = /^[✳⠂⠐] /;
const FIRST_QUESTIONS = /^ {1,2}(?:Accessing workspace:|Detected a custom API key in your environment)$/;

const recognises = ({ screen, signals }: Seen): boolean => {
  const layout = layoutOf(screen);
  if (layout.kind === 'none') return false;
  if (layout.kind === 'panel' && FIRST_QUESTIONS.test(rowsBelow(screen, layout.bar)[0] ?? '')) return true;
  return CLAUDE_TITLE.test(signals.title ?? '') || hasBanner(screen);
};

const read = (state: ClaudeScreen, seen: Seen, now: Millis): Seeing<ClaudeScreen> => {
  const layout = layoutOf(seen.screen);
  const habits = habitsAfter(state.habits, seen, layout);
  const named = namedAfter(state.named, seen, layout, now);
  const activity = activityOf(seen, layout, habits);
  const { env } = state;
  const after = { env, habits, named };
  const facts = [...claimFacts(named, seen, layout, env), ...readingFacts(seen, layout, env, now)];
  if (activity.activity === 'compacting')
    return { state: { ...after, compacting: compactingOn(seen.screen, layout, now) }, activity, facts };
  const { compacting } = state;
  if (!compacting) return { state: after, activity, facts };
  const end = endOf(compacting, seen.screen, { layout, activity: activity.activity }, now);
  if (end === undefined) return { state: { ...after, compacting }, activity, facts };
  const boundaries: readonly Fact[] = end === 'over' ? [] : [{ type: 'boundary', boundary: end }];
  return { state: after, activity, facts: [...boundaries, ...facts] };
};

const claimFacts = (named: Named, seen: Seen, layout: Layout, env: Env): readonly Fact[] => {
  const claim = claimOf(named, seen, layout, env);
  return claim ? [{ type: 'window', claim }] : [];
};

const readingFacts = ({ screen }: Seen, layout: Layout, env: Env, now: Millis): readonly Fact[] => {
  const shown = layout.kind === 'prompt' ? shownPercent(screen, layout) : undefined;
  if (!shown) return [];
  // The settings may hold another window for compactions, which only the environment outranks.
  const window = compactionWindow(env);
  const whole =
    window === undefined || window > 200_000 ? undefined : basisTokensOf(shown.basis, window, env);
  return [
    {
      type: 'reading',
      reading: {
        ...shown,
        ...(whole === undefined ? {} : { basisTokens: whole }),
        source: 'screen',
        at: now,
      },
    },
  ];
};

export const screen: AgentScreen = {
  recognises,
  reader: (env) => screenReader<ClaudeScreen>({ env, habits: { vim: false }, named: {} }, read),
  status: readStatus,
};
