import type { Activity } from '../core/reading.js';
import type { TypeResult } from '../core/compaction/state.js';
import { present } from '../core/present.js';
import { restoreDraftWhileHeld, isDraftStashed } from './draft.js';
import {
  hasLostScreen,
  observeAfterPause,
  sleep,
  startAwakeClock,
  type AwakeClock,
  withoutWhitespace,
  commandName,
  commandText,
  type TypeRequest,
  waitUntil,
  withdrawalOf,
} from './typing-steps.js';
import { PASTE_START, PASTE_END, BACKSPACE, pastesOf, type PasteFolding } from '../core/terminal-input.js';
import type { KeyHold, ScreenObservation } from '../session/ports.js';

// Types a command of the agent's own and checks the screen after each keystroke. If the screen is not as expected, the text is
// retracted: no key of the wrapper may do what the user did not ask for.

const HOLD_MS = 1_500; // the user's keys are held no longer; a command that is not submitted by then is retracted
const SLOW_MS = 5_000; // for a busy machine, as long as the user presses no key that would have to wait
const ACCEPTED_MS = 60_000; // for an agent to accept the submitted command, while no key is held or the agent draws nothing
const RETRACT_MS = 200; // of the time above, reserved for the Backspaces

/** Types the recipe's command and resolves with the result. Never rejects. */
export const typeCommand = async (request: TypeRequest): Promise<TypeResult> => {
  const taken = await takeKeys(request, (observed) => refusalOf(observed, request));
  if (taken.kind === 'skipped') return { ...taken, evidence: [] };
  const { typedBefore, first, hold } = taken;
  const strokes: string[] = [];
  const draft = first?.prompt?.text ?? '';
  const attempt: Attempt = { typedBefore, draft, hold, strokes, isSubmitting: false };
  return type(request, attempt).catch((error: unknown): TypeResult => {
    hold.release();
    // the key that fails may have been written
    if (attempt.isSubmitting) return sentResult(request, [...strokes, String(error)]);
    return withdrawnResult(String(error), strokes, { isLeft: strokes.length > 0 });
  });
};

type Taken =
  | {
      readonly kind: 'taken';
      readonly typedBefore: number;
      readonly first: ScreenObservation | undefined;
      readonly hold: KeyHold;
    }
  | { readonly kind: 'skipped'; readonly reason: string };

/** Holds the user's keys, if the screen allows to type and the user does not type. `refusal` says why it does not. */
const takeKeys = async (
  { port, signal }: Pick<TypeRequest, 'port' | 'signal'>,
  refusal: (observed: ScreenObservation | undefined) => string | undefined,
): Promise<Taken> => {
  const typedBefore = port.typedCount();
  const isLate = port.hasUnreportedKeys(); // keys that the decision did not know of
  await port.refresh();
  const first = await observeAfterPause(port, signal, startAwakeClock());
  const hasTyped = isLate || port.typedCount() !== typedBefore;
  const reason = hasTyped ? USER_TYPES : refusal(first);
  const hold = reason === undefined ? await port.holdKeys(typedBefore) : undefined;
  if (!hold) return { kind: 'skipped', reason: reason ?? USER_TYPES };
  // the screen may have changed while the keys were not held yet
  const held = port.observe() ?? (await observeAfterPause(port, signal, startAwakeClock()));
  const late = signal.aborted ? 'the session has ended' : refusal(held);
  if (late === undefined) return { kind: 'taken', typedBefore, first, hold };
  hold.release();
  return { kind: 'skipped', reason: late };
};

/** The reason why nothing was done: keys came in between. */
export const USER_TYPES = 'the user types';

/** The reason why an agent that has not asked for pastes to be marked gets no draft. */
export const NO_PASTES = 'the agent accepts no pastes';

export interface DraftRequest extends Pick<TypeRequest, 'port' | 'signal'> {
  /** no control characters but newlines */
  readonly text: string;
  /** the agent tells pasted text from typed text */
  readonly takesPastes: () => boolean;
  /** as the agent's */
  readonly foldsPastes?: PasteFolding | undefined;
}

export type DraftResult =
  /** the prompt is no longer empty */
  | { readonly kind: 'there' }
  /** it was pasted, and the screen does not show it */
  | { readonly kind: 'unseen' }
  /** no key was typed */
  | { readonly kind: 'skipped'; readonly reason: string };

