// Codex's screen and signals as a source: what it is doing, how full the window is where it shows that, and compactions it shows.
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import { screenReader } from '../runtime.js';
import type { AgentScreen, Seeing } from '../runtime.js';
import type { Seen } from '../seen.js';
import { activityOf, isTitleWorking } from './activity.js';
import { parseAgentState } from '../agent-state.js';
import { endFacts } from './compaction-end.js';
import {
  doubtAfter,
  exactWindow,
  firstDoubt,
  hasRunOut,
  isBelieved,
  isConfiguring,
  knownAfter,
  withoutNames,
} from './doubt.js';
import type { Doubt, KnownPlaces, Look } from './doubt.js';
import { headAboveTask, isDrawn, isEmpty, paneOf } from './layout.js';
import type { Pane } from './layout.js';
import { roomOf } from './percent.js';
import { prompt } from './prompt.js';
import { readStatus } from './status.js';
import { agreedPercent, shownPlaces } from './shown-percent.js';
import type { ShownPlaces } from './shown-percent.js';

interface CodexScreen {
  readonly doubt: Doubt;
  readonly known: KnownPlaces;
  /** its title has shown that it works, so it also shows that it does not */
  readonly isTitleTelling: boolean;
  /** a compaction is going on; what the conversation ended with before it */
  readonly compactingAfter?: string;
}

const read = (before: CodexScreen, seen: Seen, now: Millis): Seeing<CodexScreen> => {
  const { screen, signals } = seen;
  const pane = paneOf(screen);
  const titles = [signals.title, ...(signals.titlesBefore ?? [])];
  const isTitleTelling = before.isTitleTelling || titles.some(isTitleWorking);
  const activity = activityOf(seen, pane, isTitleTelling);
  const head = pane && headAboveTask(screen, pane);
  const state = parseAgentState(signals.agentState)?.state;
  // while it starts the status line is not there yet
  const shown = shownPlaces(screen, pane, state === undefined ? undefined : signals.title);
  const known = knownNow(before.known, screen, pane, shown);
  const look: Look = {
    state,
    isCompacting: activity.activity === 'compacting',
    head,
    shown: agreedPercent(withoutNames(shown, known)),
  };
  const doubt = doubtAfter(before.doubt, look);
  const { compactingAfter: ended } = before;
  const ends = ended === undefined ? [] : endFacts(ended, screen, look, now);
  const facts = [...ends, ...readingFacts(doubt, look, now)];
  const after = compactingAfter(before, look, pane);
  return {
    state: { doubt, known, isTitleTelling, ...(after === undefined ? {} : { compactingAfter: after }) },
    activity,
    facts,
  };
};

const knownNow = (
  known: KnownPlaces,
  screen: ScreenView,
  pane: Pane | undefined,
  shown: ShownPlaces,
): KnownPlaces => (!pane?.hasCursor && isConfiguring(screen) ? {} : knownAfter(known, shown));

// While a picker or a view covers the composer nothing is known of the compaction's end.
const compactingAfter = (before: CodexScreen, look: Look, pane: Pane | undefined): string | undefined => {
  if (look.isCompacting) return before.compactingAfter ?? look.head?.text ?? '';
  return pane ? undefined : before.compactingAfter;
};

const readingFacts = (doubt: Doubt, { isCompacting, head, shown }: Look, now: Millis): readonly Fact[] => {
  if (isCompacting) return [];
  const windowTokens = exactWindow(doubt, shown?.windowTokens);
  const window =
    windowTokens === undefined
      ? {}
      : { windowTokens, windowSource: 'agent' as const, basisTokens: roomOf(windowTokens) };
  const rest = { basis: 'baseline', ...window, source: 'screen', at: now } as const;
  if (doubt.isFull)
    return hasRunOut(head) ? [{ type: 'reading', reading: { usedPercent: 100, ...rest } }] : [];
  if (!shown || !isBelieved(doubt, shown)) return [];
  return [{ type: 'reading', reading: { usedPercent: shown.usedPercent, ...rest } }];
};

const recognises = ({ screen, signals }: Seen): boolean => {
  if (/(?:^|:)app=codex(?::|$)/.test(signals.agentState ?? '')) return true;
  const pane = paneOf(screen);
  const footer = pane?.hasCursor ? pane.footer.at(-1) : undefined;
  return pane !== undefined && footer !== undefined && isEmpty(screen, pane) && isDrawn(screen, footer);
};

export const screen: AgentScreen = {
  recognises,
  reader: () => screenReader<CodexScreen>({ doubt: firstDoubt, known: {}, isTitleTelling: false }, read),
  prompt,
  status: readStatus,
};
