import type { Mode } from '../compaction/state.js';
import { formatTokens } from '../format.js';
import type { Ladder } from '../ladder.js';
import { isSameLimit, limitChoices, type LimitSelection, type SessionLimit } from '../own-limit.js';
import type { Session } from '../session.js';
import { boundText, type Row, type Section } from './report-sections.js';
import { sessionLadder } from './report.js';

// The page of the overlay on which the user chooses where the window is compacted at the latest.

/** Its keys, the most useful first. */
export const limitKeys = [
  ['Enter', 'take'],
  ['Esc', 'back'],
] as const;

export const limitSection = (session: Session, mode: Mode, marked: LimitSelection | undefined): Section => {
  const { auto } = sessionLadder(session);
  const free = sessionLadder({ ...session, limit: 'none' });
  const current = auto?.custom ? auto : undefined;
  const rows = limitChoices.map(({ name, limit }, index): Row => {
    const isMarked = index === marked?.choice;
    const isNow = isSameLimit(limit, current ?? 'none');
    return {
      sign: isMarked ? 'reached' : 'none',
      label: String(index + 1),
      values: [name],
      text: [...(isNow ? ['now'] : []), ...limitFacts(limit, free)].join(', '),
      emphasis: isMarked ? 'strong' : 'plain',
      isOneLine: true,
    };
  });
  const spans = marked?.span === 'always' ? 'this session  [always]' : '[this session]  always';
  return {
    title: `Limit (now ${current ? boundText(current) : 'none'})`,
    rows: [...rows, { label: 'Tab', text: spans }, { text: consequences[mode], emphasis: 'quiet' }],
    hasKeys: true,
  };
};

/** Short, for a narrow terminal. `free`: without a limit. */
const limitFacts = (limit: SessionLimit, { auto, native, windowTokens }: Ladder): readonly string[] => {
  if (limit !== 'none') {
    const end = Math.min(native?.tokens ?? Infinity, windowTokens ?? Infinity);
    return limit.unit === 'tokens' && limit.value >= end ? ['not reached here'] : [];
  }
  return auto ? [`at ${auto.unit === 'percent' ? `${auto.value}%` : formatTokens(auto.value)}`] : [];
};

const consequences: Readonly<Record<Mode, string>> = {
  auto: 'Above it the agent is told to compact at the next safe moment.',
  ask: 'Above it compacting is suggested (mode ask).',
  warn: 'Nothing happens above it by itself (mode warn).',
  off: 'Nothing happens above it by itself (mode off).',
};
