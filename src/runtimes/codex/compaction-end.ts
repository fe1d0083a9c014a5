// How a compaction that was seen on the screen ended. Old rows of compactions come and go as the conversation scrolls: only the end of
// one that was seen running counts, and words that were there before only if Codex's state says that they are new.
import type { Fact } from '../../core/event.js';
import { oneLine } from '../../core/one-line.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import { isCompacted } from './doubt.js';
import type { Look } from './doubt.js';
import { errorText, headAbove, INTERRUPTED } from './layout.js';
import type { Head } from './layout.js';

const LONGEST_ERROR = 200; // characters; the model's server may send a page

/** The turn has gone on, so that its answer stands below. What stood there before the compaction is above its row, and so are all old rows. */
const isCompactedAbove = (last: Head, before: string, screen: ScreenView): boolean => {
  let head: Head | undefined = last;
  while (head && !isSame(head.text, before)) {
    head = headAbove(screen, head);
    if (isCompacted(head)) return !isSame(head?.text ?? '', before);
  }
  return false;
};

// Another width cuts the row elsewhere.
const isSame = (text: string, before: string): boolean =>
  before !== '' && (text.startsWith(before) || before.startsWith(text));

/** `before` is what the conversation ended with when the compaction began. */
export const endFacts = (before: string, screen: ScreenView, look: Look, now: Millis): readonly Fact[] => {
  const { isCompacting, state, head } = look;
  if (isCompacting || !head) return [];
  const isOther = head.text !== before;
  if (isCompacted(head)) {
    const isNew = state === 'done' || (state === 'working' && isOther);
    return isNew ? [{ type: 'boundary', boundary: { source: 'screen', at: now } }] : [];
  }
  const words = errorText(screen, head);
  if (words === undefined) {
    const isTold = (state === 'done' || state === 'working') && isCompactedAbove(head, before, screen);
    return isTold ? [{ type: 'boundary', boundary: { source: 'screen', at: now } }] : [];
  }
  if (INTERRUPTED.test(words))
    return isOther || state === 'idle'
      ? [{ type: 'compact-result', result: { kind: 'interrupted', by: 'the user' } }]
      : [];
  const text = oneLine(words.slice('■ '.length), LONGEST_ERROR);
  return isOther || state === 'error'
    ? [{ type: 'compact-result', result: { kind: 'failed', failure: 'error', text } }]
    : [];
};
