import type { Fact } from '../../core/event.js';
import type { Signals } from '../../core/reading.js';
import type { View, ViewMarks } from '../../core/shown-conversation.js';
import type { ScreenEvidence } from '../agent.js';
import { rowsAbove, USER_ROW } from './compaction.js';
import { isAgentList, LIST_TITLE, nameInBar, type Layout } from './layout.js';

// What Claude has in view. `←` on an empty prompt makes it a screen for sessions that run in the background: it shows a list of them, and
// from there any of them, which has another id, another file and another process (docs/facts/claude.md#views).

const LIST: View = { shows: 'list', name: 'the list of agents' };

const SIGN = /^[^\p{L}\p{N}\s"'([{]\ufe0f? +(?=\S)/u;
const UNNAMED = 'Claude Code';
const MOST_MESSAGES = 5;
const LONGEST = 200; // characters of a name or a message

/** What earlier screens have shown. */
export interface SeenView {
  readonly isList: boolean;
  /** the last titles, the newest last */
  readonly titles: readonly string[];
  /** names behind the last title of the list; undefined before there was one: the session is the child's own */
  readonly names?: readonly string[];
  /** the marks that were reported last, as JSON */
  readonly lastMarks?: string;
}

export const noView: SeenView = { isList: false, titles: [] };

/** The view after this screen, and what is new about it. */
export const updateView = (
  before: SeenView,
  seen: ScreenEvidence,
  layout: Layout,
): { readonly view: SeenView; readonly facts: readonly Fact[] } => {
  const titles = titlesOf(seen.signals);
  const fresh = newTitles(before.titles, titles);
  const lastList = fresh.findLastIndex((title) => LIST_TITLE.test(title));
  // the title of a session appears while the list is still on the screen
  const opened = lastList < 0 ? [...(before.names ?? []), ...fresh] : fresh.slice(lastList + 1);
  if (isAgentList(seen, layout)) {
    const names = before.isList || lastList >= 0 ? namesOf(opened) : [];
    return {
      view: { isList: true, titles, names },
      facts: before.isList ? [] : [{ type: 'view', view: LIST }],
    };
  }
  const isOther = before.isList || lastList >= 0;
  if (!isOther && before.names === undefined) return { view: { isList: false, titles }, facts: [] };
  const names = namesOf(opened);
  const marks = marksOn(seen, layout, names);
  const marksText = JSON.stringify(marks);
  const fact: Fact = {
    type: 'view',
    view: { shows: 'conversation', ...marks },
    ...(isOther ? {} : { isSame: true }),
  };
  return {
    view: { isList: false, titles, names, lastMarks: marksText },
    facts: isOther || marksText !== before.lastMarks ? [fact] : [],
  };
};

const marksOn = ({ screen }: ScreenEvidence, layout: Layout, names: readonly string[]): ViewMarks => {
  if (layout.kind !== 'prompt') return { names, messages: [] };
  const inBar = nameInBar(screen, layout);
  const messages = rowsAbove(screen, layout.upper)
    .filter((row) => USER_ROW.test(row))
    .map((row) => row.slice(2).trim().slice(0, LONGEST))
    .filter((text) => !/^[/!]/.test(text)); // commands are recorded otherwise
  return {
    names: inBar === undefined || names.includes(inBar) ? names : [...names, inBar],
    messages: messages.slice(-MOST_MESSAGES),
  };
};

const titlesOf = ({ title, titlesBefore = [] }: Signals): readonly string[] =>
  title === undefined ? titlesBefore : [...titlesBefore, title];

/** The titles behind those of the last screen; only a few are remembered. */
const newTitles = (before: readonly string[], now: readonly string[]): readonly string[] => {
  for (let from = 0; from < before.length; from += 1) {
    const kept = before.slice(from);
    if (kept.every((title, index) => now[index] === title)) return now.slice(kept.length);
  }
  return now;
};

const namesOf = (titles: readonly string[]): readonly string[] => [
  ...new Set(
    titles
      .map((title) => title.replace(SIGN, '').trim().slice(0, LONGEST))
      .filter((name) => name !== '' && name !== UNNAMED),
  ),
];
