import type { Typed } from '../core/compaction/state.js';
import { giveBackWhileHeld, isAside } from './draft.js';
import {
  isBlind,
  lookWhenRested,
  resting,
  startClock,
  type AwakeClock,
  bare,
  textOf,
  type KeyHold,
  type Look,
  type TypeOrder,
  seeing,
} from './typing-steps.js';

// Text of ours is taken out of the prompt again before any key of the user's can follow it: `/compacthello` must never be sent.

const STALLED_MS = 30_000; // an agent that draws nothing reads nothing: keys would wait in its terminal as they do here
const WAIT_MS = 1_500; // for an agent that draws to show what it was sent, while keys of the user wait
const MOST_TIMES = 3;
const LATE_MS = 10_000; // an agent that is slow may still show what it was sent, when nobody waits for it any more
const LATE_LOOK_MS = 100;
const HIDDEN_MS = 600_000; // a dialog may stay as long as this
const ANSWER_MS = 300; // for the agent to draw what a key has done in a dialog
const BACKSPACE = '\x7f';

export interface Retraction {
  /** how much the child had drawn when the text was written */
  readonly drawnBefore: number;
  /** how often the user had typed */
  readonly typedBefore: number;
  readonly stroke: (keys: string, name: string) => void;
}

/** Why the text had to be taken back; `isHidden`: it may stand in a prompt that something else is shown over. */
export interface Retracted {
  readonly reason: string;
  readonly isHidden: boolean;
}

/** What is known of our text on a screen that was drawn after it was written. */
type Place = 'here' | 'not here' | 'hidden';

const placeOf = (look: Look, text: string): Place => {
  const shown = shownIn(look);
  if (shown === undefined) return 'hidden';
  return arrivedOf(shown, text) === undefined ? 'not here' : 'here';
};

const shownIn = ({ activity, prompt }: Look): string | undefined =>
  activity === 'draft' || activity === 'ready' || activity === 'busy' ? prompt?.text.trimEnd() : undefined;

/** `/compact`, `/compac`, …: as much of it as may have arrived. */
const arrivedOf = (shown: string, text: string): string | undefined =>
  Array.from({ length: text.length }, (_, index) => text.slice(0, text.length - index)).find((part) =>
    shown.endsWith(part),
  );

const AWAY = 'the prompt went away while the command was typed';
const NOT_THERE = 'the command did not arrive in the prompt';
const NOT_ALONE = 'the prompt did not hold the command alone';

/**
 * Sends Backspaces for what of the text stands at the end of the prompt, and resolves when it is gone, or when nothing more can be done.
 * Where the agent has drawn nothing since, its terminal keeps everything in order: Backspaces for the whole text go before the user's
 * keys. Where no prompt is seen, a Backspace could do harm.
 */
const retract = async (order: TypeOrder, text: string, about: Retraction): Promise<Retracted> => {
  const { port, recipe, signal } = order;
  const { stroke, typedBefore } = about;
  const clock = startClock();
  let drawn = about.drawnBefore;
  let times = 0;
  const erase = (part: string): void => {
    const count = part.length + (recipe.isPasted && part === text ? 1 : 0);
    drawn = port.drawn();
    stroke(BACKSPACE.repeat(count), `Backspace ${count}×`);
    times += 1;
  };
  const isOver = (mostMs: number): boolean => port.typed() === typedBefore || clock.ms >= mostMs;

  while (!signal.aborted) {
    const look = await lookWhenRested(port, signal, clock);
    const seen = look && placeOf(look, text);
    if (isBlind(clock)) return { reason: AWAY, isHidden: true };
    if (seen === 'hidden') {
      // unread, so that it is still in order; or another program reads it, to which our text means as little as to the user
      const isElsewhere = port.drawn() === about.drawnBefore || look?.isDoubted === true;
      if (isElsewhere && times === 0) erase(text);
      return { reason: AWAY, isHidden: !isElsewhere };
    }
    const place = port.drawn() === drawn ? undefined : seen; // older than our last stroke
    if (place === undefined && !isOver(STALLED_MS)) continue;
    if (place === 'here' && times < MOST_TIMES) {
      erase(arrivedOf(look ? (shownIn(look) ?? '') : '', text) ?? text);
      continue;
    }
    if (times > 0) break;
    if (place === 'not here' && !isOver(WAIT_MS)) continue;
    if (place === undefined || (look && shownIn(look) === '')) erase(text); // behind it in order, wherever it still is
    return { reason: NOT_THERE, isHidden: false };
  }
  return { reason: NOT_ALONE, isHidden: false };
};

/**
 * Until the prompt is seen again our text may stand in it. Keys that the user has pressed before something came over it were not meant
 * for that: they wait. Those that come now go on one by one, each after a look at what the one before has done. Ends with all released.
 */
