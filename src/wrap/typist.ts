// Types the agent's own compact command and looks after each stroke. What is not as expected is taken back and left alone: no key of
// ours may do what the user did not ask for.
import { setTimeout as wait } from 'node:timers/promises';
import type { Activity } from '../core/activity.js';
import type { Typed } from '../core/compaction/state.js';
import type { PromptLook, Recipe } from '../runtimes/recipe.js';

/** The child's screen at this moment. */
export interface Look {
  readonly activity: Activity;
  /** undefined where no prompt is seen */
  readonly prompt: PromptLook | undefined;
}

/** What the typist does to the world. */
export interface TypistPort {
  /** undefined while the screen is not drawn to its end, or cannot be read */
  readonly look: () => Look | undefined;
  readonly write: (bytes: Uint8Array) => void;
  /** keeps the user's keys back until the returned function is called, which sends them in their order */
  readonly holdKeys: () => () => void;
  /** how often the user has typed so far, what is held included */
  readonly typed: () => number;
}

export interface TypeOrder {
  readonly recipe: Recipe;
  readonly focus?: string | undefined;
  /** the agent works, and takes the command behind its turn */
  readonly isQueued: boolean;
  /** the user allows that a draft is put aside */
  readonly mayStash: boolean;
  readonly port: TypistPort;
  /** the child has ended */
  readonly signal: AbortSignal;
}

const HOLD_MS = 1_500; // the user's keys wait no longer; what is not submitted by then is taken back
const SLOW_MS = 5_000; // for a busy machine, as long as the user presses no key that would have to wait
const LOOK_MS = 20; // between two looks
const LATE_LOOK_MS = 100;
const TAKE_BACK_MS = 200; // of the time above, for the Backspaces
const LATE_MS = 10_000; // an agent that is slow may still show what it was sent, when nobody waits for it any more
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
const BACKSPACE = '\x7f';

