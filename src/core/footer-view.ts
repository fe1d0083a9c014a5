import type { DueKind } from './compaction/policy.js';
import type { Mode } from './compaction/state.js';
import type { MessageTone } from './compaction/texts.js';
import type { EnterQuestion } from './enter-hold.js';
import { cacheText, limitsText } from './economy.js';
import { isStale } from './evidence.js';
import { formatOwnPercent, formatTokens } from './format.js';
import { type FusedReading, ladderFor, updateDisplayed } from './fusion.js';
import type { Ladder, Tier } from './ladder.js';
import { approachOf, type Distance, type NextPoint } from './next-compaction.js';
import {
  isOverFull,
  percentUsed,
  windowPercent,
  type Millis,
  type NoNumberReason,
  type Reading,
} from './reading.js';
import { measureContextOf, type Session } from './session.js';
import type { ShownConversation } from './shown-conversation.js';
import type { KnownWindow } from './window.js';
import { present } from './present.js';

/** The contents of the footer as plain values. Unknown numbers are absent, and the footer never displays an unknown number. */
export interface FooterView {
  /** name of the agent: claude, codex, gemini, qwen, demo, generic */
  readonly runtime: string;
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  /** 0…100 of the window, not rounded */
  readonly usedPercent?: number;
  /** more is used than the window holds: displayed as `>100%` */
  readonly isOver?: true;
  /** 0…100 of the way to the next compaction, not rounded; the bar is this long */
  readonly wayPercent?: number;
  /** to a next compaction far below the window */
  readonly distance?: Distance;
  readonly tier?: Tier;
  /** what follows from the tier, where nothing else is said: `compacts when idle` */
  readonly tierNote?: string;
  /** an estimate, or raised by a less trusted source: displayed with `~` */
  readonly estimated: boolean;
  /** the window is inferred, not reported: displayed with `?` */
  readonly windowInferred: boolean;
  /** the number has not changed during minutes of output: displayed dim */
  readonly stale?: boolean;
  /** the agent's name of the current model, if known */
  readonly model?: string;
  /** compactions observed in this session */
  readonly compactions: number;
  /** how long the prompt cache stays warm: `12m`, `~4m`, `cold` */
  readonly cache?: string;
  /** how much of the plan's limits is used: `5h 42% 7d 13%` */
  readonly limits?: string;
  /** a text in place of a missing number: `no reading`, `size pending`, `waiting for the first turn`, or the agent's own number */
  readonly note?: string;
  /** the state of compaction, or a notice */
  readonly words?: string;
  /** the same for a narrow row, with the key that the words offer */
  readonly shortWords?: string;
  /** of the words: how a compaction has ended */
  readonly tone?: MessageTone;
  /** the next Enter of the user is held back, or was: the words ask whether to send */
  readonly enter?: EnterQuestion;
  /** what the hotkey does, for a user who has not pressed it yet */
  readonly hint?: string;
  /** a compaction is due: the row is required, and a countdown comes before everything else in it */
  readonly due?: DueKind;
}

/** How the session is compacted. */
export interface FooterCompaction {
  readonly mode: Mode;
  /** the agent has a compact command that ctxwrap knows: without one nothing is started, also by a control channel */
  readonly isKnown: boolean;
  /** nothing would be started in this tier, whatever the number; below auto, at auto */
  readonly isPaused?: boolean;
  /** what makes it compact now, where there is a key: `Ctrl-] c` */
  readonly key?: string | undefined;
}

const usualCompaction: FooterCompaction = { mode: 'auto', isKnown: false };

/** The footer's contents for a session now. */
export const footerView = (
  state: Session,
  now: Millis,
  compaction: FooterCompaction = usualCompaction,
): FooterView => {
  const { agent, compactions, blank, conversation, flow, cache } = state;
  const limits = limitsText(state.limits, now);
  const { model } = state.windows;
  const base = {
    runtime: agent,
    compactions,
    estimated: false,
    windowInferred: false,
    ...present({ model }),
    ...(cache === undefined ? {} : { cache: cacheText(cache, now) }),
    ...(limits === '' ? {} : { limits }),
  };
  const shown = updateDisplayed(state.shown, state.fused, now);
  if (!shown) return { ...base, note: conversationNote(conversation) ?? noteOf(blank) };
  return {
    ...base,
    ...(isFromBefore(state, shown.fused) ? { words: FROM_BEFORE } : {}),
    ...numbers(shown.fused),
    ...coming(state, shown.fused, compaction),
    ...(isStale(flow) ? { stale: true } : {}),
  };
};

