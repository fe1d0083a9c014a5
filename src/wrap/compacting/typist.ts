// Types the agent's own compact command and looks after each stroke. What is not as expected is taken back and left alone: no key of
// ours may do what the user did not ask for.
import type { Typed } from '../../core/compaction/state.js';
import { seeing } from './seeing.js';
import { takeBack } from './take-back.js';
import { bare, textOf, type Look, type TypeOrder } from './type-order.js';

const HOLD_MS = 1_500; // the user's keys wait no longer; what is not submitted by then is taken back
const SLOW_MS = 5_000; // for a busy machine, as long as the user presses no key that would have to wait
const TAKEN_MS = 1_000; // for the agent to empty its prompt
const TAKE_BACK_MS = 200; // of the time above, for the Backspaces
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';

/** Types the command of the recipe, and resolves with how that went. Never rejects. */
export const typeCompact = async (order: TypeOrder): Promise<Typed> => {
  const { port } = order;
  const first = port.look();
  const reason = refusalOf(first, order);
  if (reason !== undefined) return { kind: 'skipped', reason, evidence: [] };
  const release = port.holdKeys();
  const startedAt = performance.now();
  const typedBefore = port.typed();
  const typed = await type(order, first?.prompt?.text ?? '').catch((error: unknown): Typed => ({
    kind: 'withdrawn',
    reason: String(error),
    evidence: [],
  }));
  if (typed.kind !== 'sent') release();
  else {
    const hasTyped = port.typed() !== typedBefore;
    const until = hasTyped ? startedAt + HOLD_MS : performance.now() + TAKEN_MS;
    void taken(order, until)
      .catch(() => false)
      .finally(release);
  }
  return typed;
};

/**
 * The command is not in the prompt any more, or it is too late to wait for that. A key that an agent gets together with Enter can end up
 * behind the command, in a prompt that it has not emptied yet.
 */
const taken = (order: TypeOrder, until: number): Promise<boolean> => {
  const text = bare(textOf(order));
  return seeing(order.port, {
    wanted: ({ prompt }) => prompt === undefined || bare(prompt.text) !== text,
    pauseMs: 0,
    isOver: () => performance.now() >= until,
    signal: order.signal,
  });
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
    const back = { wanted: isAside, pauseMs: 0, isOver: isBackOver, signal };
    // an empty prompt gives the draft back with the same key
    if (draft !== '' && stash && (await seeing(port, back))) stroke(stash.keys, 'stash');
    return withdrawn(reason, strokes);
  }
  stroke(recipe.submit, recipe.submit === '\t' ? 'Tab' : 'Enter');
  return { kind: 'sent', isQueued: order.isQueued, evidence: [`typed ${strokes.join(', ')}`] };
};

/** What was typed stands in the prompt, nothing else has come up, and the key that submits would take nothing else. */
const isTyped = ({ activity, prompt }: Look, text: string, { recipe, isQueued }: TypeOrder): boolean => {
  const isTaken = activity === 'draft' || activity === 'ready' || (activity === 'busy' && isQueued);
  if (!isTaken || prompt === undefined || bare(prompt.text) !== bare(text)) return false;
  if (prompt.listed !== undefined) return prompt.listed === recipe.command;
  return recipe.isListed !== true || text !== recipe.command;
};

// In vim's normal mode a draft goes away, too, but text behind it would be commands; there the agent is not ready.
const isAside = ({ activity, prompt }: Look): boolean =>
  activity === 'ready' && prompt?.text === '' && prompt.isStashed === true;

const withdrawn = (reason: string, strokes: readonly string[]): Typed => ({
  kind: 'withdrawn',
  reason,
  evidence: strokes.length > 0 ? [`typed ${strokes.join(', ')}`] : [],
});
