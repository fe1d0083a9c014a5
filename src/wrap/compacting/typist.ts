// Types the agent's own compact command and looks after each stroke. What is not as expected is taken back and left alone: no key of
// ours may do what the user did not ask for.
import type { Typed } from '../../core/compaction/state.js';
import { giveBackWhileHeld, isAside } from './put-aside.js';
import { guardHidden, retract, type Retraction } from './retract.js';
import { isBlind, lookWhenRested, seeing, startClock } from './seeing.js';
import { bare, textOf, type KeyHold, type Look, type TypeOrder } from './type-order.js';

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
