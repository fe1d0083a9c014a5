// Claude Code's query for agent states (OSC 7501); recordings of 2.1.330 with an answer and without.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { titleSigns } from '../../src/agents/claude/launch.js';
import { makeOverviewHarness, type OverviewHarness } from '../support/overview-harness.js';

const QUESTION = '\x1b]7501;?\x07';
const ANSWER = '\x1b]7501;?\x1b\\';
const GAP_MS = 5; // until the wrapper writes into a gap of the child's output
const SENTINEL = '\x1b[5n';
const STATE = /\x1b\]7501;([^\x07\x1b]*)(?:\x07|\x1b\\)/g;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Run extends OverviewHarness {
  /** what was sent to the terminal since the start; titles or states only */
  readonly titles: () => readonly string[];
  readonly states: () => readonly string[];
}

/** A terminal that answers nothing by itself. */
const open = (): Run => {
  const terminal = makeOverviewHarness(80, 24, {}, { titleSigns, isSilent: true });
  const sent = (): string => Buffer.from(terminal.sent(), 'latin1').toString();
  return {
    ...terminal,
    titles: () => [...sent().matchAll(/\x1b\]0;([^\x07\x1b]*)(?:\x07|\x1b\\)/g)].map(([, text = '']) => text),
    states: () => [...sent().matchAll(STATE)].map(([, text = '']) => text),
  };
};

/** A terminal without support: only the answer to the wrapper's query arrives. */
const openAnswered = (): Run => {
  const run = open();
  run.write(`\x1b]0;✳ Claude Code\x07${QUESTION}\x1b[c`);
  run.type('\x1b[0n');
  return run;
};

const state = (text: string): string => `\x1b]7501;state=${text}:app=claude-code\x07`;

interface Said {
  readonly seconds: number;
  readonly bytes: string;
}