/** For the number of a resumed conversation, which its last turn has left; other texts come before it. */
const FROM_BEFORE = 'before your first turn';

const isFromBefore = ({ turns, startedAt }: Session, { reading }: FusedReading): boolean =>
  turns === 0 && reading.source === 'log' && reading.at < startedAt;

/** Why no conversation is known in this view; undefined where one is, or was not looked for. */
const conversationNote = (conversation: ShownConversation): string | undefined => {
  switch (conversation.kind) {
    case 'list':
      return conversation.name;
    case 'sought':
      return 'looking for this conversation';
    default:
      return undefined;
  }
};

const noteOf = ({ why }: NoNumberReason): string => {
  switch (why) {
    case 'waiting':
      return 'waiting for the first turn';
    case 'pending':
      return 'size pending';
    case 'gone':
    case 'unreadable':
      return 'no reading';
  }
};

const coming = (
  state: Session,
  fused: FusedReading,
  compaction: FooterCompaction,
): Pick<FooterView, 'wayPercent' | 'distance' | 'tierNote'> => {
  const ladder = ladderFor(measureContextOf(state), fused);
  const { point, wayPercent, distance } = approachOf(ladder, compaction.mode, fused);
  const tierNote =
    fused.tier && tierNoteOf(fused.tier, { ladder, point, fused, compaction, agent: state.agent });
  return present({ wayPercent, distance, tierNote });
};

/** True whatever happens next. */
const plainNotes: Readonly<Record<Tier, string>> = {
  safe: 'room left',
  warn: 'filling up',
  auto: 'almost full',
  hard: 'window full',
};

interface TierPlace {
  readonly ladder: Ladder;
  readonly point: NextPoint;
  readonly fused: FusedReading;
  readonly compaction: FooterCompaction;
  readonly agent: string;
}

/**
 * What happens in this tier or, below auto, where something happens next. Nothing is promised on a number that starts nothing: a guess, or
 * one that another source has raised.
 */
const tierNoteOf = (tier: Tier, { ladder, point, fused, compaction, agent }: TierPlace): string => {
  const { mode, isKnown, isPaused = false, key } = compaction;
  const at = point.unit === 'tokens' ? formatTokens(point.value) : `${point.value}%`;
  const isAbove = tier === 'auto' || tier === 'hard';
  if (!fused.exact || mode === 'off') return plainNotes[tier];
  if (!isAbove && point.kind === 'own') return `${agent} compacts at ${at}`;
  if (!isKnown || !ladder.auto || point.kind === 'hard') return plainNotes[tier];
  if (isAbove && mode === 'auto' && !isPaused) return 'compacts when idle';
  if (isAbove) return key === undefined ? plainNotes[tier] : `${key} compacts`;
  if (mode === 'warn' || isPaused) return plainNotes[tier];
  return mode === 'auto' ? `compacts at ${at}` : `asks at ${at}`;
};

/** The text if tokens are counted but the window is unknown; other texts come before it. */
const WINDOW_UNKNOWN = 'window unknown: set --window';

const numbers = ({
  reading,
  window,
  raised,
  tier,
}: FusedReading): Omit<FooterView, 'runtime' | 'compactions'> => {
  const { usedTokens } = reading;
  const usedPercent = windowPercent(reading);
  const note = formatOwnPercent(reading);
  return {
    estimated: reading.source === 'estimate' || (raised && reading.source === 'screen'),
    windowInferred: window !== undefined && !window.certain,
    ...present({ usedTokens, windowTokens: window?.windowTokens }),
    ...(usedPercent === undefined ? {} : { usedPercent, ...(isOverFull(reading) ? { isOver: true } : {}) }),
    ...present({ tier, note }),
    ...(isWindowUnknown({ reading, window }) ? { words: WINDOW_UNKNOWN } : {}),
  };
};

interface Numbers {
  readonly reading: Reading;
  readonly window?: KnownWindow | undefined;
}

/** True if the agent reports tokens, but neither the size of its window nor a percentage. */
export const isWindowUnknown = ({ reading, window }: Numbers): boolean =>
  window === undefined && reading.source !== 'estimate' && percentUsed(reading) === undefined;

/** The view with the question in place of other words. */
export const askingView = (view: FooterView, { text }: EnterQuestion): FooterView => {
  const { tone: _, ...others } = view;
  return { ...others, words: text, enter: { text, isAsked: true } };
};
