import type { Boundary, CompactResult, Fact } from '../../core/event.js';
import { parseDisplayedAmount } from '../../core/format.js';
import { present } from '../../core/present.js';
import type { ActivityReport, Millis, Reading, ScreenView } from '../../core/reading.js';
import { makeScreenReader, type AgentScreen, type ScreenEvidence, type ScreenReading } from '../agent.js';
import {
  type Composer,
  composerText,
  findComposer,
  isPlaceholder,
  listedAbove,
  withoutPanel,
} from './layout.js';

// opencode's screen as a source of facts (docs/facts/opencode.md). Every answer ends with a row `▣  Build · MODEL · 8.5s`, without the time
// until it is complete; that of a compaction begins with `Compaction`. The status row below the prompt shows the tokens of the last answer.

interface OpencodeScreen {
  /** a compaction was seen to run, and its end was not */
  readonly isCompacting: boolean;
  /** the number may be the size of a compaction's own request: no answer was complete since */
  readonly isVoid: boolean;
  readonly search?: WindowSearch | undefined;
  readonly shown?: Shown | undefined;
  /** a window was drawn over the conversation since `shown` */
  readonly wasCovered?: true;
  /** it was the list of sessions */
  readonly wasInList?: true;
}

const START: OpencodeScreen = { isCompacting: false, isVoid: false };

const TITLE = /^(?:OpenCode$|OC \| )/;
/** `⬝⬝■■■■■■  esc interrupt`, also where the row is wrapped */
const RUNNING = /[⬝■]{4}|(?:^| )esc(?: |$)/;
const STATUS = /(?:^| )commands$/;
const PERMISSION = /^ *┃ {2}△ /;
/** `/undo` has taken messages back; the status row still has their number */
const REVERTED = /^ *┃ {2}\d+ messages? reverted$/;
const CHOOSING = /\benter (?:confirm|submit|toggle)\b/;
/** the head of a window that is drawn over the screen */
const WINDOW_HEAD = /\S {3,}esc(?: {2,}\S.*)?$/;

export const opencodeScreen: AgentScreen = {
  recognises: ({ signals }) => TITLE.test(signals.title ?? ''),
  reader: () => makeScreenReader(START, readScreen),
  prompt: ({ screen: whole }) => {
    const screen = withoutPanel(whole);
    const composer = findComposer(screen);
    if (!composer?.hasCursor || !takesMessages(composer) || isCovered(whole, composer)) return undefined;
    const listed = listedAbove(screen, composer);
    return { text: composerText(screen, composer), ...present({ listed }) };
  },
};

/** It names agent and model; a shell command has another name there. */
const takesMessages = ({ mode }: Composer): boolean => /^\S.* · \S/.test(mode);

const isRunning = ({ below }: Composer): boolean => below.some((row) => RUNNING.test(row));

const isCovered = (screen: ScreenView, { top }: Composer): boolean => {
  for (let row = 0; row < top; row += 1) if (WINDOW_HEAD.test(screen.text(row))) return true;
  return false;
};

/** the head of the list of sessions */
const LIST = /(?:^| {2})Sessions {3,}esc(?: {2,}\S.*)?$/;

const listIn = (screen: ScreenView): Pick<OpencodeScreen, 'wasInList'> => {
  for (let row = 0; row < screen.rows; row += 1) if (LIST.test(screen.text(row))) return { wasInList: true };
  return {};
};

const isReverted = (screen: ScreenView, { top }: Composer): boolean => {
  for (let row = 0; row < top; row += 1) if (REVERTED.test(screen.text(row))) return true;
  return false;
};

const readScreen = (
  state: OpencodeScreen,
  seen: ScreenEvidence,
  at: Millis,
): ScreenReading<OpencodeScreen> => {
  const screen = withoutPanel(seen.screen);
  const composer = findComposer(screen);
  const answers = answersAbove(screen, composer?.top ?? screen.rows);
  const activity = activityOf(seen.screen, composer, answers.at(-1));
  if (!composer) return { state, activity, facts: [] };
  if (isCovered(seen.screen, composer))
    return { state: { ...state, wasCovered: true, ...listIn(seen.screen) }, activity, facts: [] };
  const isCompacting = activity.activity === 'compacting';
  const ended = state.isCompacting && !isCompacting ? endOf(screen, answers) : undefined;
  const complete = answers.findLast(({ isComplete }) => isComplete);
  const isVoid = complete ? complete.isCompaction : state.isVoid;
  const reading = isVoid || isReverted(screen, composer) ? undefined : shownFill(composer, at);
  const search = searchAfter(state.search, composer, reading);
  const windowTokens = search && foundWindow(search);
  const shown = shownNow(seen, composer);
  return {
    state: {
      isCompacting,
      isVoid,
      search,
      shown: lastShown(state.shown, shown),
      ...(state.wasCovered && !isRunning(composer) && !shown?.number ? { wasCovered: true } : {}),
    },
    activity,
    facts: [
      ...otherView(state, shown),
      ...(windowTokens === undefined
        ? []
        : [{ type: 'window', claim: { windowTokens, windowSource: 'derived' } } as const]),
      ...(reading ? [{ type: 'reading', reading } as const] : []),
      ...(ended ? [factOf(ended, at)] : []),
    ],
  };
};

