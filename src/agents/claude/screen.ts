import type { Fact } from '../../core/event.js';
import { present } from '../../core/present.js';
import type { ScreenView, PercentBasis, Activity, Millis } from '../../core/reading.js';
import {
  type PromptReader,
  makeScreenReader,
  type AgentScreen,
  type ScreenReading,
  type ScreenEvidence,
  type Env,
} from '../agent.js';
import { joinWrappedRows } from '../compress.js';
import {
  readActivity,
  readFlatActivity,
  findObstacle,
  updatePromptHistory,
  type PromptHistory,
  isTitleOfClaude,
} from './activity.js';
import { windowClaimOf, updateNamedModel, type NamedModel, readBanner } from './banner.js';
import {
  rowsAbove,
  USER_ROW,
  readAnswer,
  updatePendingCommand,
  type PendingCommand,
  findRunningCompaction,
  readCompactionEnd,
  type RunningCompaction,
} from './compaction.js';
import { readStatus } from './locate.js';
import { isFromClaude, readStateWord } from './state-report.js';
import { noView, updateView, type SeenView } from './view.js';
import {
  findFlatPrompt,
  flatListed,
  flatPercent,
  hasFlatHeader,
  isFlatStashed,
  readFlatBanner,
} from './flat-screen.js';
import {
  cursorColumnIn,
  readLayout,
  rowText,
  TEXT_COLUMN,
  columnsOf,
  POINTER,
  type Prompt,
  CORNER,
  rowsBelow,
  type Layout,
} from './layout.js';
import { chosenModel, tokensOfBasis, compactionWindow, parseRefusal, windowOfModelName } from './window.js';

// The text in Claude's prompt, without the suggestions that Claude draws dim behind it or in its place.