/** Puts a text into the empty prompt, as pastes, and submits nothing. */
export const typeDraft = async (request: DraftRequest): Promise<DraftResult> => {
  const { port, signal, text, takesPastes, foldsPastes } = request;
  const mayType = { isQueued: false, mayStash: false };
  const taken = await takeKeys(request, (observed) =>
    takesPastes() ? refusalOf(observed, mayType) : NO_PASTES,
  );
  if (taken.kind === 'skipped') return taken;
  const { hold, typedBefore } = taken;
  try {
    const clock = startAwakeClock();
    port.write(Buffer.from(pastesOf(pasteable(text), foldsPastes)));
    const isThere = await waitUntil(port, {
      isMet: ({ prompt }) => prompt !== undefined && prompt.text !== '',
      pauseMs: 0,
      clock,
      isOver: () => clock.ms >= (port.typedCount() === typedBefore ? SLOW_MS : HOLD_MS),
      signal,
    });
    return { kind: isThere ? 'there' : 'unseen' };
  } catch {
    return { kind: 'unseen' }; // it may be there
  } finally {
    hold.release();
  }
};

/** Whatever it is, it cannot end the paste or be a key. */
const pasteable = (text: string): string => text.replace(/[^\P{C}\n]/gu, '');

interface Attempt {
  /** the user's typed count before the attempt */
  readonly typedBefore: number;
  /** the text of the prompt before the attempt */
  readonly draft: string;
  readonly hold: KeyHold;
  /** names of the keystrokes sent so far */
  readonly strokes: string[];
  isSubmitting: boolean;
}

/**
 * Releases the user's keys when the command has left the prompt. A key that an agent reads together with Enter can end up behind the
 * command, in a prompt that is not emptied yet; as long as the agent draws nothing it has read neither. If it draws and keeps the command,
 * the command is retracted first.
 */
const releaseWhenAccepted = async (
  request: TypeRequest,
  { hold }: Attempt,
  options: RetractOptions,
): Promise<void> => {
  const { port, signal } = request;
  const text = commandText(request);
  const clock = startAwakeClock();
  let waitsSince: number | undefined;
  while (!signal.aborted && !hasLostScreen(clock) && clock.ms < ACCEPTED_MS) {
    const observed = await observeAfterPause(port, signal, clock);
    if (
      observed &&
      (observed.prompt === undefined || withoutWhitespace(observed.prompt.text) !== withoutWhitespace(text))
    )
      break;
    if (hold.waitingCount() > 0) waitsSince ??= clock.ms;
    const isDrawn = observed !== undefined && port.outputBytes() !== options.outputBefore;
    if (!isDrawn || waitsSince === undefined || clock.ms - waitsSince < HOLD_MS) continue;
    await retract(request, text, options);
    break;
  }
  hold.release();
};

/** Why nothing may be done on a screen with this activity. */
export const refusals: Readonly<Record<Exclude<Activity, 'ready'>, string>> = {
  draft: 'there is text in the prompt',
  busy: 'the agent is busy',
  compacting: 'the agent is compacting',
  dialog: 'a dialog is open',
  unknown: 'it is not clear what the agent is doing',
  dead: 'the agent has ended',
};

/** Why nothing may be typed on this screen; undefined where it may. */
const refusalOf = (
  observed: ScreenObservation | undefined,
  {
    recipe,
    isQueued,
    mayStash,
    withdrawal,
  }: Pick<TypeRequest, 'isQueued' | 'mayStash'> & Partial<TypeRequest>,
): string | undefined => {
  const withdrawn = withdrawalOf(present({ withdrawal }));
  if (withdrawn !== undefined) return withdrawn;
  if (!observed) return 'the screen is being drawn';
  const { activity, prompt } = observed;
  if (!prompt) return 'no prompt is seen';
  if (prompt.isStashed) return 'another draft is already put aside';
  if (activity === 'draft' && mayStash && recipe?.stash && prompt.text !== '') return undefined;
  if (prompt.text !== '') return 'there is text in the prompt';
  if (activity === 'ready' || (activity === 'busy' && isQueued)) return undefined;
  return refusals[activity];
};

