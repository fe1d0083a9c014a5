import type { Fact } from '../../core/event.js';
import { present } from '../../core/present.js';
import type { ActivityReport, Millis, Place, ScreenView } from '../../core/reading.js';
import {
  type AgentScreen,
  type AgentStatus,
  makeScreenReader,
  type ScreenEvidence,
  type ScreenReading,
} from '../agent.js';
import { readStatus } from './files.js';
import { type Composer, composerText, conversationRow, findComposer, listedAbove } from './layout.js';
import { compactResult } from './session.js';

// Copilot's screen as a source of facts (docs/facts/copilot.md). Its title does not change with its state. The percentage that the status
// row can show is its own guess and is not read.

interface CopilotScreen {
  /** a compaction of the user's was seen to run, and its end was not */
  readonly isCompacting: boolean;
  /** the list of sessions was on the screen, and no conversation since */
  readonly isInList?: boolean;
}

/** at the left edge, where no text of the conversation begins */
const COMPACTING = /^\S Compacting conversation history\b/;
const BUSY = /(?:^| )esc esc (?:interrupt|edit prompt)\b|^ \S (?:Working|Cancelling)\b/;
/** the mode after `!` */
const SHELL = / · Shell · /;
/** the mode in which a message waits for the user after each turn, and the kind of permissions behind it */
const AT_REST = /(?:^| · | )(?:Interactive|Plan) · \S/;
const QUEUED = /^ +└ \[pending\b/;
const BOX_END = /^ *╰─+╯$/;
const LIVE_ROWS = 4; // between the conversation and the prompt

export const copilotScreen: AgentScreen = {
  recognises: ({ signals }) => /(?:^| - )GitHub Copilot$/.test(signals.title ?? ''),
  reader: () => makeScreenReader<CopilotScreen>({ isCompacting: false }, readScreen),
  prompt: ({ screen }) => {
    const composer = findComposer(screen);
    if (!composer || !composer.isMessage || !composer.hasCursor) return undefined;
    if (!AT_REST.test(composer.footer)) return undefined; // a search has the same sign
    const listed = listedAbove(screen, composer);
    return { text: composerText(screen, composer), ...present({ listed }) };
  },
  status: readStatus,
};

const readScreen = (
  { isCompacting: wasCompacting, isInList: wasInList = false }: CopilotScreen,
  { screen, status }: ScreenEvidence,
  at: Millis,
): ScreenReading<CopilotScreen> => {
  const composer = findComposer(screen);
  if (!composer) {
    const activity = isBoxLast(screen) ? is('dialog', 'a box in place of the prompt') : is('unknown');
    const isInList = showsList(screen) || (wasInList && !hasNarrowPrompt(screen));
    return {
      state: { isCompacting: wasCompacting, isInList },
      activity,
      facts: viewAfter(wasInList, isInList),
    };
  }
  const live = Array.from({ length: LIVE_ROWS }, (_, index) => screen.text(composer.top - 1 - index));
  const isCompacting = live.some((row) => COMPACTING.test(row));
  return {
    state: { isCompacting },
    activity: isCompacting
      ? is('compacting', 'compacting conversation history')
      : activityOf(screen, { composer, live, status }),
    facts: [
      ...viewAfter(wasInList, false),
      ...(wasCompacting && !isCompacting ? endAbove(screen, composer, at) : []),
    ],
  };
};

// `/resume` and the second tab show a list of sessions in the place of the conversation, from which another one can be opened.

/** The head of its columns; the sidebar may be at its left. */
const LIST = /(?:^|│) {2,}Session {3,}Status {3,}\S/;
/** The lower edge of the prompt beside the sidebar. */
const NARROW_PROMPT = /│╹▀{10,}/;

const showsRow = (screen: ScreenView, pattern: RegExp): boolean => {
  for (let row = 0; row < screen.rows; row += 1) if (pattern.test(screen.text(row))) return true;
  return false;
};

const showsList = (screen: ScreenView): boolean => showsRow(screen, LIST);

const hasNarrowPrompt = (screen: ScreenView): boolean => showsRow(screen, NARROW_PROMPT);

const viewAfter = (wasInList: boolean, isInList: boolean): readonly Fact[] => {
  if (wasInList === isInList) return [];
  const view = isInList
    ? ({ shows: 'list', name: 'the list of sessions' } as const)
    : ({ shows: 'conversation', names: [], messages: [] } as const);
  return [{ type: 'view', view }];
};

interface InputArea {
  readonly composer: Composer;
  /** the rows above the prompt, upwards */
  readonly live: readonly string[];
  readonly status: AgentStatus | undefined;
}

const placeOf = (screen: ScreenView, { top, footer }: Composer): Place | undefined => {
  if (SHELL.test(footer)) return 'shell mode';
  return screen.text(top + 1).startsWith('(reverse-i-search)') ? 'the history search' : undefined;
};

const activityOf = (screen: ScreenView, { composer, live, status }: InputArea): ActivityReport => {
  const { isMessage, footer, hasCursor } = composer;
  if (BUSY.test(footer)) return is('busy', 'esc esc interrupt');
  if (live.some((row) => QUEUED.test(row))) return is('busy', 'a queued message');
  if (status?.state === 'compacting') return is('compacting', 'its record of the beginning');
  const place = placeOf(screen, composer);
  if (place !== undefined) return { ...is('unknown', place), place };
  if (!isMessage) return is('unknown', 'a search');
  if (!hasCursor) return is('unknown', 'the cursor is not in the prompt');
  if (!AT_REST.test(footer)) return is('unknown', 'another status row');
  if (composerText(screen, composer) !== '') return is('draft', 'text in the prompt');
  return is('ready', 'empty prompt', 'no running turn');
};

const is = (activity: ActivityReport['activity'], ...witnesses: readonly string[]): ActivityReport => ({
  activity,
  witnesses,
});

// Dialogs replace the prompt and its status row.
const isBoxLast = (screen: ScreenView): boolean => {
  let last = screen.rows - 1;
  while (last >= 0 && screen.text(last) === '') last -= 1;
  return BOX_END.test(screen.text(last));
};

// How a compaction ended, as the newest item of the conversation says.

const ITEM = /^ {1,2}([●✗❯]) (\S.*)$/;
const FAILED = /^Compaction Failed: (?:Error: )?(.*)$/;

const endAbove = (screen: ScreenView, { top }: Composer, at: Millis): readonly Fact[] => {
  let row = top - 1;
  while (row >= 0 && !ITEM.test(conversationRow(screen, row))) row -= 1;
  const [, sign, first = ''] = ITEM.exec(conversationRow(screen, row)) ?? [];
  if (sign === '●' && first === 'Compaction completed')
    return [{ type: 'boundary', boundary: { initiator: 'user', source: 'screen', at } }];
  if (sign !== '✗') return [];
  const words = FAILED.exec([first, ...rowsBelow(screen, row)].join(' '))?.[1];
  return words === undefined ? [] : [{ type: 'compact-result', result: compactResult(words) }];
};

/** The wrapped rows of the item. */
const rowsBelow = (screen: ScreenView, row: number): readonly string[] => {
  const text = conversationRow(screen, row + 1);
  return /^ {3}\S/.test(text) ? [text.trim(), ...rowsBelow(screen, row + 1)] : [];
};
