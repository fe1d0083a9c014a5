// Answers of a terminal to the questions of the wrapper and of its child, whenever and in whichever order they come.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeOverviewHarness, type OverviewHarness } from '../support/overview-harness.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PLAIN = '\x1b[;R'; // a plain cursor report without its numbers
const COLUMN = 5; // in row 1: a plain report there has the bytes of F3 with Ctrl
const BACKGROUND = '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\';

/** A question that has reached the terminal, and its answer. */
interface Question {
  readonly isOurs: boolean;
  readonly answer: string;
}

interface Questions {
  readonly asked: readonly Question[];
  readonly ask: (isOurs: boolean, act: () => void) => void;
}

/** Listens to what reaches the terminal, and knows what a terminal with its cursor in row 1 answers. */
const listen = (run: OverviewHarness, hasExtended: boolean): Questions => {
  const asked: Question[] = [];
  let at = run.sent().length;
  let attributes = 0;
  const answerTo = (query: string, place: string): string | undefined => {
    if (query === '\x1b[?6n') return hasExtended ? `\x1b[?1;${COLUMN}R` : undefined;
    if (query === '\x1b[6n') return `\x1b[${place}R`;
    if (query === '\x1b[5n') return '\x1b[0n';
    if (query === '\x1b[>c') return '\x1b[>41;379;0c';
    if (query === '\x1b[c') return `\x1b[?62;${(attributes += 1)}c`;
    return BACKGROUND;
  };
  return {
    asked,
    ask: (isOurs, act) => {
      act();
      let place = `1;${COLUMN}`;
      const found = [
        ...run
          .sent()
          .slice(at)
          .matchAll(/\x1b(?:\[(?:\?6n|[56]n|>?c|B|17G)|8|\]11;\?\x1b\\)/g),
      ].map(([query]) => query);
      at = run.sent().length;
      for (const [index, query] of found.entries()) {
        if (query === '\x1b[B') place = `2;${COLUMN}`;
        else if (query === '\x1b[17G') place = '1;17';
        else if (query === '\x1b8') place = `1;${COLUMN}`;
        else {
          const answer = answerTo(query, place);
          if (answer !== undefined) asked.push({ isOurs: isOurs || index < found.length - 1, answer });
        }
      }
    },
  };
};

const inPieces = (text: string, sizes: readonly number[], act: (piece: string) => void): void => {
  let from = 0;
  for (let index = 0; from < text.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    act(text.slice(from, from + size));
    from += size;
  }
};

const keys = fc.constantFrom(
  'a',
  '\r',
  '\x1b',
  '\x1b[A',
  '\x1bb',
  '\x1bOP',
  '\x1b[15~',
  '\x1b[200~pas',
  'ted\x1b[201~',
  '\x1b[1;2R', // F3 with Shift
  '\x1b[1;6R', // with Ctrl-Shift
);
const delay = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 30_000 }));

/** What the terminal does with the answer to the nth question. */
const fate = fc.record({ delay, isLost: fc.boolean(), isDouble: fc.boolean() });

const scene = fc.record({
  hasExtended: fc.boolean(),
  fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
  typed: fc.array(fc.tuple(delay, keys), { maxLength: 8 }),
  asks: fc.array(fc.tuple(delay, fc.constantFrom('\x1b[c', '\x1b[6n')), { maxLength: 4 }),
  sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
  pauseMs: fc.constantFrom(0, 5, 15),
});
type Scene = typeof scene extends fc.Arbitrary<infer S> ? S : never;

/** Answers of one queue keep their order: those of one kind, or all of them. */
type QueueOf = (answer: string) => string;

interface Happening {
  readonly at: number;
  readonly act: () => void;
}

/** Plays the scene; returns what the child has received, and what it should have been answered. */
const play = (
  { hasExtended, fates, typed, asks, sizes, pauseMs }: Scene,
  queueOf: QueueOf,
  canBeLost: (answer: string) => boolean = () => true,
) => {
  const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
  const questions = listen(run, hasExtended);
  const start = performance.now();
  const happenings: Happening[] = [];
  const given: string[] = [];
  const last = new Map<string, number>();
  const isPasting = typed.some(([, key]) => key.includes('\x1b[20'));
  let known = 0;
  const say = (text: string): void =>
    inPieces(text, sizes, (piece) => {
      questions.ask(true, () => run.type(piece));
      vi.advanceTimersByTime(pauseMs);
    });
  const plan = (): void => {
    for (const { answer, isOurs } of questions.asked.slice(known)) {
      const { delay: later, isLost, isDouble } = fates[known % fates.length] as (typeof fates)[number];
      known += 1;
      if (isOurs && isLost && canBeLost(answer)) continue;
      const at = Math.max(performance.now() - start + later, last.get(queueOf(answer)) ?? 0);
      last.set(queueOf(answer), at);
      if (!isOurs) given.push(answer);
      const isTwice = isOurs && isDouble && kindOf(answer) !== PLAIN && !isPasting; // a second one in a paste is text
      happenings.push({ at, act: () => say(isTwice ? answer + answer : answer) });
    }
  };
  const happen = (act: () => void): void => {
    act();
    plan();
  };
  happen(() => questions.ask(true, () => void run.askAtStart()));
  for (const [at, key] of typed) happenings.push({ at, act: () => say(key) });
  for (const [at, query] of asks)
    happenings.push({ at, act: () => questions.ask(false, () => run.write(query)) });
  for (;;) {
    const [next] = happenings.sort((one, other) => one.at - other.at);
    if (!next) break;
    happenings.shift();
    vi.advanceTimersByTime(Math.max(0, next.at - (performance.now() - start)));
    happen(next.act);
  }
  vi.advanceTimersByTime(5_000);
  run.stop();
  return { received: run.received(), given };
};

