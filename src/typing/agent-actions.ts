import { basename } from 'node:path';
import type { RecapChoice } from '../core/conversation/recap-selection.js';
import { SESSION_ENDED } from '../core/compaction/requests.js';
import type { Event } from '../core/event.js';
import { counted, hotkeyName } from '../core/format.js';
import { answerEvent } from '../core/session-flow.js';
import { findLongerSession } from '../session-files/shortened-from.js';
import { openSummariser } from '../session-files/summariser.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import { makeContextWay } from './context-way.js';
import type { ActionContext, ActionWait, TypingGate } from './action.js';
import { makeDrafts, type PutDraft } from './prompt-draft.js';
import { makeReceipts, NOTHING_CHOSEN, type Receipts } from './receipts.js';
import { makeRestarter } from './restarter.js';
import { makeShortener, type Shortener } from './shortener.js';
import { makeGoBack, makeSwitcher, type SwitchTo } from './switcher.js';
import { makeUndo, type Undo } from './undo.js';

// What a running session does for the user besides compacting: it goes back to an earlier conversation, shortens it without the agent, and
// gives back what was forgotten. What is asked for by a key is told in the footer, and the same key withdraws it while it waits.

export interface AgentActions
  extends
    Pick<Shortener, 'isOwnBoundary' | 'takenLate' | 'shorten'>,
    Pick<Receipts, 'brief' | 'recap' | 'keptText'> {
  readonly noteEvent: (event: Event) => void;
  readonly switchTo: SwitchTo;
  readonly undoByChannel: Undo['byChannel'];
  /** the key that undoes the last compaction */
  readonly pressUndo: () => void;
  readonly lookAtRecap: Receipts['look'];
  readonly recallWay: Receipts['way'];
  /** something that was given back has not reached the agent yet */
  readonly isRecallWaiting: () => boolean;
  /** takes that back */
  readonly takeBackRecall: () => void;
  /** gives back what the user has chosen in a recap */
  readonly giveBack: (choice: RecapChoice) => void;
  /** the key that gives back what matters most, without the choice */
  readonly pressRecall: () => void;
  /** the key that shortens the conversation without the agent */
  readonly pressRescue: () => void;
  /** the same without a key: does nothing where one is under way */
  readonly startRescue: () => void;
  readonly stop: () => void;
}

export const makeAgentActions = (given: Omit<ActionContext, 'ended'>): AgentActions => {
  const end = new AbortController();
  const context = { ...given, ended: end.signal };
  const switchTo = makeSwitcher(context);
  const goBack = makeGoBack(context, switchTo);
  const receipts = makeSessionReceipts(context, makeDrafts(context));
  const shortener = makeSessionShortener(context, switchTo);
  const undoing = makeUndo(context, { switchTo: goBack, previous: shortener.previous });
  const undo = makeKeyRequest('undo', context, undoing.undo);
  const rescue = makeKeyRequest('rescue', context, shortener.rescue);
  const recall = makeRecallRequest(context, receipts);
  return {
    noteEvent: (event) => [receipts, undoing, shortener].forEach((part) => part.noteEvent(event)),
    isOwnBoundary: shortener.isOwnBoundary,
    takenLate: shortener.takenLate,
    shorten: shortener.shorten,
    switchTo: goBack,
    undoByChannel: undoing.byChannel,
    brief: receipts.brief,
    pressUndo: undo.press,
    recap: receipts.recap,
    lookAtRecap: receipts.look,
    recallWay: receipts.way,
    isRecallWaiting: recall.isWaiting,
    takeBackRecall: recall.takeBack,
    giveBack: recall.giveBack,
    pressRecall: recall.press,
    pressRescue: rescue.press,
    startRescue: rescue.start,
    keptText: receipts.keptText,
    stop: () => {
      end.abort(SESSION_ENDED);
      receipts.stop();
    },
  };
};

