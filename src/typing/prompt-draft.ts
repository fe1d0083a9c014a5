import { setTimeout as pass } from 'node:timers/promises';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import type { PasteFolding } from '../core/terminal-input.js';
import { answerEvent } from '../core/session-flow.js';
import type { Log } from '../storage/log-file.js';
import { safeMoment, type MomentWait } from './safe-moment.js';
import type { TypistPort } from './typing-steps.js';
import { NO_PASTES, typeDraft, type DraftResult } from './typist.js';
import type { Publisher, SessionLoop } from '../session/ports.js';

// Puts a text into the agent's prompt, when it rests at an empty one. It is a draft: the user reads it, changes it and sends it, or not.

/** What the user who wants the draft brings along. */
export type DraftWait = Partial<Omit<MomentWait, 'until'>>;

export interface PromptDraft extends Omit<MomentWait, 'until'> {
  readonly text: string;
  readonly port: TypistPort;
  readonly takesPastes: () => boolean;
  readonly foldsPastes: PasteFolding | undefined;
  readonly flow: SessionLoop['flow'];
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
  readonly publisher: Publisher | undefined;
}

const WAIT_MS = 600_000; // for a user who first has to answer the agent's questions
const AGAIN_MS = 500;
const MOST_SKIPS = 60;
const MOST_UNMARKED = 5; // an agent at rest that has not asked for marked pastes by then never does

/** Waits for the moment, then types. Says in the footer what came of it. Never rejects. */
export const putDraft = async (draft: PromptDraft): Promise<DraftResult> => {
  const { log, onEvent, signal } = draft;
  const result = await typeWhenSafe(draft).catch((error: unknown): DraftResult => ({
    kind: 'skipped',
    reason: errorText(error),
  }));
  log.info(`the draft: ${result.kind}${'reason' in result ? `, ${result.reason}` : ''}`);
  if (!signal.aborted) onEvent(answerEvent(wordsOf(result)));
  return result;
};

/** Short, because the footer has little room beside the numbers. */
const wordsOf = (result: DraftResult): string => {
  switch (result.kind) {
    case 'there':
      return 'draft in the prompt, not sent';
    case 'unseen':
      return 'draft pasted, but not seen in the prompt';
    case 'skipped':
      return `no draft: ${result.reason}`;
  }
};

const typeWhenSafe = async (draft: PromptDraft): Promise<DraftResult> => {
  const { text, port, takesPastes, foldsPastes, flow, publisher, signal } = draft;
  const wait: MomentWait = { ...draft, until: performance.now() + WAIT_MS };
  let last: DraftResult = { kind: 'skipped', reason: 'no safe moment was found' };
  let unmarked = 0;
  for (let skips = 0; skips < MOST_SKIPS && !signal.aborted; skips += 1) {
    const moment = await safeMoment({ flow, port }, wait);
    if ('reason' in moment) return { kind: 'skipped', reason: moment.reason };
    publisher?.beginDraft(flow().session);
    last = await typeDraft({ text, port, takesPastes, foldsPastes, signal }).finally(moment.endTurn);
    const { kind: outcome } = last;
    publisher?.endDraft(outcome === 'skipped' ? undefined : { outcome, characters: text.length });
    if (last.kind !== 'skipped') return last;
    if (last.reason === NO_PASTES) unmarked += 1;
    if (unmarked >= MOST_UNMARKED) return last;
    await pass(AGAIN_MS, undefined, { ref: false, signal }).catch(() => undefined);
  }
  return last;
};