// `draft stashed` in new versions, `› stashed` and `› Stashed (auto-restores after submit)` in older ones.
const STASHED = /(?:^| {2}| · )(?:[^\p{L}\p{N}\s] |draft )stashed(?= ·| \(|$)/iu;
const LISTED = /^(\/\S+)(?: {2,}|$)/;
const LISTED_ABOVE = new RegExp(String.raw`^ {2}(?:${POINTER}| ) (?:/\S| {3})`);
const CHOSEN = new RegExp(String.raw`^ {2}${POINTER} (/\S+)(?: {2,}|$)`);
/** In place of a draft of several rows, whose ends a flat screen does not show. */
const SEVERAL_ROWS = '\n';
const MARGIN = 2; // columns at the right end of a row that hold no text of a draft

/** One screen alone cannot show vim's normal mode; the reader, which remembers the other mode, handles that. */
const prompt: PromptReader = (seen) => {
  const { screen } = seen;
  const layout = readLayout(screen);
  if (layout.kind === 'none' || hasFlatHeader(screen)) return flatPrompt(seen);
  if (layout.kind !== 'prompt' || findObstacle(screen, layout) !== undefined) return undefined;
  const { activity } = readActivity(seen, layout, { vim: false });
  if (activity === 'unknown' || activity === 'dialog') return undefined;
  const text = promptText(screen, layout);
  return {
    text,
    ...listedBeside(screen, layout, text),
    ...(isStashed(screen, layout) ? { isStashed: true } : {}),
  };
};

const flatPrompt: PromptReader = (seen) => {
  const found = findFlatPrompt(seen.screen);
  if (!found) return undefined;
  const { activity } = readFlatActivity(seen, { vim: false });
  if (activity === 'unknown' || activity === 'dialog') return undefined;
  return {
    text: found.text ?? SEVERAL_ROWS,
    ...present({ listed: flatListed(seen.screen, found) }),
    ...(isFlatStashed(found) ? { isStashed: true } : {}),
  };
};

// Enter runs the first command of the list below a typed one, or the marked one in the list above it, which the fullscreen renderer draws.
const listedBeside = (
  screen: ScreenView,
  { upper, lower }: Prompt,
  text: string,
): { readonly listed?: string } => {
  if (!text.startsWith('/')) return {};
  const listed = LISTED.exec(rowText(screen, lower + 1))?.[1] ?? chosenAbove(screen, upper);
  return listed === undefined ? {} : { listed };
};

const chosenAbove = (screen: ScreenView, upper: number): string | undefined => {
  for (let row = upper - 1; row >= 0 && LISTED_ABOVE.test(rowText(screen, row)); row -= 1) {
    const chosen = CHOSEN.exec(rowText(screen, row))?.[1];
    if (chosen !== undefined && screen.styleAt(row, TEXT_COLUMN)?.foreground !== undefined) return chosen;
  }
  return undefined;
};

const promptText = (screen: ScreenView, { upper, lower, isEmpty }: Prompt): string => {
  if (isEmpty) return '';
  const last = lower - 1;
  const rows = Array.from({ length: last - upper }, (_, index) =>
    upper + 1 + index === last
      ? withBlanks(screen, last, withoutGhost(screen, last))
      : rowText(screen, upper + 1 + index).slice(TEXT_COLUMN),
  );
  return joinWrappedRows(rows, screen.columns - TEXT_COLUMN - MARGIN);
};

// Spaces typed at the end are visible only by the cursor behind them.
const withBlanks = ({ cursorRow, cursorColumn }: ScreenView, row: number, text: string): string =>
  cursorRow === row ? text + ' '.repeat(Math.max(0, cursorColumn - TEXT_COLUMN - columnsOf(text))) : text;

// A dim rest of a word, with Claude's cursor over its first character; or, behind the cursor, a hint for a command's arguments, which has a
// colour that arguments never have.
const withoutGhost = (screen: ScreenView, row: number): string => {
  const text = rowText(screen, row).slice(TEXT_COLUMN);
  const characters = Array.from(text);
  const columnOf = (index: number) => TEXT_COLUMN + columnsOf(characters.slice(0, index).join(''));
  const styleOf = (index: number) => screen.styleAt(row, columnOf(index));
  const isGhost = (index: number) =>
    characters[index] === ' ' ||
    styleOf(index)?.dim === true ||
    (text.startsWith('/') && isHint(screen, row, columnOf(index)));
  let end = characters.length;
  while (end > 0 && isGhost(end - 1)) end -= 1;
  const isCursorBehind = end < characters.length && styleOf(end - 1)?.inverse === true;
  return characters
    .slice(0, isCursorBehind ? end - 1 : end)
    .join('')
    .trimEnd();
};

const isHint = (screen: ScreenView, row: number, column: number): boolean => {
  const cursor = cursorColumnIn(screen, row);
  if (cursor === undefined || column <= cursor) return false;
  return screen.styleAt(row, column)?.foreground !== undefined && isBlank(screen, row, cursor);
};

const isBlank = (screen: ScreenView, row: number, at: number): boolean => {
  let column = 0;
  for (const character of rowText(screen, row)) {
    if (column >= at) return character === ' ';
    column += columnsOf(character);
  }
  return true;
};

// Beside the prompt, where Claude writes its own coloured notes: below it, and in the row above it in the fullscreen renderer and in old
// versions.
const isStashed = (screen: ScreenView, { upper, lower }: Prompt): boolean => {
  const below = Array.from({ length: screen.rows - lower - 1 }, (_, index) => lower + 1 + index);
  return [upper - 1, ...below].some((row) => isStashedIn(screen, row));
};

const isStashedIn = (screen: ScreenView, row: number): boolean => {
  const text = rowText(screen, row);
  const found = STASHED.exec(text);
  if (!found) return false;
  const style = screen.styleAt(row, columnsOf(text.slice(0, found.index + found[0].length)) - 1);
  return style !== undefined && (style.foreground !== undefined || style.dim);
};

// The percentage that Claude shows in its footer when the window fills up (docs/facts/claude.md#percentage-on-the-screen).

export interface ShownPercent {
  readonly usedPercent: number;
  readonly basis: PercentBasis;
}

interface Wording {
  readonly pattern: RegExp;
  readonly basis: PercentBasis;
  readonly counts: 'left' | 'used' | 'nothing left';
}

// Preceded by two spaces or the start of the row, followed by the end of the row or a cut.
const wordings: readonly Wording[] = [
  { pattern: /(?:^|\s\s)(\d{1,3})% until auto-compact(?: · \S.*)?$/, basis: 'auto-compact', counts: 'left' },
  { pattern: /(?:^|\s\s)(\d{1,3})% context used(?: · \S.*)?$/, basis: 'effective', counts: 'used' },
  {
    pattern: /(?:^|\s\s)Context low \((\d{1,3})% remaining\)(?: · \S.*)?$/,
    basis: 'effective',
    counts: 'left',
  },
  // instead of `0% until auto-compact`, in new versions
  { pattern: /(?:^|\s\s)auto-compact next(?: · \S.*)?$/, basis: 'auto-compact', counts: 'nothing left' },
  {
    pattern: /(?:^|\s\s)Context left until auto-compact: (\d{1,3})%$/,
    basis: 'auto-compact',
    counts: 'left',
  },
];

const ANSWER = new RegExp(String.raw`^ {2}${CORNER} {1,2}(\S.*)$`);
const RIGHT_MARGIN = 2; // blank columns; one in the fullscreen renderer

/** The text under the user's last message, or the notification beside the prompt; undefined where neither shows a number. */
const shownPercent = (screen: ScreenView, prompt: Prompt): ShownPercent | undefined => {
  if (isRefused(screen, prompt)) return { usedPercent: 100, basis: 'effective' };
  for (const row of notificationRows(screen, prompt)) {
    const shown = readRow(screen, row);
    if (shown) return shown;
  }
  return undefined;
};

// Claude's own answer is directly under the message, with a sign in another colour than the user's text. A compaction keeps the answer
// without the message, and every later message has an answer of its own.
const isRefused = (screen: ScreenView, { upper }: Prompt): boolean => {
  const rows = rowsAbove(screen, upper);
  const messageRow = rows.findLastIndex((row) => USER_ROW.test(row));
  if (messageRow < 0) return false;
  const more = rows.slice(messageRow + 1).findIndex((row) => !/^ {2}\S/.test(row));
  return rows.slice(messageRow + 1, more < 0 ? rows.length : messageRow + 1 + more).some((row, index) => {
    const words = ANSWER.exec(row)?.[1];
    if (words === undefined || parseRefusal(words.trimEnd()) === undefined) return false;
    const sign = screen.styleAt(messageRow + 1 + index, TEXT_COLUMN)?.foreground;
    return sign !== undefined && sign !== screen.styleAt(messageRow, TEXT_COLUMN)?.foreground;
  });
};

// Classic renderer: the hint row below the lower bar, or a row of its own under it. Fullscreen: the row kept free above the upper bar; only
// the list of commands or files below a draft takes it, and then the conversation may come down to it.
const notificationRows = (screen: ScreenView, { upper, lower, isEmpty }: Prompt): readonly number[] => {
  if (!screen.alternate)
    return Array.from({ length: screen.rows - lower - 1 }, (_, index) => lower + 1 + index);
  return isEmpty || rowText(screen, upper - 2) === '' ? [upper - 1] : [];
};

// The user's own status line is in the same rows, but at the left, and in the terminal's colour unless it sets another.
const readRow = (screen: ScreenView, row: number): ShownPercent | undefined => {
  const text = rowText(screen, row);
  const width = columnsOf(text);
  const margin = screen.columns - width;
  if (margin < 1 || margin > RIGHT_MARGIN) return undefined;
  for (const { pattern, basis, counts } of wordings) {
    const match = pattern.exec(text);
    const number = counts === 'nothing left' ? 0 : Number(match?.[1]);
    if (!match || number > 100) continue;
    if (screen.styleAt(row, width - 1)?.foreground === undefined) return undefined;
    return { usedPercent: counts === 'used' ? number : 100 - number, basis };
  }
  return undefined;
};

// Claude Code's screen as a source of facts: how full the window is, how large, what Claude is doing, and visible compactions.

interface ClaudeScreen {
  readonly env: Env;
  readonly habits: PromptHistory;
  readonly named: NamedModel;
  readonly view: SeenView;
  /** the screen is drawn for a screen reader */
  readonly isFlat?: true;
  /** the first model that a flat screen has named: later rows may be text of the conversation */
  readonly flatBanner?: ReturnType<typeof readFlatBanner>;
  /** the user asked for a compaction that has not been seen yet */
  readonly asked?: PendingCommand;
  readonly compacting?: RunningCompaction;
}

const FIRST_QUESTIONS = /^ {1,2}(?:Accessing workspace:|Detected a custom API key in your environment)$/;

const recognises = ({ screen, signals }: ScreenEvidence): boolean => {
  const layout = readLayout(screen);
  if (layout.kind === 'none' && !hasFlatHeader(screen) && !findFlatPrompt(screen)) return false;
  if (layout.kind === 'panel' && FIRST_QUESTIONS.test(rowsBelow(screen, layout.bar)[0] ?? '')) return true;
  const isNamed = isTitleOfClaude(signals.title) || isFromClaude(readStateWord(signals));
  return isNamed || readBanner(screen) !== undefined;
};

const read = (state: ClaudeScreen, seen: ScreenEvidence, now: Millis): ScreenReading<ClaudeScreen> => {
  const layout = readLayout(seen.screen);
  const isFlat = state.isFlat ?? hasFlatHeader(seen.screen);
  if (isFlat || (layout.kind === 'none' && findFlatPrompt(seen.screen))) return readFlat(state, seen, now);
  const habits = updatePromptHistory(state.habits, seen, layout, now);
  const named = updateNamedModel(state.named, seen, layout, now);
  const activity = readActivity(seen, layout, habits, now);
  const { env } = state;
  const { view, facts: viewFacts } = updateView(state.view, seen, layout);
  const shown = view.isList
    ? []
    : [
        ...choiceFacts(state.named, named, env),
        ...claimFacts(named, seen, layout, env),
        ...readingFacts(seen, layout, env, now),
      ];
  const watched = watchCompaction(state, seen.screen, { layout, activity: activity.activity }, now);
  return {
    state: { env, habits, named, view, ...watched.state },
    activity,
    facts: [...viewFacts, ...watched.facts, ...shown],
  };
};

// Only the session file shows how a compaction ended: on a flat screen its words look like the conversation.
const readFlat = (state: ClaudeScreen, seen: ScreenEvidence, now: Millis): ScreenReading<ClaudeScreen> => {
  const { screen } = seen;
  const { env, named, view } = state;
  const habits = updatePromptHistory(state.habits, seen, { kind: 'none' }, now);
  const flatBanner = state.flatBanner ?? readFlatBanner(screen);
  const claim = flatBanner && windowOfModelName(flatBanner.model, { env, version: flatBanner.version });
  const found = findFlatPrompt(screen);
  const shown = found && flatPercent(found);
  return {
    state: { env, habits, named, view, isFlat: true, flatBanner },
    activity: readFlatActivity(seen, habits, now),
    facts: [...(claim ? [{ type: 'window', claim } as const] : []), ...shownFacts(shown, env, now)],
  };
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
    return { state: { compacting: findRunningCompaction(screen, layout, now) }, facts: [] };
  if (compacting) {
    const facts = readCompactionEnd(compacting, screen, { layout, activity }, now);
    return facts ? { state: {}, facts } : { state: { compacting }, facts: [] };
  }
  const result = before && readAnswer(before, screen, layout);
  if (result) return { state: {}, facts: [{ type: 'compact-result', result }] };
  const asked = updatePendingCommand(before, screen, layout, { isBusy: activity === 'busy', now });
  return { state: asked ? { asked } : {}, facts: [] };
};

const choiceFacts = (
  before: NamedModel,
  { choices, model = '', version }: NamedModel,
  env: Env,
): readonly Fact[] =>
  choices === before.choices ? [] : [{ type: 'model', ...chosenModel(model, { env, version }) }];

const claimFacts = (named: NamedModel, seen: ScreenEvidence, layout: Layout, env: Env): readonly Fact[] => {
  const claim = windowClaimOf(named, seen, layout, env);
  return claim ? [{ type: 'window', claim }] : [];
};

const readingFacts = ({ screen }: ScreenEvidence, layout: Layout, env: Env, now: Millis): readonly Fact[] => {
  const shown = layout.kind === 'prompt' ? shownPercent(screen, layout) : undefined;
  return shownFacts(shown, env, now);
};

const shownFacts = (shown: ShownPercent | undefined, env: Env, now: Millis): readonly Fact[] => {
  if (!shown) return [];
  // The settings may hold another window for compactions; only the environment overrides it.
  const window = compactionWindow(env);
  const whole =
    window === undefined || window > 200_000 ? undefined : tokensOfBasis(shown.basis, window, env);
  return [
    {
      type: 'reading',
      reading: {
        ...shown,
        ...present({ basisTokens: whole }),
        source: 'screen',
        at: now,
      },
    },
  ];
};

export const claudeScreen: AgentScreen = {
  recognises,
  reader: (env) =>
    makeScreenReader<ClaudeScreen>(
      { env, habits: { vim: false }, named: { choices: 0 }, view: noView },
      read,
    ),
  prompt,
  status: readStatus,
};
