import type { Fact } from '../../core/event.js';
import { present } from '../../core/present.js';
import type { ScreenView } from '../../core/reading.js';
import type { View } from '../../core/shown-conversation.js';
import { findPane, isSentMessage, TEXT_COLUMN, type Pane } from './layout.js';

// Which conversation Codex's screen shows (docs/facts/codex-background-server.md): a list of them, the side chat, or the one that the
// composer belongs to. It says so before its thread is known to any file, so that a number goes with its conversation.

/** What a screen shows, and how to recognise a next screen that shows the same. */
export interface CodexLook {
  readonly view: View;
  /** the part of Codex that has the keys */
  readonly place: string;
  /** how the conversation begins: its first message, or what it was forked from; '' before the first one. Undefined where that is not visible */
  readonly start?: string;
}

/**
 * The name that the view of a side chat has beside its own: its thread is no conversation of the user's otherwise. No thread can have it,
 * because a name on the screen is one row.
 */
export const SIDE_CHAT = 'side\nchat';

const LISTS = [
  { heading: /^ {2}Agent command center(?: |$)/, name: 'the list of agents' },
  { heading: /^ ?(?:Resume|Fork) a previous session$/, name: 'the list of conversations' },
] as const;
const SIDE_TABS = /│ [^│]*×[^│]*\+$/;
const HEADER = /^(?: {2}|│ )>_ OpenAI Codex \(v/;
const LAST_HEADER_ROW = 1;
const FORKED = /^• Thread forked from /;
const SPINNER = /^[\u2800-\u28ff] /;

/** Undefined where the screen does not tell: while Codex starts, in a dialog, in a view of the transcript. */
export const lookAt = (screen: ScreenView, pane: Pane | undefined, title = ''): CodexLook | undefined => {
  const side = sideChatAt(screen);
  if (side) return side;
  if (!pane) return listAt(screen);
  if (!pane.hasCursor) return undefined;
  // before a thread is open the composer is there, and no status line
  const [hints, ...status] = pane.footer.map((row) => screen.text(row)).toReversed();
  if (hints === undefined || (status.length === 0 && !hints.includes('← for agents'))) return undefined;
  const messages = messagesIn(screen, 0, pane.row);
  const named = [...itemsOf(status.toReversed()), ...title.replace(SPINNER, '').split(' | ')];
  return {
    view: { shows: 'conversation', names: named.filter(Boolean), messages },
    place: 'conversation',
    ...present({ start: startOf(screen, pane.row, messages) }),
  };
};

const listAt = (screen: ScreenView): CodexLook | undefined => {
  const list = LISTS.find(({ heading }) => heading.test(screen.text(0)));
  const column = screen.text(0).search(/\S/);
  if (!list || screen.styleAt(0, column)?.bold !== true) return undefined;
  return { view: { shows: 'list', name: list.name }, place: list.name };
};

// The screen is split, and the cursor is in the right part, which has a composer of its own.
const sideChatAt = (screen: ScreenView): CodexLook | undefined => {
  if (!SIDE_TABS.test(screen.text(0))) return undefined;
  const bar = screen.text(0).lastIndexOf('│');
  if (screen.styleAt(0, bar)?.dim !== true || screen.cursorColumn <= bar) return undefined;
  const part = partOf(screen, bar + 1);
  const pane = findPane(part);
  if (!pane?.hasCursor) return undefined;
  const messages = messagesIn(part, 1, pane.row);
  const names = itemsOf(pane.footer.slice(0, -1).map((row) => part.text(row)));
  return {
    view: { shows: 'conversation', names: [SIDE_CHAT, ...names], messages },
    place: SIDE_CHAT,
    start: messages[0] ?? '',
  };
};

/** The screen from this column on. A row with wide characters before it is taken for empty. */
const partOf = (screen: ScreenView, column: number): ScreenView => ({
  ...screen,
  columns: screen.columns - column,
  cursorColumn: screen.cursorColumn - column,
  text: (row) => {
    const text = screen.text(row);
    return text[column - 1] === '│' ? text.slice(column) : '';
  },
  styleAt: (row, each) => screen.styleAt(row, column + each),
});

const itemsOf = (status: readonly string[]): readonly string[] =>
  status
    .map((text) => text.trim())
    .join(' ')
    .split(' · ');

const messagesIn = (screen: ScreenView, from: number, to: number): readonly string[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
    .filter((row) => isSentMessage(screen, row))
    .map((row) => screen.text(row).slice(TEXT_COLUMN));

const startOf = (
  screen: ScreenView,
  composer: number,
  [first = '']: readonly string[],
): string | undefined => {
  const header = Array.from({ length: LAST_HEADER_ROW + 1 }, (_, row) => row).find((row) =>
    HEADER.test(screen.text(row)),
  );
  if (header === undefined) return undefined;
  for (let row = header + 1; row < composer; row += 1)
    if (FORKED.test(screen.text(row))) return screen.text(row);
  return first;
};

/** What a screen says about the view, after what was seen last: another one, or more of the same. */
export const viewFacts = (before: CodexLook | undefined, now: CodexLook | undefined): readonly Fact[] => {
  if (!now) return [];
  const { view } = now;
  // the conversation that Codex begins with is no change
  if (!before) return [{ type: 'view', view, ...(view.shows === 'list' ? {} : { isSame: true }) }];
  if (isOther(before, now)) return [{ type: 'view', view }];
  return isSameView(before.view, view) ? [] : [{ type: 'view', view, isSame: true }];
};

/** What is remembered of this look and those before it. */
export const remembered = (
  before: CodexLook | undefined,
  now: CodexLook | undefined,
): CodexLook | undefined => {
  if (!before || !now || isOther(before, now)) return now ?? before;
  // one that was empty and whose beginning has gone has begun with something that was never seen
  return { ...now, ...present({ start: now.start || before.start || now.start }) };
};

// The first message of a conversation that was empty is no change, and another width cuts the row elsewhere. A beginning that was not
// visible may come into view, but one without messages is of a new conversation.
const isOther = (before: CodexLook, now: CodexLook): boolean => {
  if (before.place !== now.place) return true;
  if (now.start === undefined || before.start === '') return false;
  if (now.start === '' || before.start === undefined) return now.start === '';
  return !(now.start.startsWith(before.start) || before.start.startsWith(now.start));
};

const isSameView = (before: View, now: View): boolean => {
  if (before.shows === 'list' || now.shows === 'list') return before.shows === now.shows;
  return before.messages.at(-1) === now.messages.at(-1) && before.names.join() === now.names.join();
};
