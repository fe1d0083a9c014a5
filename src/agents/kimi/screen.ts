import type { Fact } from '../../core/event.js';
import { parseDisplayedAmount } from '../../core/format.js';
import type { ActivityReport, Millis, Reading, ScreenView } from '../../core/reading.js';
import { makeScreenReader, type AgentScreen, type ScreenEvidence, type ScreenReading } from '../agent.js';
import { readStatus } from './files.js';
import {
  endAbove,
  findBox,
  inputText,
  isEmpty,
  listedBelow,
  liveRows,
  rowsBelow,
  type Box,
  type LiveRows,
} from './layout.js';

// The fill in Kimi's footer (docs/facts/kimi.md): `context: 46% (87.9k/195k)` at the right edge. `k` is 1024, the percentage is rounded up, so the
// tokens are used. From a compaction to the end of the next turn the number is Kimi's estimate.

const FILL = / context: \d{1,3}% \((\d[\d.]*[kM]?)\/(\d[\d.]*[kM]?)\)$/;
const EDGE = 2; // free columns behind it, at most

interface ShownFill {
  readonly usedTokens: number;
  readonly roundingTokens: number;
  readonly windowTokens: number;
}

const shownFill = (screen: ScreenView, rows: readonly string[]): ShownFill | undefined => {
  for (const row of rows) {
    const [, used, window] = FILL.exec(row) ?? [];
    if (row.length < screen.columns - EDGE) continue;
    const [amount, whole] = [binaryAmount(used), binaryAmount(window)];
    if (!amount || !whole || whole.tokens === 0) continue;
    const windowTokens = likelyWindow(whole);
    return { usedTokens: amount.tokens, roundingTokens: amount.rounding, windowTokens };
  }
  return undefined;
};

interface BinaryAmount {
  readonly tokens: number;
  /** the true number differs by this at most */
  readonly rounding: number;
}

const K = 1024;

const binaryAmount = (text = ''): BinaryAmount | undefined => {
  const shown = parseDisplayedAmount(text.replace(/[kM]$/, ''));
  if (!shown) return undefined;
  const factor = text.endsWith('k') ? K : text.endsWith('M') ? K * K : 1;
  // one decimal below 100, none from there on
  const step = factor === 1 ? 0 : shown.value >= 100 ? factor : factor / 10;
  return { tokens: Math.round(shown.value * factor), rounding: Math.ceil(step / 2) };
};

const ROUND = 10_000;

/** Windows are multiples of 1024, as shown, or of 10 000: `195k` is 200 000. */
const likelyWindow = ({ tokens, rounding }: BinaryAmount): number => {
  const round = Math.round(tokens / ROUND) * ROUND;
  const isShownSo = rounding < K && Math.abs(round - tokens) <= rounding;
  return isShownSo ? round : tokens;
};

// What the screen tells, as the second witness beside the session file.

interface KimiScreen {
  /** a compaction is running, or the command is in the input; with the end of the conversation then */
  readonly watched?: { readonly kind: 'typed' | 'running'; readonly end: string };
  /** the number shown after a compaction, which is an estimate until another one is shown at the end of a turn */
  readonly estimate?: { readonly usedTokens?: number; readonly hasWorked: boolean };
}

export const kimiScreen: AgentScreen = {
  recognises: ({ screen }) => {
    const box = findBox(screen);
    return box !== undefined && shownFill(screen, rowsBelow(screen, box.bottom)) !== undefined;
  },
  reader: () => makeScreenReader<KimiScreen>({}, readScreen),
  prompt: ({ screen }) => {
    const box = findBox(screen);
    if (box?.mode !== '>') return undefined;
    return { text: inputText(screen, box), ...listedBelow(screen, box) };
  },
  status: readStatus,
};

const readScreen = (state: KimiScreen, seen: ScreenEvidence, now: Millis): ScreenReading<KimiScreen> => {
  const { screen } = seen;
  const box = findBox(screen);
  if (!box) return { state, activity: withoutBox(screen), facts: [] };
  const live = liveRows(screen, box.top);
  const fill = shownFill(screen, rowsBelow(screen, box.bottom));
  const ended = endOf(state.watched, screen, box, live, now);
  const after = {
    ...watchedAfter(state.watched, screen, box, live),
    ...estimateAfter(state.estimate, live, fill),
  };
  return {
    state: after,
    activity: activityOf(seen, box, live),
    facts: [...fillFacts(fill, after.estimate, live, now), ...ended],
  };
};

const fillFacts = (
  fill: ShownFill | undefined,
  estimate: KimiScreen['estimate'],
  live: LiveRows,
  at: Millis,
): readonly Fact[] => {
  if (!fill) return [];
  const { windowTokens, ...used } = fill;
  const claim = { type: 'window', claim: { windowTokens, windowSource: 'agent' } } as const;
  // while it works Kimi adds what it estimates; 0 stands for a conversation without a number
  if (estimate || live.working || live.compacting || used.usedTokens === 0) return [claim];
  const reading: Reading = { ...used, windowTokens, windowSource: 'agent', source: 'screen', at };
  return [claim, { type: 'reading', reading }];
};