const type = async (request: TypeRequest, attempt: Attempt): Promise<TypeResult> => {
  const { recipe, port, signal } = request;
  const { typedBefore, draft, hold, strokes } = attempt;
  const { stash } = recipe;
  const clock = startAwakeClock();
  const isOver = (): boolean =>
    clock.ms >= (port.typedCount() === typedBefore ? SLOW_MS : HOLD_MS) - RETRACT_MS;
  const stroke = (keys: string, name: string, audited?: string): void => {
    strokes.push(audited ?? name);
    port.write(Buffer.from(keys), audited);
  };
  const waitFor = (wanted: (observed: ScreenObservation) => boolean, pauseMs: number): Promise<boolean> =>
    waitUntil(port, { isMet: wanted, pauseMs, clock, isOver, signal });
  const leave = (reason: string): TypeResult => {
    hold.release();
    return withdrawnResult(reason, strokes);
  };

  if (draft !== '' && stash) {
    stroke(stash.keys, 'stash');
    const isAside = await waitFor(isDraftStashed, stash.pauseMs);
    if (!isAside || withdrawalOf(request) !== undefined) return returnDraft(request, attempt, stroke);
  }
  const text = commandText(request);
  const options = { outputBefore: port.outputBytes(), typedBefore, stroke };
  stroke(recipe.isPasted ? `${PASTE_START}${text} ${PASTE_END}` : text, text, commandName(request));
  const isThere = await waitFor((observed) => isCommandTyped(observed, text, request), recipe.pauseMs);
  if (signal.aborted) return leave('the agent has ended');
  if (!isThere || withdrawalOf(request) !== undefined) return retractAndRestore(request, attempt, options);
  const enter = { ...options, outputBefore: port.outputBytes() };
  attempt.isSubmitting = true;
  stroke(recipe.submit, recipe.submit === '\t' ? 'Tab' : 'Enter');
  void releaseWhenAccepted(request, attempt, enter).catch(hold.release);
  return sentResult(request, strokes);
};

const sentResult = ({ isQueued }: TypeRequest, strokes: readonly string[]): TypeResult => ({
  kind: 'sent',
  isQueued,
  evidence: [`typed ${strokes.join(', ')}`],
});

type Stroke = (keys: string, name: string) => void;

const NOT_ASIDE = 'the agent does not say that the draft was put aside';

/** The stash key was pressed, but the agent does not confirm it, or the command is not wanted any more: the draft is restored. */
const returnDraft = async (
  request: TypeRequest,
  { draft, hold, strokes }: Attempt,
  stroke: Stroke,
): Promise<TypeResult> => {
  let isHeld = true;
  const isBack = await restoreDraftWhileHeld(request, { draft, stroke, isHeld: () => isHeld, isFresh: true });
  isHeld = false;
  hold.release();
  const reason = withdrawalOf(request) ?? NOT_ASIDE;
  return withdrawnResult(isBack ? `${reason}: given back` : reason, strokes);
};

/** Retracts the command and restores a stashed draft. */
const retractAndRestore = async (
  request: TypeRequest,
  attempt: Attempt,
  options: RetractOptions,
): Promise<TypeResult> => {
  const { draft, hold, strokes } = attempt;
  const text = commandText(request);
  const { reason, isHidden, isGone } = await retract(request, text, options);
  let isHeld = true;
  const release = (): void => {
    isHeld = false;
    hold.release();
  };
  if (draft !== '')
    await restoreDraftWhileHeld(request, { draft, stroke: options.stroke, isHeld: () => isHeld });
  if (isHidden) void guardHiddenPrompt(request, text, { ...hold, release }, options).catch(release);
  else release();
  return withdrawnResult(withdrawalOf(request) ?? reason, strokes, { isLeft: !isGone });
};

/** The prompt holds the command, nothing else has opened, and the submit key would submit only the command. */
const isCommandTyped = (
  { activity, prompt }: ScreenObservation,
  text: string,
  { recipe, isQueued }: TypeRequest,
): boolean => {
  const isTaken = activity === 'draft' || activity === 'ready' || (activity === 'busy' && isQueued);
  if (!isTaken || prompt === undefined || withoutWhitespace(prompt.text) !== withoutWhitespace(text))
    return false;
  if (recipe.listedAs !== undefined) return prompt.listed === recipe.listedAs;
  if (prompt.listed !== undefined) return prompt.listed === recipe.command;
  return recipe.isListed !== true || text !== recipe.command;
};

