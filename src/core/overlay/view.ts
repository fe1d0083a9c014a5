// What the overlay shows of a session, as plain values. What is not known is absent: nothing is drawn in place of it.
import { blankSentence } from '../blank-sentence.js';
import type { Compaction, Mode } from '../compaction/state.js';
import type { Millis } from '../reading.js';
import type { ToolResult } from '../tool-result.js';
import type { UsageHistory } from '../usage-history.js';
import { footerView } from '../view.js';
import { overlayAttempts } from './attempts.js';
import type { OverlayAttempt } from './attempts.js';
import { overlayDetail } from './detail.js';
import type { OverlayDetail } from './detail.js';
import { fullness } from './fill.js';
import type { Fullness } from './fill.js';
import { nextSentence } from './next.js';
import type { OverlayRecord } from './record.js';
import type { Session } from '../session-state.js';

/** What the overlay is made of. */
export interface OverlayFacts {
  readonly session: Session;
  readonly compaction: Compaction;
  /** what was noted of every step so far */
  readonly record: OverlayRecord;
  /** the largest since the last compaction, the largest first; undefined where no file tells of them */
  readonly contents?: readonly ToolResult[] | undefined;
  readonly model?: string | undefined;
  /** how people know this conversation, where it has a name; the agent's own id when absent */
  readonly name?: string | undefined;
  /** of the wrap */
  readonly startedAt: Millis;
  readonly now: Millis;
  /** what the shell can do beside compacting and the mode */
  readonly can?: OverlayAbilities | undefined;
  /** what was refused, or another fact that has just come up */
  readonly notice?: string | undefined;
  /** as people write it: `Ctrl-]` */
  readonly hotkey?: string | undefined;
}

/** Keys that are there only where their action is possible now. */
export interface OverlayAbilities {
  readonly postpone?: boolean;
  readonly undo?: boolean;
  readonly handoff?: boolean;
}

export interface OverlayView extends Fullness {
  readonly runtime: string;
  readonly model?: string;
  readonly name?: string;
  /** how long the wrap has run */
  readonly ageMs: number;
  /** a sentence in place of the numbers */
  readonly blank?: string;
  readonly mode: Mode;
  /** text that came after a number at warn counts, too */
  readonly isProactive: boolean;
  /** what happens next, one sentence */
  readonly next: string;
  readonly notice?: string;
  readonly usage: UsageHistory;
  readonly now: Millis;
  /** newest first */
  readonly attempts: readonly OverlayAttempt[];
  /** in this session */
  readonly compactions: number;
  /** absent where nothing tells of them */
  readonly contents?: readonly ToolResult[];
  readonly detail: OverlayDetail;
  readonly can: OverlayAbilities;
  readonly hotkey?: string;
}

export const overlayView = (facts: OverlayFacts): OverlayView => {
  const { session, compaction, record, contents, startedAt, now, can = {}, notice, hotkey } = facts;
  const full = fullness(session, now);
  const name = facts.name ?? session.sessionId;
  const model = facts.model ?? session.windows.model;
  return {
    ...full,
    runtime: session.runtime,
    ...(model === undefined ? {} : { model }),
    ...(name === undefined ? {} : { name }),
    ageMs: Math.max(0, now - startedAt),
    ...(full.fill ? {} : { blank: blankText(session, now) }),
    mode: compaction.mode,
    isProactive: compaction.isProactive,
    next: nextSentence({ ...facts, canPostpone: can.postpone === true }),
    ...(notice === undefined ? {} : { notice }),
    usage: record.usage,
    now,
    attempts: overlayAttempts(record.past, now),
    compactions: session.compactions,
    ...(contents ? { contents } : {}),
    detail: overlayDetail(session, compaction, now),
    can,
    ...(hotkey === undefined ? {} : { hotkey }),
  };
};

/** Why there is no number; here is room for more than the footer's word. */
const blankText = (session: Session, now: Millis): string => {
  const { blank } = session;
  if (blank.why === 'unreadable') return `There is no number: ${blank.reason}.`;
  if (blank.why === 'gone') return "There is no number: the agent's screen has shown one and shows none now.";
  return blankSentence(footerView(session, now).note);
};
