import type { Compaction, Mode } from '../compaction/state.js';
import { limitFor } from '../custom-bounds.js';
import { formatTokens } from '../format.js';
import { isSameLimit, limitChoices, type LimitSelection, type SessionLimit } from '../own-limit.js';
import type { Session } from '../session.js';
import { boundText, type Row, type Section } from './report-sections.js';
import { currentModel } from '../window.js';
import { sessionLadder } from './report.js';

// The page of the overview on which the user chooses where the window is compacted at the latest.

/** Its keys, the most useful first. */
export const limitKeys = [
  ['Enter', 'take'],
  ['Esc', 'back'],
] as const;

export const limitSection = (
  session: Session,
  { mode, settings }: Pick<Compaction, 'mode' | 'settings'>,
  selection: LimitSelection | undefined,
): Section => {
  const current = currentLimit(session);
  const marked = markedChoice(session, selection);
  const rows = limitChoices.map(({ name, limit }, index): Row => {
    const isMarked = index === marked;
    const isNow = isSameLimit(limit, current);
    return {
      sign: isMarked ? 'reached' : 'none',
      label: String(index + 1),
      values: [name],
      text: [...(isNow ? ['now'] : []), ...limitFacts(session, limit)].join(', '),
      emphasis: isMarked ? 'strong' : 'plain',
      isOneLine: true,
    };
  });
  const spans = selection?.span === 'always' ? 'this session  [always]' : '[this session]  always';
  const consequence = settings.command === undefined ? NO_COMMAND : consequences[mode];
  return {
    title: `Limit (now ${currentText(session, current)})`,
    rows: [...rows, { label: 'Tab', text: spans }, { text: consequence, emphasis: 'quiet' }],
    hasKeys: true,
  };
};

/** The limit that is set for the session's model, in the unit of the window where it is reached. */
const currentLimit = (session: Session): SessionLimit => {
  const { auto } = sessionLadder(session);
  if (auto?.custom) return auto;
  return session.limit ?? limitFor(session.ladder, currentModel(session))?.bound ?? 'none';
};

const currentText = (session: Session, current: SessionLimit): string => {
  if (current === 'none') return current;
  return `${boundText(current)}${isReached(session) ? '' : ', not reached here'}`;
};

/** Whether the window and the agent let the session's limit be reached; as long as nothing is known of them, it is taken to be. */
export const isReached = (session: Session): boolean => {
  const { auto, hard } = sessionLadder(session);
  return (auto ?? hard).custom;
};

/** Index of the choice that is marked: until the user has marked one, the limit that is set, or else the first. */
export const markedChoice = (session: Session, selection: LimitSelection | undefined): number => {
  if (selection?.choice !== undefined) return selection.choice;
  const current = currentLimit(session);
  const index = limitChoices.findIndex(({ limit }) => limit !== 'none' && isSameLimit(limit, current));
  return Math.max(0, index);
};

/** Short, for a narrow terminal. */
const limitFacts = (session: Session, limit: SessionLimit): readonly string[] => {
  const chosen = { ...session, limit };
  if (limit !== 'none') return isReached(chosen) ? [] : ['not reached here'];
  const { auto } = sessionLadder(chosen);
  return auto ? [`at ${auto.unit === 'percent' ? `${auto.value}%` : formatTokens(auto.value)}`] : [];
};

const NO_COMMAND =
  'Above it nothing happens: the compact command of this agent is not known, or switched off.';

const consequences: Readonly<Record<Mode, string>> = {
  auto: 'Above it the agent is told to compact at the next safe moment.',
  ask: 'Above it compacting is suggested (mode ask).',
  warn: 'Above it nothing happens automatically (mode warn).',
  off: 'Above it nothing happens automatically (mode off).',
};
