import type { Recipe } from '../agents/agent.js';
import type { Ended } from '../core/compaction/outcome.js';
import type { CompactSettings, Effect } from '../core/compaction/state.js';
import type { CurrentSettings, Values } from '../core/config/keys.js';
import type { Event } from '../core/event.js';
import { controlKeyName } from '../core/format.js';
import type { Log } from '../storage/log-file.js';
import { makeDraftWatch } from './draft.js';
import type { TypeOrder, TypistPort } from './typing-steps.js';
import { leftBehind, retractLate, typeCompact } from './typist.js';

// Does what the core decided about compacting: types the command, checks that a draft came back, and tells who asked.

export interface CompactorOptions {
  readonly recipe: Recipe | undefined;
  readonly mayStash: boolean;
  readonly port: TypistPort;
  readonly log: Log;
  readonly onEvent: (event: Event) => void;
}

export interface Compactor {
  readonly run: (effect: Effect) => void;
  readonly stop: () => void;
}

export const makeCompactor = (options: CompactorOptions): Compactor => {
  const { recipe, mayStash, port, log, onEvent } = options;
  let attempt = new AbortController();
  let isOver = false;
  let order: TypeOrder | undefined;
  let typedBefore = 0;
  const draft = makeDraftWatch({ port, log, onEvent });

  const type = async (focus: string | undefined, isQueued: boolean): Promise<void> => {
    if (!recipe || isOver) return;
    attempt.abort(); // nothing of the one before may come between
    const mine = new AbortController();
    attempt = mine;
    const { onGivingBack } = draft;
    order = { recipe, focus, isQueued, mayStash, port, signal: mine.signal, onGivingBack };
    typedBefore = port.typed();
    draft.begin();
    const result = await typeCompact(order);
    if (result.kind === 'skipped') draft.forget();
    const reason = result.kind === 'sent' ? [] : [result.reason];
    log.info([`typing ${recipe.command}: ${result.kind}`, ...reason, ...result.evidence].join(', '));
    if (!isOver && attempt === mine) onEvent({ type: 'typed', result });
  };
  /** A command that was sent and did nothing may still stand in the prompt, and what the user types next would be glued to it. */
  const clear = async ({ outcome }: Ended, of = order): Promise<void> => {
    if (!of || (outcome.kind !== 'not-started' && outcome.kind !== 'not-delivered')) return;
    const before = typedBefore;
    await retractLate(of, { typedBefore: before, wasSent: outcome.kind === 'not-started' });
    const left = of.signal.aborted ? undefined : leftBehind(of, before);
    if (left !== undefined) onEvent({ type: 'notice', text: left, priority: 200 });
  };
  return {
    run: (effect) => {
      switch (effect.type) {
        case 'type-compact':
          // the step that decided it is not over yet; no key of the user's can come between
          return queueMicrotask(() => void type(effect.focus, effect.isQueued));
        case 'ended':
          log.info(endedText(effect.ended));
          if (isOver) return undefined;
          void clear(effect.ended).catch(() => undefined);
          draft.end(order, { mayHoldCommand: effect.ended.outcome.kind === 'interrupted' });
          return undefined;
        case 'refused':
          return log.info(`no compaction: ${effect.reason}`);
      }
    },
    stop: () => {
      isOver = true;
      attempt.abort();
      draft.stop();
    },
  };
};

/** What the user allows, in what the runtime can. */
export const compactSettings = (
  { values, isModeGiven }: CurrentSettings,
  recipe: Recipe | undefined,
): CompactSettings => {
  const { mode, ladder, draft, whenBusy, proactive, focus } = values;
  return {
    mode: ladder === 'handoff' && mode === 'auto' ? 'warn' : mode, // that preset never types by itself
    ...(recipe ? { command: recipe.command } : {}),
    startMs: recipe?.startMs ?? 0,
    finishMs: recipe?.finishMs ?? 0,
    ...(focus === undefined ? {} : { focus }),
    mayStash: draft === 'stash' && recipe?.stash !== undefined,
    mayQueue: whenBusy === 'queue' && recipe?.isQueued === true,
    isProactive: proactive,
    ...(isModeGiven && mode === 'auto' ? { mayTypeUnseen: true } : {}),
  };
};

/** The keys that ask for a compaction, as people write them; undefined where the user wants no hotkey. */
export const compactKeys = (values: Pick<Values, 'hotkey'>): string | undefined => {
  const hotkey = hotkeyOf(values);
  return hotkey === undefined ? undefined : `${hotkey} c`;
};

/** `Ctrl-]` */
export const hotkeyOf = ({ hotkey }: Pick<Values, 'hotkey'>): string | undefined =>
  hotkey === 'none' ? undefined : controlKeyName(hotkey);

const endedText = ({ initiator, outcome, startedAt, endedAt, evidence }: Ended): string =>
  [
    `compaction by ${initiator === 'ctxwrap' ? 'us' : `the ${initiator}`}: ${outcome.kind}`,
    `${((endedAt - startedAt) / 1000).toFixed(1)} s`,
    ...evidence,
  ].join(', ');