const withdrawnResult = (
  reason: string,
  strokes: readonly string[],
  { isLeft }: { readonly isLeft: boolean } = { isLeft: false },
): TypeResult => ({
  kind: 'withdrawn',
  reason,
  ...(isLeft ? { isLeft } : {}),
  evidence: strokes.length > 0 ? [`typed ${strokes.join(', ')}`] : [],
});

// Retracts the wrapper's text: removes it from the prompt before any key of the user's can follow it, because `/compacthello` must never be
// sent.

const STALLED_MS = 30_000; // an agent that draws nothing reads nothing: keys would wait in its terminal as they wait here
const WAIT_MS = 1_500; // for an agent that draws to show the text, while keys of the user are held
const MOST_TIMES = 3;
const LATE_MS = 10_000; // a slow agent may still show the text after nobody waits for it any more
const LATE_LOOK_MS = 100;
const HIDDEN_MS = 600_000; // the longest time a dialog may stay open
const ANSWER_MS = 300; // for the agent to draw the effect of a key in a dialog

export interface RetractOptions {
  /** the child's output bytes when the text was written */
  readonly outputBefore: number;
  /** the user's typed count when the text was written */
  readonly typedBefore: number;
  readonly stroke: (keys: string, name: string) => void;
}

/** Why the text had to be retracted. */
export interface RetractResult {
  readonly reason: string;
  /** it may still stand in a prompt that something else covers */
  readonly isHidden: boolean;
  /** the screen shows that it is gone */
  readonly isGone: boolean;
}

/** Where the text is, on a screen that was drawn after it was written. */
type TextPlace = 'here' | 'not here' | 'hidden';

const locateText = (observed: ScreenObservation, text: string): TextPlace => {
  const prompt = promptText(observed);
  if (prompt === undefined) return 'hidden';
  return arrivedPart(prompt, text) === undefined ? 'not here' : 'here';
};

const promptText = ({ activity, prompt }: ScreenObservation): string | undefined =>
  activity === 'draft' || activity === 'ready' || activity === 'busy' ? prompt?.text.trimEnd() : undefined;

/** The longest beginning of the text at the end of the prompt: `/compact`, `/compac`, … */
const arrivedPart = (prompt: string, text: string): string | undefined =>
  Array.from({ length: text.length }, (_, index) => text.slice(0, text.length - index)).find((part) =>
    prompt.endsWith(part),
  );

const AWAY = 'the prompt went away while the command was typed';
const NOT_THERE = 'the command did not arrive in the prompt';
const NOT_ALONE = 'the prompt did not hold the command alone';

/**
 * Sends Backspaces for the part of the text at the end of the prompt; resolves when it is gone or nothing more can be done. If the agent
 * has drawn nothing since, its terminal keeps the input in order, and Backspaces for the whole text are sent before the user's keys. Where
 * no prompt is visible, a Backspace could do harm.
 */
const retract = async (
  request: TypeRequest,
  text: string,
  options: RetractOptions,
): Promise<RetractResult> => {
  const { port, recipe, signal } = request;
  const { stroke, typedBefore } = options;
  const clock = startAwakeClock();
  let drawn = options.outputBefore;
  let times = 0;
  const erase = (part: string): void => {
    const count = part.length + (recipe.isPasted && part === text ? 1 : 0);
    drawn = port.outputBytes();
    stroke(BACKSPACE.repeat(count), `Backspace ${count}×`);
    times += 1;
  };
  const isOver = (mostMs: number): boolean => port.typedCount() === typedBefore || clock.ms >= mostMs;

  while (!signal.aborted) {
    const observed = await observeAfterPause(port, signal, clock);
    const seen = observed && locateText(observed, text);
    if (hasLostScreen(clock)) return { reason: AWAY, isHidden: true, isGone: false };
    if (seen === 'hidden') {
      // not read yet, so the input is still in order; or another program reads it, to which neither this text nor the user's keys mean
      // anything
      const isElsewhere = port.outputBytes() === options.outputBefore || observed?.isUntrusted === true;
      if (isElsewhere && times === 0) erase(text);
      return { reason: AWAY, isHidden: !isElsewhere, isGone: false };
    }
    const place = port.outputBytes() === drawn ? undefined : seen; // undefined when the screen is older than the last keystroke sent
    if (place === undefined && !isOver(STALLED_MS)) continue;
    if (place === 'here' && times < MOST_TIMES) {
      erase(arrivedPart(observed ? (promptText(observed) ?? '') : '', text) ?? text);
      continue;
    }
    if (times > 0) return { reason: NOT_ALONE, isHidden: false, isGone: place === 'not here' };
    if (place === 'not here' && !isOver(WAIT_MS)) continue;
    if (place === undefined || (observed && promptText(observed) === '')) erase(text); // the Backspaces follow the text in order, wherever it still is
    return { reason: NOT_THERE, isHidden: false, isGone: false };
  }
  return { reason: NOT_ALONE, isHidden: false, isGone: false };
};

