// Text of ours is taken out of the prompt again before any key of the user's can follow it: `/compacthello` must never be sent.
import { isBlind, lookWhenRested, resting, startClock, type AwakeClock } from './seeing.js';
import { bare, textOf, type KeyHold, type Look, type TypeOrder } from './type-order.js';

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
export const retract = async (order: TypeOrder, text: string, about: Retraction): Promise<Retracted> => {
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
export const guardHidden = async (
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