const recorded = (name: string): readonly Said[] =>
  readFileSync(new URL(`../fixtures/states/claude-2.1.330-${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as [number, string, string])
    .map(([seconds, , bytes]) => ({ seconds, bytes }));

/** Plays the recording by its clock, in pieces of at most so many bytes. */
const play = (run: Run, said: readonly Said[], piece: number): void => {
  let at = 0;
  for (const { seconds, bytes } of said) {
    vi.advanceTimersByTime((seconds - at) * 1000);
    at = seconds;
    const whole = Buffer.from(bytes);
    for (let from = 0; from < whole.length; from += piece) run.write(whole.subarray(from, from + piece));
    if (bytes.includes(QUESTION)) run.type('\x1b[0n\x1b[?1;2c');
  }
};

/** Titles without the turns of the working sign, because their timing differs between runs. */
const stepsOf = (titles: readonly string[]): readonly string[] =>
  titles
    .map((title) => title.replace(/^[◐◑] /, 'busy '))
    .filter((title, index, all) => title !== all[index - 1]);

describe('an agent that asks whether the terminal understands states', () => {
  it('is answered in the terminal’s place when the terminal answers a later query first', () => {
    const run = open();
    run.write(`${QUESTION}\x1b[c`);
    expect(run.sent()).toContain(`${QUESTION}${SENTINEL}\x1b[c`);
    expect(run.received()).toBe('');
    run.type('\x1b[0n\x1b[?1;2c');
    expect(run.received()).toBe(`${ANSWER}\x1b[?1;2c`);
    run.stop();
  });

  it('gets the answer of a terminal that understands, and nothing is changed for that', () => {
    const run = open();
    run.write(`\x1b]0;✳ Claude Code\x07${QUESTION}\x1b[c`);
    run.type('\x1b]7501;?\x07\x1b[0n\x1b[?1;2c');
    expect(run.received()).toBe('\x1b]7501;?\x07\x1b[?1;2c');
    run.write(`${state('working')}\x1b]0;Claude Code\x07`);
    expect(run.states()).toEqual(['?', 'state=working:app=claude-code']);
    expect(run.titles()).toEqual(['✳ Claude Code', 'Claude Code']);
    run.stop();
  });

  it('is answered after a second where the terminal does not answer, and never twice', () => {
    const run = open();
    run.write(QUESTION);
    vi.advanceTimersByTime(999);
    expect(run.received()).toBe('');
    vi.advanceTimersByTime(1);
    expect(run.received()).toBe(ANSWER);
    run.type('\x1b[0n');
    vi.advanceTimersByTime(5_000);
    expect(run.received()).toBe(ANSWER);
    run.stop();
  });

  it('gets no late answer of the terminal, which then gets the states it has missed', () => {
    const run = openAnswered();
    run.write(`${state('working')}\x1b]0;Fancy\x07`);
    expect(run.titles().at(-1)).toBe('◐ Fancy');
    run.type('a');
    for (const byte of ANSWER) run.type(byte);
    run.type('b');
    vi.advanceTimersByTime(1_000);
    expect(run.received()).toBe(`${ANSWER}ab`);
    expect(run.titles().at(-1)).toBe('Fancy');
    expect(run.states()).toEqual(['?', 'state=working:app=claude-code']);
    run.stop();
  });

  it('is not answered for an agent without title signs', () => {
    const run = makeOverviewHarness(80, 24, {}, { isSilent: true });
    run.write(`${QUESTION}\x1b[c`);
    run.type('\x1b[?1;2c');
    vi.advanceTimersByTime(5_000);
    expect(run.received()).toBe('\x1b[?1;2c');
    expect(run.sent()).not.toContain(SENTINEL);
    run.stop();
  });

  it('gets one answer and the keys in their order, whatever comes when and in which pieces', () => {
    const key = fc.constantFrom('a', 'b', '\r', '\x1b[A', '\x1bOB', '\x1b[15~');
    const answer = fc.constantFrom('', ANSWER, '\x1b]7501;?\x07');
    const scene = fc.record({
      keys: fc.array(key, { maxLength: 6 }),
      answer,
      isLate: fc.boolean(),
      isSilent: fc.boolean(),
      asksMore: fc.boolean(),
      cuts: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 }),
      pauseMs: fc.constantFrom(0, 5, 15),
      place: fc.nat(6),
    });
    fc.assert(
      fc.property(scene, ({ keys, answer: said, isLate, isSilent, asksMore, cuts, pauseMs, place }) => {
        const run = open();
        const question = QUESTION + (asksMore ? '\x1b[c' : '');
        inPieces(question, cuts, (piece) => run.write(piece));
        const fence = isSilent ? '' : `\x1b[0n${asksMore ? '\x1b[?1;2c' : ''}`;
        const heard = isLate ? [fence, said] : [said, fence];
        const before = keys.slice(0, place);
        const input = [...before, heard[0], ...keys.slice(place), heard[1]].join('');
        inPieces(input, cuts, (piece) => {
          run.type(piece);
          vi.advanceTimersByTime(pauseMs);
        });
        vi.advanceTimersByTime(2_000);
        const received = run.received();
        run.stop();
        expect(received.match(STATE)).toHaveLength(1);
        expect(received.replace(STATE, '').replace('\x1b[?1;2c', '')).toBe(keys.join(''));
      }),
      { numRuns: 200, seed: 20261122 },
    );
  });
});

const inPieces = (text: string, sizes: readonly number[], act: (piece: string) => void): void => {
  let from = 0;
  for (let index = 0; from < text.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    act(text.slice(from, from + size));
    from += size;
  }
};

describe('a terminal that the wrapper has answered for', () => {
  it.each([1, 3, 7, 4096])(
    'gets the titles of a session without an answer, and no states, in pieces of %i',
    (piece) => {
      const answered = open();
      play(answered, recorded('answered'), piece);
      const expected = recorded('unanswered').flatMap(({ bytes }) =>
        [...bytes.matchAll(/\x1b\]0;([^\x07]*)\x07/g)].map(([, text = '']) => text),
      );
      const steps = stepsOf(answered.titles());
      // the name changes just before or after the end of a command
      expect(
        steps.filter((step, index) => step !== 'busy Claude Code' || steps[index + 1] !== 'busy Fancy'),
      ).toEqual(stepsOf(expected));
      expect(answered.states()).toEqual(['?']);
      answered.stop();
    },
  );

  it('shows the signs in turn at their pace, as long as it has the focus', () => {
    const run = openAnswered();
    run.write(state('working'));
    vi.advanceTimersByTime(2 * 960 + GAP_MS);
    expect(run.titles()).toEqual(['✳ Claude Code', '◐ Claude Code', '◑ Claude Code', '◐ Claude Code']);
    run.type('\x1b[O');
    vi.advanceTimersByTime(5_000);
    expect(run.titles()).toHaveLength(4);
    run.type('\x1b[I');
    vi.advanceTimersByTime(960 + GAP_MS);
    run.write(state('blocked'));
    vi.advanceTimersByTime(5_000);
    expect(run.titles().slice(4)).toEqual(['◑ Claude Code', '✳ Claude Code']);
    run.stop();
  });

  it('shows an idle agent whose commands continue in the background, and nothing of its helpers', () => {
    const run = openAnswered();
    const message = Buffer.from('1 shell still running').toString('base64');
    run.write(`\x1b]7501;state=working:app=claude-code:msg=${message}\x07`);
    run.write(`\x1b]7501;state=working:app=claude-code:id=a1:title=eA==\x07`);
    vi.advanceTimersByTime(5_000);
    expect(run.titles()).toEqual(['✳ Claude Code']);
    expect(run.states()).toEqual(['?']);
    run.stop();
  });

  it('keeps the title of another program, and the empty one at the end', () => {
    const run = openAnswered();
    run.write('\x1b]2;notes.md - VIM\x07');
    expect(run.sent()).toContain('\x1b]2;notes.md - VIM\x07');
    run.write('\x1b]7501;state=clear\x07\x1b]0;\x07');
    expect(run.titles()).toEqual(['✳ Claude Code', '']);
    run.stop();
  });

  it.each([1, 7, 99])(
    'is signed also where the next sequence cuts its title off, in pieces of %i',
    (size) => {
      const run = openAnswered();
      const said = `${state('working')}\x1b]0;Fancy\x1b[31mred\x1b]0;cancelled\x18`;
      for (let at = 0; at < said.length; at += size) run.write(said.slice(at, at + size));
      expect(run.titles().slice(-1)).toEqual(['◐ Fancy']);
      expect(run.sent()).toContain('\x1b[31mred');
      vi.advanceTimersByTime(3_000);
      expect(new Set(stepsOf(run.titles()).slice(-1))).toEqual(new Set(['busy Fancy']));
      run.stop();
    },
  );

  it('gets no sign where the agent has put none, and not two where it keeps its own', () => {
    const bare = open();
    bare.write(`\x1b]0;Claude Code\x07${QUESTION}`);
    bare.type('\x1b[0n');
    bare.write(`${state('working')}\x1b]0;Fancy\x07`);
    expect(bare.titles()).toEqual(['Claude Code', 'Fancy']);
    bare.stop();
    const own = openAnswered();
    own.write('\x1b]0;✳ Fancy\x07');
    own.write(`${state('working')}\x1b]0;◐ Fancy\x07`);
    vi.advanceTimersByTime(5_000);
    expect(own.titles()).toEqual(['✳ Claude Code', '✳ Fancy', '◐ Fancy']);
    own.stop();
  });

  it('gets no animation in a multiplexer', () => {
    const signs = titleSigns({ TMUX: '/tmp/tmux,1,0' });
    expect(signs.sets.map(({ rest, busy }) => [rest, ...busy])).toEqual([
      ['✳', '✳'],
      ['*', '*'],
    ]);
  });

  it('does not hide the agent’s states from the readers', async () => {
    vi.useRealTimers();
    const run = openAnswered();
    run.write(`${state('working')}\x1b]0;Fancy\x07\x1b]7501;state=working:id=a1\x07`);
    await run.model.settled();
    expect(run.model.snapshot()?.signals).toMatchObject({
      title: 'Fancy',
      agentState: 'state=working:app=claude-code',
    });
    run.stop();
  });
});
