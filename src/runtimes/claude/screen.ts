// Claude Code's screen as a source: how full the window is, how large, what it is doing, and compactions it shows.
import type { Activity } from '../../core/activity.js';
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import { screenReader } from '../runtime.js';
import type { AgentScreen, Seeing } from '../runtime.js';
import type { Seen } from '../seen.js';
import { activityOf, habitsAfter } from './activity.js';
import type { Habits } from './activity.js';
import { claimOf, namedAfter } from './banner.js';
import type { Named } from './banner.js';
import { answerTo, askedAfter } from './command-answer.js';
import type { Asked } from './command-answer.js';
import { compactingOn, endOf } from './compaction-end.js';
import type { Compacting } from './compaction-end.js';
import { layoutOf, rowsBelow } from './layout.js';
import type { Layout } from './layout.js';
import { bannerModel } from './logo.js';
import { isOwnWord, ownWord } from './own-word.js';
import { prompt } from './prompt.js';
import { shownPercent } from './shown-percent.js';
import { readStatus } from './status.js';
import { isTitleOfClaude } from './title.js';
import { basisTokensOf, compactionWindow } from './window.js';
import type { Env } from '../place.js';

interface ClaudeScreen {
  readonly env: Env;
  readonly habits: Habits;
  readonly named: Named;
  /** the user asked for a compaction, and none is seen yet */
  readonly asked?: Asked;
  readonly compacting?: Compacting;
}

const FIRST_QUESTIONS = /^ {1,2}(?:Accessing workspace:|Detected a custom API key in your environment)$/;

const recognises = ({ screen, signals }: Seen): boolean => {
  const layout = layoutOf(screen);
  if (layout.kind === 'none') return false;
  if (layout.kind === 'panel' && FIRST_QUESTIONS.test(rowsBelow(screen, layout.bar)[0] ?? '')) return true;
  const isTold = isTitleOfClaude(signals.title) || isOwnWord(ownWord(signals));
  return isTold || bannerModel(screen) !== undefined;
};

const read = (state: ClaudeScreen, seen: Seen, now: Millis): Seeing<ClaudeScreen> => {
  const layout = layoutOf(seen.screen);
  const habits = habitsAfter(state.habits, seen, layout, now);
  const named = namedAfter(state.named, seen, layout, now);
  const activity = activityOf(seen, layout, habits, now);
  const { env } = state;
  const facts = [...claimFacts(named, seen, layout, env), ...readingFacts(seen, layout, env, now)];
  const watched = watchCompaction(state, seen.screen, { layout, activity: activity.activity }, now);
  return { state: { env, habits, named, ...watched.state }, activity, facts: [...watched.facts, ...facts] };
};

interface Watched {
  readonly state: Pick<ClaudeScreen, 'asked' | 'compacting'>;
  readonly facts: readonly Fact[];
}

const watchCompaction = (
  { asked: before, compacting }: ClaudeScreen,
  screen: ScreenView,
  { layout, activity }: { readonly layout: Layout; readonly activity: Activity },
  now: Millis,
): Watched => {
  if (activity === 'compacting')
    return { state: { compacting: compactingOn(screen, layout, now) }, facts: [] };
  if (compacting) {
    const facts = endOf(compacting, screen, { layout, activity }, now);
    return facts ? { state: {}, facts } : { state: { compacting }, facts: [] };
  }
  const result = before && answerTo(before, screen, layout);
  if (result) return { state: {}, facts: [{ type: 'compact-result', result }] };
  const asked = askedAfter(before, screen, layout, { isBusy: activity === 'busy', now });
  return { state: asked ? { asked } : {}, facts: [] };
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
  prompt,
  status: readStatus,
};