const makeSessionShortener = (context: ActionContext, switchTo: SwitchTo): Shortener => {
  const { agent, file, values, env } = context.session;
  const program = basename(file) === agent.command ? file : undefined; // not an interpreter or a launcher
  const summarise = openSummariser({ values, agent, env, home: homeFolder(env), program });
  const restarter = values.apply === 'restart' ? makeRestarter(context) : undefined;
  return makeShortener(context, { switchTo, restarter, summarise });
};

const makeSessionReceipts = (context: ActionContext, putDraft: PutDraft): Receipts => {
  const { session, publisher, flow, take } = context;
  const { agent, env, log, values } = session;
  return makeReceipts({
    agent,
    source: context.source,
    longer: (source) => findLongerSession(source, stateFolder(env, homeFolder(env))),
    hotkey: hotkeyName(values),
    recall: values.recall,
    log,
    onEvent: take,
    onGiven: (given) => publisher?.onGivenBack(given, flow().session),
    onCounts: (at, counts) => publisher?.onReceipt({ at, counts }, flow().session),
    context: makeContextWay(context),
    putDraft,
  });
};

type KeyWait = Pick<ActionWait, 'signal'> & { readonly gate: TypingGate };

/** What a key asks for, once at a time; pressed again while it waits, the key withdraws it. */
const makeKeyRequest = (
  name: string,
  { take }: Pick<ActionContext, 'take'>,
  perform: (wait: KeyWait) => Promise<unknown>,
) => {
  let waiting: AbortController | undefined;
  let isNext = false; // another one takes its place
  let isTyping = false; // from here on it cannot be withdrawn, and what comes of it is said
  const gate: TypingGate = {
    begin: async () => {
      isTyping = true;
      return undefined;
    },
    rest: () => (isTyping = false),
  };
  const start = (): void => {
    if (waiting) return;
    const mine = new AbortController();
    waiting = mine;
    [isTyping, isNext] = [false, false];
    void perform({ signal: mine.signal, gate }).finally(() => {
      waiting = undefined;
      if (isNext) start();
    });
  };
  /** the answer says what came of it */
  const withdraw = (request: AbortController): string => {
    if (isTyping) return `${name}: too late to withdraw it`;
    isNext = false;
    request.abort();
    return `${name} withdrawn`;
  };
  return {
    start,
    /** in the place of one that still waits */
    startAnew: (): void => {
      if (!waiting) return start();
      if (isTyping) return take(answerEvent(`${name}: too late to change it`));
      isNext = true;
      waiting.abort();
    },
    press: (): void => (waiting ? take(answerEvent(withdraw(waiting))) : start()),
    isWaiting: () => waiting !== undefined,
    /** withdraws it without saying so; undefined where none waits */
    takeBack: (): string | undefined => waiting && withdraw(waiting),
  };
};

/** Gives back what the user has chosen, or what matters most. */
const makeRecallRequest = (context: Pick<ActionContext, 'take'>, receipts: Receipts) => {
  let chosen: RecapChoice | undefined;
  const request = makeKeyRequest('recall', context, (wait) => {
    const wanted = chosen;
    chosen = undefined;
    const say = (words: string): void => context.take(answerEvent(words));
    say('recall: waiting for a safe moment');
    const waiting = { ...wait, onHold: (words: string) => say(`recall ${words}`) };
    return wanted ? receipts.giveBack(wanted, waiting) : receipts.brief(waiting);
  });
  return {
    press: request.press,
    isWaiting: () => request.isWaiting() || receipts.isWaiting(),
    takeBack: (): void => {
      const lines = receipts.takeBack();
      const ofLines = lines === 0 ? undefined : `${counted(lines, 'line')} taken back`;
      const words = [ofLines, request.takeBack()].filter((each) => each !== undefined);
      context.take(answerEvent(words.join('; ') || 'recall: nothing waits'));
    },
    giveBack: (choice: RecapChoice): void => {
      // one that waits goes on
      if (choice.keys.length === 0) return context.take(answerEvent(`recall: ${NOTHING_CHOSEN}`));
      chosen = choice;
      request.startAnew();
    },
  };
};