const guardHidden = async (
  order: TypeOrder,
  text: string,
  hold: KeyHold,
  about: Retraction,
): Promise<void> => {
  const { port, signal } = order;
  const clock = startClock();
  const before = hold.waiting();
  while (!signal.aborted && !isBlind(clock) && clock.ms < HIDDEN_MS) {
    const look = await lookWhenRested(port, signal, clock);
    const place = look && placeOf(look, text);
    if (place === 'not here') break;
    if (place === 'here') {
      await retract(order, text, { ...about, drawnBefore: -1 });
      break;
    }
    if (!look || hold.waiting() <= before) continue;
    const drawn = port.drawn();
    hold.releaseOne(before);
    await untilDrawn(order, drawn, clock);
  }
  hold.release();
};

const untilDrawn = async ({ port, signal }: TypeOrder, drawn: number, clock: AwakeClock): Promise<void> => {
  const until = clock.ms + ANSWER_MS;
  while (!signal.aborted && port.drawn() === drawn && clock.ms < until) await resting(20, signal, clock);
};

interface Late {
  /** how often the user had typed when ours began */
  readonly typedBefore: number;
  /** it was submitted long ago, so that what stands in the prompt was left there */
  readonly wasSent: boolean;
}

/** Text of ours that comes up alone in the prompt after all is taken back, as long as the user has typed nothing. */
export const retractLate = async (order: TypeOrder, { typedBefore, wasSent }: Late): Promise<void> => {
  const { port, recipe, signal } = order;
  const text = textOf(order);
  const until = performance.now() + LATE_MS;
  let wasAway = wasSent; // what stands there still may have been taken back already, on a screen that is drawn late
  while (!signal.aborted && performance.now() < until && port.typed() === typedBefore) {
    const look = port.look();
    const isThere = look?.activity === 'draft' && look.prompt && bare(look.prompt.text) === bare(text);
    if (isThere && wasAway) {
      // all that stands there: an agent that reads Enter together with the text may have made a line break of it
      const count = Math.max(look.prompt?.text.length ?? 0, text.length + (recipe.isPasted ? 1 : 0));
      return port.write(Buffer.from(BACKSPACE.repeat(count)));
    }
    wasAway ||= look !== undefined && !isThere;
    await resting(LATE_LOOK_MS, signal);
  }
};

/** What is told of text of ours that could not be taken out. */
export const leftBehind = (order: TypeOrder, typedBefore: number): string | undefined => {
  const { port } = order;
  const text = textOf(order);
  const isLeft = bare(port.look()?.prompt?.text ?? '').includes(bare(text));
  return isLeft && port.typed() === typedBefore ? `${text} is left in the prompt: remove it` : undefined;
};

// Types the agent's own compact command and looks after each stroke. What is not as expected is taken back and left alone: no key of
// ours may do what the user did not ask for.

const HOLD_MS = 1_500; // the user's keys wait no longer; what is not submitted by then is taken back
const SLOW_MS = 5_000; // for a busy machine, as long as the user presses no key that would have to wait
const TAKEN_MS = 60_000; // for an agent to take what was submitted, while no key waits or it draws nothing at all
const TAKE_BACK_MS = 200; // of the time above, for the Backspaces
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';

/** Types the command of the recipe, and resolves with how that went. Never rejects. */
export const typeCompact = async (order: TypeOrder): Promise<Typed> => {
  const { port, signal } = order;
  const typedBefore = port.typed();
  await port.refresh();
  const first = await lookWhenRested(port, signal, startClock());
  const reason = port.typed() === typedBefore ? refusalOf(first, order) : 'the user types';
  if (reason !== undefined) return { kind: 'skipped', reason, evidence: [] };
  const hold = port.holdKeys();
  const strokes: string[] = [];
  const attempt: Attempt = { typedBefore, draft: first?.prompt?.text ?? '', hold, strokes };
  return type(order, attempt).catch((error: unknown): Typed => {
    hold.release();
    return withdrawn(String(error), strokes);
  });
};

interface Attempt {
  /** how often the user had typed before it */
  readonly typedBefore: number;
  /** what stood in the prompt */
  readonly draft: string;
  readonly hold: KeyHold;
  /** names of our strokes so far */
  readonly strokes: string[];
}

/**
 * Releases the user's keys when the command is not in the prompt any more. A key that an agent gets together with Enter can end up
 * behind the command, in a prompt that it has not emptied yet; as long as it draws nothing it has read neither. Where it draws and keeps
 * the command all the same, that is taken back first.
 */
const releaseWhenTaken = async (order: TypeOrder, { hold }: Attempt, about: Retraction): Promise<void> => {
  const { port, signal } = order;
  const text = textOf(order);
  const clock = startClock();
  let waitsSince: number | undefined;
  while (!signal.aborted && !isBlind(clock) && clock.ms < TAKEN_MS) {
    const look = await lookWhenRested(port, signal, clock);
    if (look && (look.prompt === undefined || bare(look.prompt.text) !== bare(text))) break;
    if (hold.waiting() > 0) waitsSince ??= clock.ms;
    const isDrawn = look !== undefined && port.drawn() !== about.drawnBefore;
    if (!isDrawn || waitsSince === undefined || clock.ms - waitsSince < HOLD_MS) continue;
    await retract(order, text, about);
    break;
  }
  hold.release();
};