const estimateAfter = (
  before: KimiScreen['estimate'],
  live: LiveRows,
  fill: ShownFill | undefined,
): Pick<KimiScreen, 'estimate'> => {
  if (live.compacting) return { estimate: { hasWorked: false } };
  if (!before) return {};
  if (live.working) return { estimate: { ...before, hasWorked: true } };
  const shown = fill?.usedTokens;
  const first = before.usedTokens ?? shown;
  if (before.hasWorked && shown !== undefined && shown !== first) return {};
  return { estimate: { ...before, ...(first === undefined ? {} : { usedTokens: first }) } };
};

// How a compaction ends: Kimi says so in the conversation. A failed one is "cancelled" there, too, with the error below.

const COMMAND = /^\/compact(?:\s|$)/;
const COMPLETE = /^ ● Compaction complete(?: \((\d+) → (\d+) tokens\))?/;
const CANCELLED = /^ ● Compaction cancelled$/;
const FAILED = /^ {3}Error: (?=\[compaction\.|Cannot (?:\/compact|compact) |No messages to compact)/;
const NOTHING = /No messages to compact/;
const LONGEST = 160; // characters of a server error

const watchedAfter = (
  before: KimiScreen['watched'],
  screen: ScreenView,
  box: Box,
  live: LiveRows,
): Pick<KimiScreen, 'watched'> => {
  const end = endAbove(screen, box.top).join('\n');
  if (live.compacting) return { watched: { kind: 'running', end } };
  if (COMMAND.test(inputText(screen, box))) return { watched: { kind: 'typed', end } };
  return before && before.kind === 'typed' && before.end === end ? { watched: before } : {};
};

const endOf = (
  before: KimiScreen['watched'],
  screen: ScreenView,
  box: Box,
  live: LiveRows,
  at: Millis,
): readonly Fact[] => {
  if (!before || live.compacting) return [];
  const rows = endAbove(screen, box.top);
  if (rows.join('\n') === before.end) return [];
  const failed = rows.findLast((row) => FAILED.test(row));
  if (failed !== undefined) return [resultOf(failed.trim().slice(0, LONGEST))];
  if (before.kind === 'typed') return [];
  if (rows.some((row) => CANCELLED.test(row)))
    return [{ type: 'compact-result', result: { kind: 'interrupted', by: 'the user' } }];
  const complete = rows.some((row) => COMPLETE.test(row));
  return complete ? [{ type: 'boundary', boundary: { initiator: 'user', source: 'screen', at } }] : [];
};

const resultOf = (text: string): Fact => ({
  type: 'compact-result',
  result: NOTHING.test(text) ? { kind: 'noop', text } : { kind: 'failed', failure: 'error', text },
});

// Any sign against an idle prompt wins.

const activityOf = (
  { screen, status }: ScreenEvidence,
  box: Box,
  { compacting, working, queued }: LiveRows,
): ActivityReport => {
  const is = (activity: ActivityReport['activity'], ...witnesses: readonly string[]): ActivityReport => ({
    activity,
    witnesses,
  });
  if (compacting) return is('compacting', 'compacting context');
  if (working || queued) return is('busy', working ? 'spinner' : 'queued messages');
  if (box.mode !== '>') return is('unknown', 'shell mode');
  if (status?.state === 'busy') return is('busy', 'a turn in its session file');
  if (status?.state === 'compacting') return is('compacting', 'a compaction in its session file');
  if (inputText(screen, box) !== '') return is('draft', 'text in the input');
  if (!isEmpty(screen, box)) return is('unknown', 'the cursor is elsewhere');
  if (shownFill(screen, rowsBelow(screen, box.bottom)) === undefined)
    return is('unknown', 'empty prompt row', 'no footer');
  if (status?.state === 'idle') return is('ready', 'empty prompt row', 'its last turn has ended');
  if (status?.state === 'new') return is('ready', 'empty prompt row', 'no turn since the start');
  return is('unknown', 'empty prompt row', `session file ${status?.state ?? 'not found'}`);
};

const BAR = /^ ─{10,}$/;
const MOST_BELOW = 6; // rows of the footer below a dialog

/** A dialog or a picker stands between two bars where the input was. */
const withoutBox = (screen: ScreenView): ActivityReport => {
  let last = screen.rows - 1;
  while (last > 0 && screen.text(last) === '') last -= 1;
  const below = Array.from({ length: MOST_BELOW }, (_, index) => screen.text(last - index));
  const isDialog = below.some((row) => BAR.test(row));
  return isDialog
    ? { activity: 'dialog', witnesses: ['bars instead of the input'] }
    : { activity: 'unknown', witnesses: ['no input'] };
};
