import { errorText } from '../core/errors.js';
import { answerEvent } from '../core/session-flow.js';
import {
  actWhenSafe,
  makeLane,
  refused,
  unknown,
  type ActionContext,
  type ActionWait,
  type MomentRules,
  type NotDone,
} from './action.js';
import { NO_PASTES, typeDraft } from './typist.js';

// Puts a text into the agent's prompt, when it rests at an empty one. It is a draft: the user reads it, changes it and sends it, or not.

/** `unknown`: it was pasted, and the prompt does not show it. */
export type DraftOutcome = NotDone | { readonly kind: 'drafted' };

/** What the user who wants the draft brings along. */
export type DraftWait = Partial<ActionWait & Pick<MomentRules, 'refusal'>>;

/** One at a time; the footer says what came of it. `text` is asked for when it is pasted. Never rejects. */
export type PutDraft = (text: () => string, given?: DraftWait) => Promise<DraftOutcome>;

const AGAIN = { ms: 500, most: 60 };
const MOST_UNMARKED = 5; // an agent at rest that has not asked for marked pastes by then never does
const UNSEEN = 'pasted, but not seen in the prompt';

/** Also puts the text that the session begins with, at once. */
export const makeDrafts = (context: ActionContext): PutDraft => {
  const { session, flow, take, ended } = context;
  const lane = makeLane(ended, 'another draft is already waiting');
  const put: PutDraft = (text, { refusal, ...given } = {}) =>
    lane<DraftOutcome>({ signal: ended, ...given }, async (wait) => {
      const action = { ...pasting(context, text, wait.signal), refusal, again: AGAIN };
      const result = await actWhenSafe<DraftOutcome>(context, action, wait).catch((error: unknown) =>
        refused(errorText(error)),
      );
      session.log.info(`the draft: ${result.kind}${'reason' in result ? `, ${result.reason}` : ''}`);
      if (!wait.signal.aborted) take(answerEvent(wordsOf(result)));
      return result;
    });
  const hasBegun = (): string | undefined => (flow().session.turns > 0 ? 'you have begun' : undefined);
  const { startingDraft } = session;
  if (startingDraft !== undefined) void put(() => startingDraft, { refusal: hasBegun });
  return put;
};

const pasting = (
  { session, screen, port, publisher }: ActionContext,
  textNow: () => string,
  signal: AbortSignal,
) => {
  let unmarked = 0;
  let text = '';
  return {
    act: async (): Promise<DraftOutcome | undefined> => {
      text = textNow();
      const { foldsPastes } = session.agent;
      const result = await typeDraft({ text, port, takesPastes: screen.takesPastes, foldsPastes, signal });
      if (result.kind === 'there') return { kind: 'drafted' };
      if (result.kind === 'unseen') return unknown(UNSEEN);
      if (result.reason === NO_PASTES) unmarked += 1;
      return unmarked >= MOST_UNMARKED ? refused(NO_PASTES) : undefined;
    },
    audit: (result: DraftOutcome | undefined): void => {
      const outcome = result?.kind === 'drafted' ? 'there' : 'unseen';
      const isTyped = result !== undefined && result.kind !== 'refused';
      publisher?.endDraft(isTyped ? { outcome, characters: text.length } : undefined);
    },
  };
};

/** Short, because the footer has little room beside the numbers. */
const wordsOf = (result: DraftOutcome): string => {
  switch (result.kind) {
    case 'drafted':
      return 'draft in the prompt, not sent';
    case 'unknown':
      return `draft ${result.reason}`;
    case 'refused':
      return `no draft: ${result.reason}`;
  }
};