/** Types the command of the recipe, and resolves with how that went. Never rejects. */
export const typeCompact = async (order: TypeOrder): Promise<Typed> => {
  const { port } = order;
  const first = port.look();
  const reason = refusalOf(first, order);
  if (reason !== undefined) return { kind: 'skipped', reason, evidence: [] };
  const release = port.holdKeys();
  const typedBefore = port.typed();
  try {
    const typed = await type(order, first?.prompt?.text ?? '');
    if (typed.kind === 'withdrawn') void takeBackLate(order, typedBefore).catch(() => undefined);
    return typed;
  } catch (error) {
    return { kind: 'withdrawn', reason: String(error), evidence: [] };
  } finally {
    release();
  }
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

const type = async (order: TypeOrder, draft: string): Promise<Typed> => {
  const { recipe, port, signal } = order;
  const { stash } = recipe;
  const startedAt = performance.now();
  const typedBefore = port.typed();
  const isOver = (): boolean => {
    const mostMs = port.typed() === typedBefore ? SLOW_MS : HOLD_MS;
    return performance.now() >= startedAt + mostMs - TAKE_BACK_MS;
  };
  const strokes: string[] = [];
  const stroke = (keys: string, name: string): void => {
    port.write(Buffer.from(keys));
    strokes.push(name);
  };
  const seen = (wanted: (look: Look) => boolean, pauseMs: number): Promise<boolean> =>
    seeing(port, { wanted, pauseMs, isOver, signal });

  if (draft !== '' && stash) {
    stroke(stash.keys, 'stash');
    if (!(await seen(isAside, stash.pauseMs))) return withdrawn('the draft was not put aside', strokes);
  }
  const text = textOf(order);
  stroke(recipe.isPasted ? `${PASTE_START}${text} ${PASTE_END}` : text, text);
  const isThere = await seen((look) => isTyped(look, text, order), recipe.pauseMs);
  if (signal.aborted) return withdrawn('the agent has ended', strokes);
  if (!isThere) {
    const reason = takeBack(order, text, stroke);
    const until = performance.now() + TAKE_BACK_MS;
    const isBackOver = (): boolean => performance.now() >= until;
    const back = { wanted: isAside, pauseMs: LOOK_MS, isOver: isBackOver, signal };
    // an empty prompt gives the draft back with the same key
    if (draft !== '' && stash && (await seeing(port, back))) stroke(stash.keys, 'stash');
    return withdrawn(reason, strokes);
  }
  stroke(recipe.submit, recipe.submit === '\t' ? 'Tab' : 'Enter');
  return { kind: 'sent', isQueued: order.isQueued, evidence: [`typed ${strokes.join(', ')}`] };
};

const textOf = ({ recipe, focus }: TypeOrder): string =>
  focus === undefined || focus === '' || !recipe.takesFocus ? recipe.command : `${recipe.command} ${focus}`;

/** What was typed stands in the prompt, nothing else has come up, and the key that submits would take nothing else. */
const isTyped = ({ activity, prompt }: Look, text: string, { recipe, isQueued }: TypeOrder): boolean => {
  const isTaken = activity === 'draft' || activity === 'ready' || (activity === 'busy' && isQueued);
  if (!isTaken || prompt === undefined || bare(prompt.text) !== bare(text)) return false;
  if (prompt.listed !== undefined) return prompt.listed === recipe.command;
  return recipe.isListed !== true || text !== recipe.command;
};

/** Without blanks: where a row is broken at one, it is not seen. */
const bare = (text: string): string => text.replaceAll(/\s/g, '');

interface Expectation {
  readonly wanted: (look: Look) => boolean;
  /** not looked at before */
  readonly pauseMs: number;
  readonly isOver: () => boolean;
  readonly signal: AbortSignal;
}

const seeing = async (port: TypistPort, expected: Expectation): Promise<boolean> => {
  const { wanted, pauseMs, isOver, signal } = expected;
  await wait(pauseMs);
  while (!signal.aborted) {
    const look = port.look();
    if (look && wanted(look)) return true;
    if (isOver()) return false;
    await wait(LOOK_MS);
  }
  return false;
};

// In vim's normal mode a draft goes away, too, but text behind it would be commands; there the agent is not ready.
const isAside = ({ activity, prompt }: Look): boolean =>
  activity === 'ready' && prompt?.text === '' && prompt.isStashed === true;

/**
 * Backspaces for what of ours stands at the end of the prompt; says why they were needed. Where no prompt is seen, a Backspace could
 * do harm, too.
 */
const takeBack = (
  { port, recipe }: TypeOrder,
  text: string,
  stroke: (keys: string, name: string) => void,
): string => {
  const look = port.look();
  const shown = look?.prompt?.text.trimEnd();
  const isPrompt = look?.activity === 'draft' || look?.activity === 'ready';
  if (!isPrompt || !shown) return 'the prompt went away while the command was typed';
  const arrived = endingsOf(text).find((part) => shown.endsWith(part));
  if (arrived === undefined) return 'the command did not arrive in the prompt';
  const count = arrived.length + (recipe.isPasted && arrived === text ? 1 : 0);
  stroke(BACKSPACE.repeat(count), `Backspace ${count}×`);
  return 'the prompt did not hold the command alone';
};

/** Text of ours that comes up alone in the prompt after all is taken back, as long as the user has typed nothing. */
const takeBackLate = async (order: TypeOrder, typedBefore: number): Promise<void> => {
  const { port, recipe, signal } = order;
  const text = textOf(order);
  const until = performance.now() + LATE_MS;
  let wasAway = false; // what stands there still may have been taken back already, on a screen that is drawn late
  while (!signal.aborted && performance.now() < until && port.typed() === typedBefore) {
    const look = port.look();
    const isThere = look?.activity === 'draft' && look.prompt && bare(look.prompt.text) === bare(text);
    if (isThere && wasAway) {
      return port.write(Buffer.from(BACKSPACE.repeat(text.length + (recipe.isPasted ? 1 : 0))));
    }
    wasAway ||= look !== undefined && !isThere;
    await wait(LATE_LOOK_MS, undefined, { ref: false });
  }
};

/** `/compact`, `/compac`, …: as much of it as may have arrived. */
const endingsOf = (text: string): readonly string[] =>
  Array.from({ length: text.length }, (_, index) => text.slice(0, text.length - index));

const withdrawn = (reason: string, strokes: readonly string[]): Typed => ({
  kind: 'withdrawn',
  reason,
  evidence: strokes.length > 0 ? [`typed ${strokes.join(', ')}`] : [],
});
