import type { Section } from './report-sections.js';

// The overview's third page: help.

/** Undoes the last compaction. */
export const UNDO_KEY = 'u';

/** What decides which keys are listed. */
export interface HelpFacts {
  /** as displayed: `Ctrl-]` */
  readonly hotkey?: string | undefined;
  /** no compaction of this agent can be undone */
  readonly hasNoUndo?: boolean | undefined;
  /** a conversation of this agent cannot be shortened while it runs */
  readonly hasNoRescue?: boolean | undefined;
}

/** The keys, signs and tiers. */
export const helpSections = ({ hotkey, hasNoUndo, hasNoRescue }: HelpFacts): readonly Section[] => [
  keySection('Keys', [
    ['c', 'compact now (see Next if it is waiting); again: cancel'],
    ['a', 'switch the mode: auto, ask, warn'],
    ['p', 'postpone until your next turn'],
    ...(hasNoUndo
      ? []
      : [[UNDO_KEY, 'undo the last compaction: back to the conversation before it; again: cancel'] as const]),
    ['b', 'recap: what the last compaction forgot, to give it back'],
    ...(hasNoRescue
      ? []
      : [['r', 'rescue: shorten the conversation without the agent; again: cancel'] as const]),
    ['h', 'write a handoff for another agent to continue with'],
    ['l', 'limit: keep the window below 200k, 300k or 500k tokens'],
    ['n', 'proactive on or off: at warn, also count text since the last number'],
    ['d', 'sources, evidence and the last compaction'],
    ['Arrows', 'scroll; also Page Up, Page Down, Home, End and the wheel'],
    ['Esc', 'back, or close'],
    ['q', hotkey === undefined ? 'close' : `close; also ${hotkey}`],
  ]),
  keySection('Signs', [
    ['~', 'an estimate, or the first number after a compaction'],
    ['?', 'a window that is assumed'],
    ['▶', 'the threshold that is reached'],
    ['⟳', 'a compaction'],
  ]),
  keySection('Tiers', [
    ['safe', 'below every threshold'],
    ['warn', 'full in a few turns'],
    ['auto', 'compacted at the next safe moment, in mode auto'],
    ['hard', 'the same, even after failures'],
  ]),
];

const keySection = (title: string, all: readonly (readonly [string, string])[]): Section => ({
  title,
  rows: all.map(([label, text]) => ({ label, text })),
  hasKeys: true,
});
