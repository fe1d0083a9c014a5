import { errorText } from '../core/errors.js';
import type { ActionRecord } from '../storage/requests.js';
import { beginIn, endedAnswer, isAskerRunning, type AnswerContent, type AnswerWriter } from './answers.js';
import type { ChannelUndone } from '../typing/channel-undo.js';
import type { BriefResult } from '../typing/receipts.js';
import type { MomentWait, TypingGate } from '../typing/safe-moment.js';
import type { ShortenAsked, ShortenResult } from '../typing/shortener.js';
import type { SwitchResult } from '../typing/switcher.js';

// The open requests of other processes besides those to compact, and what is done for them.

type ActionWait = Required<Pick<MomentWait, 'signal' | 'onHold' | 'gate'>>;

/** What is done for other processes, besides compacting: each resolves when its outcome is known, and is withdrawn by the signal. */
export interface RequestActions {
  readonly switchTo: (name: string, wait: ActionWait) => Promise<SwitchResult> | undefined;
  readonly brief: (wait: ActionWait) => Promise<BriefResult> | undefined;
  /** by the agent's control channel */
  readonly undo: (wait: ActionWait) => Promise<ChannelUndone> | undefined;
  readonly shorten: (asked: ShortenAsked, wait: ActionWait) => Promise<ShortenResult> | undefined;
}

type ActionResult = ChannelUndone | BriefResult | ShortenResult;

interface OpenAction {
  readonly request: ActionRecord;
  readonly abort: AbortController;
  /** something may have been typed for it */
  isBegun: boolean;
}

/** The open requests for these actions, and their answers. */
export const makeActionQueue = (actions: RequestActions | undefined, answers: AnswerWriter) => {
  const open = new Map<string, OpenAction>();
  const withdraw = (id: string): void => {
    open.get(id)?.abort.abort();
    open.delete(id);
  };
  const carryOut = async (one: OpenAction): Promise<void> => {
    const { request, abort } = one;
    const { request: id } = request;
    void answers.write(id, { state: 'waiting' });
    const onHold = (reason: string): void => {
      if (open.has(id)) void answers.write(id, { state: 'waiting', reason });
    };
    const wait = { signal: abort.signal, onHold, gate: gateOf(answers, one) };
    const result = await (perform(actions, request, wait) ?? NOT_FOLLOWED);
    if (!open.delete(id)) return answers.drop(id);
    void answers.write(id, answerTo(result));
  };
  return {
    accept: (request: ActionRecord): void => {
      const one = { request, abort: new AbortController(), isBegun: false };
      open.set(request.request, one);
      void carryOut(one).catch((error: unknown) => {
        open.delete(request.request);
        void answers.write(request.request, {
          state: one.isBegun ? 'unknown' : 'refused',
          reason: errorText(error),
        });
      });
    },
    keepOnly: (ids: readonly string[]): void => {
      for (const id of [...open.keys()].filter((each) => !ids.includes(each))) withdraw(id);
    },
    withdrawOrphans: (): void => {
      for (const [id, { request }] of open) if (!isAskerRunning(request)) withdraw(id);
    },
    close: (): void => {
      for (const [id, one] of open) {
        withdraw(id);
        void answers.write(id, endedAnswer(one.isBegun));
      }
    },
  };
};

/** Undefined where the agent is not followed. */
const perform = (
  actions: RequestActions | undefined,
  request: ActionRecord,
  wait: ActionWait,
): Promise<ActionResult> | undefined => {
  switch (request.schema) {
    case 'ctxwrap.brief/1':
      return actions?.brief(wait);
    case 'ctxwrap.undo/1':
      return actions?.undo(wait);
    case 'ctxwrap.shorten/1':
      return actions?.shorten(request, wait);
    case 'ctxwrap.switch/1':
      return actions?.switchTo(request.name, wait);
  }
};

const gateOf = (answers: AnswerWriter, one: OpenAction): TypingGate => ({
  begin: async () => {
    one.isBegun = true;
    return beginIn(answers, one.request.request);
  },
  rest: () => {
    if (one.isBegun) void answers.write(one.request.request, { state: 'waiting' });
    one.isBegun = false;
  },
});

const answerTo = (result: ActionResult): AnswerContent => {
  if ('reason' in result) return { state: result.kind, reason: result.reason };
  return 'words' in result ? { state: result.kind, words: result.words } : { state: result.kind };
};

const NOT_FOLLOWED = { kind: 'refused', reason: 'its screen is not followed' } as const;
