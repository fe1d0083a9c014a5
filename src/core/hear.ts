// Which readings count: impossible ones never, empty ones not after a compaction, the screen's not while a file is about to tell.
import { isVoidedScreen, voided, withReading, withoutOtherModels } from './evidence.js';
import type { Evidence } from './evidence.js';
import { validReading } from './reading.js';
import type { Millis, Reading } from './reading.js';
import { hearClaim, hearReading } from './windows.js';
import type { Windows } from './windows.js';

export interface Heard {
  readonly evidence: Evidence;
  readonly windows: Windows;
  /** as in the session: a session file tells, and numbers of a better source than the screen are to be expected */
  readonly fileTells: boolean;
  readonly isAwaited: boolean;
}

/** What is known after a reading; the same object when the reading does not count. */
export const hear = (known: Heard, said: Reading, now: Millis): Heard => {
  const reading = validReading(said);
  if (!reading) return known;
  if (isEmpty(reading)) {
    if (known.evidence.isVoid) return known;
    // Zeros right after a number are how a status line says that the agent has compacted (facts/claude.md §6).
    if (reading.source !== 'screen' && hasNumber(known.evidence))
      return { ...known, evidence: voided(known.evidence) };
  }
  return reading.source === 'screen' ? hearScreen(known, reading, now) : hearFile(known, reading, now);
};

// A percentage of what lies above a baseline is 0 for every short conversation.
const isEmpty = ({ usedTokens, usedPercent, basis }: Reading): boolean =>
  usedTokens === 0 || (usedTokens === undefined && usedPercent === 0 && basis !== 'baseline');

const hasNumber = ({ candidates }: Evidence): boolean => Object.keys(candidates).length > 0;

const hearScreen = (known: Heard, reading: Reading, now: Millis): Heard => {
  const { evidence, isAwaited } = known;
  if (isVoidedScreen(evidence, reading, isAwaited) || (evidence.isVoid && isAwaited)) return known;
  const { windowTokens, windowSource = 'default', model } = reading;
  const windows =
    windowTokens === undefined
      ? known.windows
      : hearClaim(known.windows, { windowTokens, windowSource, ...(model === undefined ? {} : { model }) });
  return { ...known, windows, evidence: withReading(evidence, reading, now) };
};

const hearFile = (known: Heard, reading: Reading, now: Millis): Heard => {
  const windows = hearReading(known.windows, reading);
  const { model } = windows;
  const isOther = model !== undefined && known.windows.model !== undefined && model !== known.windows.model;
  const evidence = isOther ? withoutOtherModels(known.evidence, model) : known.evidence;
  return {
    windows,
    fileTells: known.fileTells || reading.source === 'log',
    isAwaited: known.isAwaited || reading.source !== 'estimate',
    evidence: withReading(evidence, reading, now),
  };
};