/** Why nothing may be typed on this screen. */
const refusalOf = (look: Look | undefined, { recipe, isQueued, mayStash }: TypeOrder): string | undefined => {
  if (!look) return 'the screen is being drawn';
  const { activity, prompt } = look;
  if (!prompt) return 'no prompt is seen';
  if (prompt.isStashed) return 'another draft is already put aside';
  if (activity === 'draft' && mayStash && recipe.stash && prompt.text !== '') return undefined;
  if (prompt.text !== '') return 'there is text in the prompt';
  if (activity === 'ready' || (activity === 'busy' && isQueued)) return undefined;
  return `the agent is ${activity}`;
};

const type = async (order: TypeOrder, attempt: Attempt): Promise<Typed> => {
  const { recipe, port, signal } = order;
  const { typedBefore, draft, hold, strokes } = attempt;
  const { stash } = recipe;
  const clock = startClock();
  const isOver = (): boolean => clock.ms >= (port.typed() === typedBefore ? SLOW_MS : HOLD_MS) - TAKE_BACK_MS;
  const stroke = (keys: string, name: string): void => {
    port.write(Buffer.from(keys));
    strokes.push(name);
  };
  const seen = (wanted: (look: Look) => boolean, pauseMs: number): Promise<boolean> =>
    seeing(port, { wanted, pauseMs, clock, isOver, signal });
  const leave = (reason: string): Typed => {
    hold.release();
    return withdrawn(reason, strokes);
  };

  if (draft !== '' && stash) {
    stroke(stash.keys, 'stash');
    if (!(await seen(isAside, stash.pauseMs))) return returnDraft(order, attempt, stroke);
  }
  const text = textOf(order);
  const about = { drawnBefore: port.drawn(), typedBefore, stroke };
  stroke(recipe.isPasted ? `${PASTE_START}${text} ${PASTE_END}` : text, text);
  const isThere = await seen((look) => isTyped(look, text, order), recipe.pauseMs);
  if (signal.aborted) return leave('the agent has ended');
  if (!isThere) return takeBack(order, attempt, about);
  const enter = { ...about, drawnBefore: port.drawn() };
  stroke(recipe.submit, recipe.submit === '\t' ? 'Tab' : 'Enter');
  void releaseWhenTaken(order, attempt, enter).catch(hold.release);
  return { kind: 'sent', isQueued: order.isQueued, evidence: [`typed ${strokes.join(', ')}`] };
};

type Stroke = (keys: string, name: string) => void;

const NOT_ASIDE = 'the agent does not say that the draft was put aside';

/** The key that puts a draft aside was pressed, and the agent does not say what it did: nothing is typed on that. */
const returnDraft = async (
  order: TypeOrder,
  { draft, hold, strokes }: Attempt,
  stroke: Stroke,
): Promise<Typed> => {
  let isHeld = true;
  const isBack = await giveBackWhileHeld(order, { draft, stroke, isHeld: () => isHeld, isFresh: true });
  isHeld = false;
  hold.release();
  return withdrawn(isBack ? `${NOT_ASIDE}: given back` : NOT_ASIDE, strokes);
};

/** Takes what was typed back, and a draft of the user's out again from where it was put. */
const takeBack = async (order: TypeOrder, attempt: Attempt, about: Retraction): Promise<Typed> => {
  const { draft, hold, strokes } = attempt;
  const text = textOf(order);
  const { reason, isHidden } = await retract(order, text, about);
  let isHeld = true;
  const release = (): void => {
    isHeld = false;
    hold.release();
  };
  if (draft !== '') await giveBackWhileHeld(order, { draft, stroke: about.stroke, isHeld: () => isHeld });
  if (isHidden) void guardHidden(order, text, { ...hold, release }, about).catch(release);
  else release();
  return withdrawn(reason, strokes);
};

/** What was typed stands in the prompt, nothing else has come up, and the key that submits would take nothing else. */
const isTyped = ({ activity, prompt }: Look, text: string, { recipe, isQueued }: TypeOrder): boolean => {
  const isTaken = activity === 'draft' || activity === 'ready' || (activity === 'busy' && isQueued);
  if (!isTaken || prompt === undefined || bare(prompt.text) !== bare(text)) return false;
  if (prompt.listed !== undefined) return prompt.listed === recipe.command;
  return recipe.isListed !== true || text !== recipe.command;
};

const withdrawn = (reason: string, strokes: readonly string[]): Typed => ({
  kind: 'withdrawn',
  reason,
  evidence: strokes.length > 0 ? [`typed ${strokes.join(', ')}`] : [],
});