const activityOf = (
  screen: ScreenView,
  composer: Composer | undefined,
  last: AnswerRow | undefined,
): ActivityReport => {
  if (!composer) return isAsking(screen) ? is('dialog', 'a question in place of the prompt') : is('unknown');
  if (isCovered(screen, composer)) return is('dialog', 'a window over the conversation');
  if (!takesMessages(composer)) return elsewhere(composer);
  if (isRunning(composer)) {
    const isCompacting = last?.isCompaction === true && !last.isComplete;
    return isCompacting ? is('compacting', 'a compaction without its time') : is('busy', 'esc interrupt');
  }
  if (!composer.hasCursor) return is('unknown', 'the cursor is not in the prompt');
  if (!composer.below.some((row) => STATUS.test(row))) return is('unknown', 'no status below the prompt');
  return composerText(withoutPanel(screen), composer) === ''
    ? is('ready', 'empty prompt', 'no running turn')
    : is('draft', 'text in the prompt');
};

/** The activity where typed text would not become a message. */
const elsewhere = ({ mode }: Composer): ActivityReport => ({
  ...is('unknown', 'no agent below the prompt'),
  ...(/^Shell\b/.test(mode) ? { place: 'shell mode' } : {}),
});

const is = (activity: ActivityReport['activity'], ...witnesses: readonly string[]): ActivityReport => ({
  activity,
  witnesses,
});

const isAsking = (screen: ScreenView): boolean => {
  for (let row = 0; row < screen.rows; row += 1)
    if (PERMISSION.test(screen.text(row)) || CHOOSING.test(screen.text(row))) return true;
  return false;
};

// The last row of an answer.

interface AnswerRow {
  readonly row: number;
  readonly isCompaction: boolean;
  /** it shows how long it took */
  readonly isComplete: boolean;
  readonly isInterrupted: boolean;
}

const ANSWER = /^ *▣ {2}(\S.*)$/;
const TIME = /^(?:\d+(?:\.\d+)?(?:ms|s)|(?:\d+h )?\d+m \d+s|\d+h \d+m)$/;

/** Oldest first. */
const answersAbove = (screen: ScreenView, below: number): readonly AnswerRow[] => {
  const found: AnswerRow[] = [];
  for (let row = 0; row < below; row += 1) {
    const parts = ANSWER.exec(screen.text(row))?.[1]?.split(' · ');
    if (!parts) continue;
    found.push({
      row,
      isCompaction: parts[0] === 'Compaction',
      isComplete: parts.slice(2).some((part) => TIME.test(part)),
      isInterrupted: parts.at(-1) === 'interrupted',
    });
  }
  return found;
};

/** The conversation on the screen ends with a compaction. */
export const showsCompactionLast = ({ screen: whole }: ScreenEvidence): boolean => {
  const screen = withoutPanel(whole);
  const composer = findComposer(screen);
  return composer !== undefined && answersAbove(screen, composer.top).at(-1)?.isCompaction === true;
};

// How a compaction ended: an error is in a box above its row, with or without a time.

type CompactionEnd = { readonly boundary: Omit<Boundary, 'at'> } | { readonly result: CompactResult };

const RULE = /^ *─{3,} Compaction ─{3,}$/;
const BOXED = /^ *┃ {2}(\S.*)$/;
const TOO_LARGE = /too large to compact/;

const endOf = (screen: ScreenView, answers: readonly AnswerRow[]): CompactionEnd | undefined => {
  const index = answers.findLastIndex(({ isCompaction }) => isCompaction);
  const end = answers[index];
  if (!end) return undefined;
  if (end.isInterrupted) return { result: { kind: 'interrupted', by: 'the user' } };
  const first = (answers[index - 1]?.row ?? -1) + 1;
  const rows = Array.from({ length: end.row - first }, (_, each) => screen.text(first + each));
  const rule = rows.findLastIndex((row) => RULE.test(row));
  const boxed = rows.slice(rule + 1).flatMap((row) => BOXED.exec(row)?.[1] ?? []);
  // without the rule, boxes may be messages of the user
  const error = rule < 0 ? boxed.find((text) => TOO_LARGE.test(text)) : boxed.at(0);
  if (error !== undefined) return { result: { kind: 'failed', failure: 'error', text: error } };
  if (!end.isComplete) return undefined;
  const isEmpty = rule >= 0 && rows.slice(rule + 1).every((row) => row === '');
  return { boundary: { initiator: 'user', source: 'screen', ...(isEmpty ? { summary: 'empty' } : {}) } };
};

const factOf = (end: CompactionEnd, at: Millis): Fact =>
  'result' in end
    ? { type: 'compact-result', result: end.result }
    : { type: 'boundary', boundary: { ...end.boundary, at } };

// The number: `120.0K (60%)  ctrl+p commands`, with the session's cost behind it where the model has a price. A long path to its left may
// cover the first digits of the tokens, so these count only behind a gap; a longer one wraps all of it.