/**
 * Until the prompt is visible again, the text may stand in it. Keys that the user pressed before something covered the prompt were not
 * meant for that, so they stay held. Keys pressed since then are sent one by one, each after checking the effect of the one before.
 * Releases all keys at the end.
 */
const guardHiddenPrompt = async (
  request: TypeRequest,
  text: string,
  hold: KeyHold,
  options: RetractOptions,
): Promise<void> => {
  const { port, signal } = request;
  const clock = startAwakeClock();
  const before = hold.waitingCount();
  while (!signal.aborted && !hasLostScreen(clock) && clock.ms < HIDDEN_MS) {
    const observed = await observeAfterPause(port, signal, clock);
    const place = observed && locateText(observed, text);
    if (place === 'not here') break;
    if (place === 'here') {
      await retract(request, text, { ...options, outputBefore: -1 });
      break;
    }
    if (!observed || hold.waitingCount() <= before) continue;
    const drawn = port.outputBytes();
    hold.releaseOne(before);
    await waitForOutput(request, drawn, clock);
  }
  hold.release();
};

const waitForOutput = async (
  { port, signal }: TypeRequest,
  drawn: number,
  clock: AwakeClock,
): Promise<void> => {
  const until = clock.ms + ANSWER_MS;
  while (!signal.aborted && port.outputBytes() === drawn && clock.ms < until) await sleep(20, signal, clock);
};

interface LateRetraction {
  /** the user's typed count when the attempt began */
  readonly typedBefore: number;
  /** the command was submitted long ago, so what stands in the prompt was left there */
  readonly wasSent: boolean;
}

/** Removes the command if it appears alone in the prompt later, as long as the user has typed nothing. */
export const retractLate = async (
  request: TypeRequest,
  { typedBefore, wasSent }: LateRetraction,
): Promise<void> => {
  const { port, recipe, signal } = request;
  const text = commandText(request);
  const until = performance.now() + LATE_MS;
  let wasAway = wasSent; // on a screen that is drawn late, the text may have been removed already
  while (!signal.aborted && performance.now() < until && port.typedCount() === typedBefore) {
    const observed = port.observe();
    const isThere =
      observed?.activity === 'draft' &&
      observed.prompt &&
      withoutWhitespace(observed.prompt.text) === withoutWhitespace(text);
    if (isThere && wasAway) {
      // erases everything in the prompt: an agent that reads Enter together with the text may have made a line break of it
      const count = Math.max(observed.prompt?.text.length ?? 0, text.length + (recipe.isPasted ? 1 : 0));
      return port.write(Buffer.from(BACKSPACE.repeat(count)));
    }
    wasAway ||= observed !== undefined && !isThere;
    await sleep(LATE_LOOK_MS, signal);
  }
};

/** The message about text that could not be removed; undefined where none is left. */
export const leftoverNotice = (request: TypeRequest, typedBefore: number): string | undefined => {
  const { port } = request;
  const text = commandText(request);
  const isLeft = withoutWhitespace(port.observe()?.prompt?.text ?? '').includes(withoutWhitespace(text));
  const name = commandName(request) ?? text;
  return isLeft && port.typedCount() === typedBefore ? `${name} is left in the prompt: remove it` : undefined;
};

/** For the log. */
export const typedText = (command: string, result: TypeResult): string =>
  [
    `typing ${command}: ${result.kind}`,
    ...(result.kind === 'sent' ? [] : [result.reason]),
    ...result.evidence,
  ].join(', ');
