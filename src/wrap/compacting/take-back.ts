// What was typed and not submitted is taken back, where that cannot do harm.
import { resting } from './seeing.js';
import { bare, textOf, type TypeOrder } from './type-order.js';

const LATE_MS = 10_000; // an agent that is slow may still show what it was sent, when nobody waits for it any more
const LATE_LOOK_MS = 100;
const BACKSPACE = '\x7f';

/**
 * Backspaces for what of ours stands at the end of the prompt; says why they were needed. Where no prompt is seen, a Backspace could
 * do harm, too.
 */
export const takeBack = (
  { port, recipe }: TypeOrder,
  text: string,
  stroke: (keys: string, name: string) => void,
): string => {
  const look = port.look();
  const shown = look?.prompt?.text.trimEnd();
  const isPrompt = look?.activity === 'draft' || look?.activity === 'ready';
  if (!isPrompt || shown === undefined) return 'the prompt went away while the command was typed';
  const arrived = endingsOf(text).find((part) => shown.endsWith(part));
  if (arrived === undefined) return 'the command did not arrive in the prompt';
  const count = arrived.length + (recipe.isPasted && arrived === text ? 1 : 0);
  stroke(BACKSPACE.repeat(count), `Backspace ${count}×`);
  return 'the prompt did not hold the command alone';
};

interface Late {
  /** how often the user had typed when ours began */
  readonly typedBefore: number;
  /** it was submitted long ago, so that what stands in the prompt was left there */
  readonly wasSent: boolean;
}

/** Text of ours that comes up alone in the prompt after all is taken back, as long as the user has typed nothing. */
export const takeBackLate = async (order: TypeOrder, { typedBefore, wasSent }: Late): Promise<void> => {
  const { port, recipe, signal } = order;
  const text = textOf(order);
  const until = performance.now() + LATE_MS;
  let wasAway = wasSent; // what stands there still may have been taken back already, on a screen that is drawn late
  while (!signal.aborted && performance.now() < until && port.typed() === typedBefore) {
    const look = port.look();
    const isThere = look?.activity === 'draft' && look.prompt && bare(look.prompt.text) === bare(text);
    if (isThere && wasAway) {
      return port.write(Buffer.from(BACKSPACE.repeat(text.length + (recipe.isPasted ? 1 : 0))));
    }
    wasAway ||= look !== undefined && !isThere;
    await resting(LATE_LOOK_MS, signal);
  }
};

/** `/compact`, `/compac`, …: as much of it as may have arrived. */
const endingsOf = (text: string): readonly string[] =>
  Array.from({ length: text.length }, (_, index) => text.slice(0, text.length - index));