const END = String.raw`(?: · \$[\d.,]+)? {0,2}\S+(?: {1,2}commands)?$`;
const PERCENT = new RegExp(String.raw`\((\d{1,4})%\)${END}`);
const TOKENS = new RegExp(String.raw`(?:^| {2,})(\d[\d,.]*[KM]?) (?:\(\d{1,4}%\)${END}| \S+ commands$)`);

const foundBelow = ({ below }: Composer, pattern: RegExp): string | undefined =>
  below.map((row) => pattern.exec(row)?.[1]).find((each) => each !== undefined);

const shownFill = (composer: Composer, at: Millis): Reading | undefined => {
  const percent = foundBelow(composer, PERCENT);
  const amount = parseDisplayedAmount(foundBelow(composer, TOKENS));
  if (percent === undefined && !amount) return undefined;
  return {
    ...present({ usedTokens: amount?.value, roundingTokens: amount?.step }),
    ...(percent === undefined ? {} : { usedPercent: Number(percent), basis: 'window' }),
    source: 'screen',
    at,
  };
};

// The user changes to another conversation: its name is in the title, and a window to choose it was there before. A new one shows the
// placeholder. A number that is missing proves nothing, because the screen may be half drawn.

interface Shown {
  readonly number: string;
  readonly title: string;
  readonly isNew: boolean;
}

const NAMED = /^OC \| /;

const shownNow = ({ signals }: ScreenEvidence, composer: Composer): Shown | undefined => {
  if (isRunning(composer) || !takesMessages(composer)) return undefined;
  const number = [TOKENS, PERCENT]
    .map((each) => foundBelow(composer, each) ?? '')
    .join(' ')
    .trim();
  const isNew = isPlaceholder(composer);
  return { number, title: signals.title ?? '', isNew };
};

/** The state to compare the next screen with; a missing number keeps the one before. */
const lastShown = (before: Shown | undefined, now: Shown | undefined): Shown | undefined => {
  if (!before || !now) return now ?? before;
  return now.number === '' && now.isNew === before.isNew ? before : now;
};

const otherView = (state: OpencodeScreen, now: Shown | undefined): readonly Fact[] => {
  if (!now || !isOther(state, now)) return [];
  return [{ type: 'view', view: { shows: 'conversation', names: [now.title], messages: [] } }];
};

const isOther = ({ shown: before, wasCovered, wasInList }: OpencodeScreen, now: Shown): boolean => {
  if (!before) return false;
  if (now.isNew) return !before.isNew && !NAMED.test(now.title); // a prompt that is drawn anew is blank, too
  if (wasInList && now.number === '') return true; // behind a long path, nothing tells whether it is the same
  const isOtherNumber = before.number !== '' && now.number !== '' && before.number !== now.number;
  const isOtherTitle = NAMED.test(before.title) && before.title !== now.title;
  return isOtherNumber && (isOtherTitle || wasCovered === true);
};

const searchAfter = (
  before: WindowSearch | undefined,
  { mode }: Composer,
  reading: Reading | undefined,
): WindowSearch | undefined => {
  const { usedTokens, usedPercent } = reading ?? {};
  if (usedTokens === undefined || !usedPercent) return before;
  const model = mode.replace(/^.*? · /, ''); // behind the agent, which the user switches with Tab
  return narrowed(before, { model, usedTokens, usedPercent });
};

// How large the window is. opencode takes it from its catalogue of models or its configuration and shows only a rounded percentage, so a
// size is taken for certain where it is the only usual one that the percentage allows.

const USUAL_TOKENS: readonly number[] = [
  8_192, 16_384, 32_000, 32_768, 64_000, 65_536, 100_000, 128_000, 131_072, 160_000, 163_840, 200_000,
  202_752, 204_800, 256_000, 262_144, 272_000, 400_000, 500_000, 1_000_000, 1_047_576, 1_048_576, 1_050_000,
  2_000_000, 2_097_152, 10_000_000,
];

const HALF = 0.5; // percent, by which a rounded percentage may differ

/** The usual windows that agree with all numbers so far of one model. */
export interface WindowSearch {
  /** as the screen names it */
  readonly model: string;
  readonly possible: readonly number[];
}

/** The windows left after one more number: these tokens are this rounded percentage of the window. */
export const narrowed = (
  before: WindowSearch | undefined,
  {
    model,
    usedTokens,
    usedPercent,
  }: Omit<WindowSearch, 'possible'> & { usedTokens: number; usedPercent: number },
): WindowSearch => {
  const agrees = (tokens: number): boolean => Math.abs((usedTokens * 100) / tokens - usedPercent) <= HALF;
  const held = before?.model === model ? before.possible.filter(agrees) : [];
  return { model, possible: held.length > 0 ? held : USUAL_TOKENS.filter(agrees) };
};

/** The only window left; undefined if none or several are left. */
export const foundWindow = ({ possible }: WindowSearch): number | undefined =>
  possible.length === 1 ? possible[0] : undefined;
