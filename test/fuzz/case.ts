import { allTopics, topics, type Topic } from './output.js';
import { makeRandom, type Random } from './random.js';

/** A piece of a program's output, and what happens after it. */
export interface Step {
  /** as Latin-1: a character is a byte */
  readonly bytes: string;
  /** a chunk ends here */
  readonly isEnd?: boolean;
  /** the footer is painted then, if it may be */
  readonly isPainted?: boolean;
}

/** One run of the fuzz. Everything follows from it, so it can be run again as it was. */
export interface Case {
  readonly columns: number;
  /** of the program */
  readonly rows: number;
  /** the terminal has told its name (DA2); else it could be any that calls itself xterm */
  readonly isKnown: boolean;
  /** the footer has waited so long that it is painted at bad moments, too */
  readonly isOverdue: boolean;
  readonly steps: readonly Step[];
}

/** Cuts an element into up to three pieces. */
const cutElement = (element: string, random: Random): string[] => {
  if (element.length < 2 || !random.chance(0.15)) return [element];
  const at = random.between(1, element.length - 1);
  return [element.slice(0, at), ...cutElement(element.slice(at), random)];
};

const always: readonly Topic[] = ['text', 'controls', 'position'];

/** What the emulator does in a way of its own that hangs on more than the filter can know, by topic: together with which others. */
const peculiar: Partial<Readonly<Record<Topic, RegExp>>> = {
  charsets: /^saving|^buffers/, // DECRC brings the one in use back, but not the ones designated
  links: /^saving|^buffers|^softReset|^resets/, // DECRC brings half of one back, DECSTR ends it
  autowrap: /^repeat/, // without it a wide character that has no room is not printed, and then something else is repeated
};

/** Topics of one case: a few of them only, so that each meets each without the noise of the others. */
const chooseTopics = (random: Random, allowed: readonly Topic[]): readonly Topic[] => {
  const share = random.one([0.1, 0.25, 0.5]);
  return [...always, 'text' as const, ...allowed.filter(() => random.chance(share))];
};

/** `allowed`: topics that may be in it. */
export const caseOf = (seed: number, isKnown: boolean, allowed: readonly Topic[] = allTopics): Case => {
  const random = makeRandom(seed);
  const wanted = chooseTopics(random, allowed);
  const chosen = isKnown
    ? wanted.filter((topic) => !wanted.some((other) => peculiar[topic]?.test(other)))
    : wanted;
  const endChance = random.one([0.02, 0.3, 1]);
  const paintChance = random.one([0, 0.1, 0.5]);
  const elements = Array.from({ length: random.between(3, 90) }, () => topics[random.one(chosen)](random));
  const steps = elements
    .flatMap((element) => cutElement(element, random))
    .map((bytes) => {
      const isEnd = random.chance(endChance);
      return { bytes, isEnd, isPainted: isEnd && random.chance(paintChance) };
    });
  return {
    columns: random.one([20, 31, 40]),
    rows: random.one([5, 8, 10]),
    isKnown,
    isOverdue: random.chance(0.4),
    steps,
  };
};