const kindOf: QueueOf = (answer) => answer.replaceAll(/\d/g, '');

/** The text without each of the parts, once. */
const without = (text: string, parts: readonly string[]): string =>
  parts.reduce((rest, part) => {
    expect(rest).toContain(part);
    const at = rest.indexOf(part);
    return rest.slice(0, at) + rest.slice(at + part.length);
  }, text);

const keysOf = ({ typed }: Scene): string =>
  typed
    .toSorted(([one], [other]) => one - other)
    .map(([, key]) => key)
    .join('');

describe('answers to the wrapper', () => {
  it('never reach the child, which gets its own answers and the keys, in any order and after any delay', () => {
    fc.assert(
      fc.property(scene, (given) => {
        const played = play(given, kindOf);
        expect(without(played.received, played.given)).toBe(keysOf(given));
      }),
      { numRuns: 300, seed: 20261127 },
    );
  });

  it('that are lost do not keep the child from its own to the same questions', () => {
    const query = fc.constantFrom('\x1b[>c', '\x1b[?6n', '\x1b[5n', '\x1b]11;?\x1b\\', '\x1b[6n', '\x1b[c');
    const same = scene.chain((given) =>
      fc.record({
        ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, fc.constant(value)])),
        fates: fc.array(
          fate.map((each) => ({ ...each, isDouble: false })),
          { minLength: 1, maxLength: 6 },
        ),
        asks: fc.array(fc.tuple(delay, query), { maxLength: 4 }),
      }),
    ) as typeof scene;
    fc.assert(
      fc.property(same, (given) => {
        const isSentinel = (answer: string): boolean => answer === '\x1b[0n';
        const played = play(
          given,
          () => 'all',
          (answer) => !isSentinel(answer),
        );
        expect(without(played.received, played.given)).toBe(keysOf(given));
      }),
      { numRuns: 300, seed: 20261127 },
    );
  });
});

describe('an answer to the child', () => {
  it('is its own when it asks before the terminal has told its cursor at the start', () => {
    const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
    run.stage.filter.grid.isRowKnown = false;
    void run.askAtStart();
    run.write('\x1b[6n');
    run.type('\x1b[0n'); // the terminal has no extended reports
    run.type('\x1b[5;7R');
    run.type('\x1b[6;7R\x1b[5;17R\x1b[0n');
    expect(run.received()).toBe('\x1b[5;7R');
    run.stop();
  });

  it('is its own when the user presses F3 with Ctrl before it, and the wrapper asks behind it', async () => {
    const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
    void run.askAtStart();
    run.type('\x1b[0n'); // the terminal has no extended reports
    run.type('\x1b[2;1R\x1b[1;17R\x1b[0n');
    run.write('\x1b[7;3H\x1b[6n');
    run.type('\x1b[1;5R');
    void run.parts.cursorQuery.ask('', 60);
    run.type('\x1b[7;3R\x1b[0n\x1b[8;3R\x1b[7;17R\x1b[0n');
    expect(run.received()).toBe('\x1b[1;5R\x1b[7;3R');
    run.stop();
  });

  it.each(['\x1b]11;?\x07', '\x1b]011;?\x07', '\x1b]0010;?;?\x07', '\x1b]011;?\x1b\\', '\u009d11;?\u009c'])(
    'about the background reaches it after the question %j',
    (question) => {
      const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
      void run.askAtStart();
      run.type(`${BACKGROUND}\x1b[>41;379;0c\x1b[?1;5R\x1b[0n`);
      run.write(question);
      run.type(BACKGROUND);
      expect(run.received()).toBe(BACKGROUND);
      run.stop();
    },
  );

  it.each([
    ['\x1b[06n', '\x1b[7;3R'],
    ['\u009b6n', '\x1b[7;3R'],
    ['\x1b[?006n', '\x1b[?7;3R'],
    ['\x1b[05n', '\x1b[0n'],
    ['\x1b[>00c', '\x1b[>41;379;0c'],
    ['\u009b>c', '\x1b[>41;379;0c'],
  ])('to %j reaches it although the wrapper has asked the same', (question, answer) => {
    const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
    void run.askAtStart();
    run.type(`${BACKGROUND}\x1b[>41;379;0c\x1b[0n`);
    run.type('\x1b[2;1R\x1b[1;17R\x1b[0n');
    run.write(`\x1b[7;3H${question}`);
    run.type(answer);
    expect(run.received()).toBe(answer);
    run.stop();
  });
});
