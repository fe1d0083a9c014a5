import { claudeScreen } from '../../src/agents/claude/screen.js';
import type { ScreenResult } from '../../src/agents/agent.js';
import type { AgentStatus, ScreenEvidence } from '../../src/agents/agent.js';
import { viewOf } from './claude-view.js';
import type { Drawn } from './claude-view.js';

export const IDLE = '✳ Mock title';
export const BUSY = '⠂ Mock title';

/** What differs from an idle screen. */
export interface Frame {
  readonly columns?: number;
  readonly above?: readonly string[];
  /** the bar above the prompt */
  readonly upper?: string;
  readonly prompt?: readonly string[];
  readonly footer?: readonly string[];
  readonly cursor?: readonly [number, number];
  readonly alternate?: boolean;
}

export const conversation = ['❯ hello one', '', '● first answer', '', '✻ Brewed for 0s', ''];
export const HINTS = '  ? for shortcuts · ← for agents';

/** A screen of Claude: conversation, the prompt between its bars, the footer. */
export const drawn = (frame: Frame = {}): Drawn => {
  const {
    columns = 100,
    above = conversation,
    prompt = ['❯\u00a0'],
    footer = [HINTS],
    alternate = false,
  } = frame;
  const bar = '─'.repeat(columns);
  const rows = [...above, frame.upper ?? bar, ...prompt, bar, ...footer];
  const row = above.length + prompt.length;
  const cursor = frame.cursor ?? [row, Math.max(2, prompt.at(-1)?.trimEnd().length ?? 0)];
  return { columns, rows, cursor, alternate };
};

/** A draft whose first rows are scrolled out of sight. */
export const scrolled: Frame = {
  upper: `─── ↑ 26 more ${'─'.repeat(86)}`,
  prompt: ['  and the rest', '  of it'],
};

export const seenOf = (
  drawing: Drawn,
  title: string | undefined = IDLE,
  status?: AgentStatus,
): ScreenEvidence => ({
  screen: viewOf(drawing),
  signals: title === '' ? {} : { title },
  ...(status ? { status } : {}),
});

export const look = (seen: ScreenEvidence, env = {}): ScreenResult => claudeScreen.reader(env)(seen, 0);

/** The events of several screens, one after another. */
export const watch = (screens: readonly ScreenEvidence[]): readonly ScreenResult[] => {
  let read = claudeScreen.reader({});
  return screens.map((seen, index) => {
    const step = read(seen, index * 100);
    read = step.next;
    return step;
  });
};

export const numbers = (step: ScreenResult) =>
  step.facts.flatMap((fact) =>
    fact.type === 'reading' ? [[fact.reading.basis, fact.reading.usedPercent]] : [],
  );
export const windows = (step: ScreenResult) =>
  step.facts.flatMap((fact) => (fact.type === 'window' ? [[fact.claim.model, fact.claim.windowTokens]] : []));
export const boundaries = (steps: readonly ScreenResult[]) =>
  steps.flatMap(({ facts }) =>
    facts.flatMap((fact) => (fact.type === 'boundary' ? [fact.boundary.initiator] : [])),
  );
