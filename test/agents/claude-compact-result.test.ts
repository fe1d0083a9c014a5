import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/event.js';
import { claude } from '../../src/agents/claude/agent.js';
import { BUSY, conversation, drawn, seenOf, watch } from '../support/claude-frame.js';
import { linesOf, readLines } from '../support/read-log.js';
import { playScreens } from '../support/screen-play.js';

const resultsIn = (facts: readonly Fact[]) =>
  facts.flatMap((fact) => (fact.type === 'compact-result' ? [fact.result] : []));
const shortly = (facts: readonly Fact[]): readonly string[] =>
  resultsIn(facts).map((result) =>
    result.kind === 'interrupted' ? `interrupted by ${result.by}` : [result.kind, result.text].join(': '),
  );
const played = async (cast: string): Promise<readonly string[]> =>
  shortly((await playScreens(cast, claude)).flatMap(({ facts }) => facts));

const BAD_REQUEST = 'failed: Error during compaction: API Error: 400 mock bad request';
const EMPTY = 'failed: Error during compaction: summarization produced empty response';
const TOO_LONG = 'failed: Compaction failed · conversation could not be reduced below the context limit';

describe('a compaction without success on the screen of claude', () => {
  it.each([
    {
      cast: 'compact-ends',
      results: [BAD_REQUEST, BAD_REQUEST, EMPTY, TOO_LONG, 'interrupted by Esc', BAD_REQUEST],
    },
    {
      cast: 'modes-of-input',
      results: ['noop: Error: No messages to compact', 'noop: Not enough messages to compact.'],
    },
    { cast: 'compact-stash', results: ['interrupted by Esc'] },
    { cast: 'compact-empty', results: ['noop: Error: No messages to compact'] },
    { cast: 'compact-esc', results: ['interrupted by Esc'] },
    { cast: 'ghost', results: ['interrupted by Esc'] }, // the command is drawn over a bar
    { cast: 'compact-ptl', results: [TOO_LONG] },
    { cast: 'compact-ok', results: [] },
    { cast: 'auto-compact-s46', results: [] },
    { cast: 'traps', results: [] },
    { cast: 'old-2.0.70', results: [] },
  ])('is told once each time in the recording $cast', async ({ cast, results }) => {
    expect(await played(`claude/${cast}`)).toEqual(results);
  });

  const failure = [
    '❯ /compact',
    '  ⎿  Error during compaction: API Error: 500 internal. This is a',
    '     server-side issue',
    '',
  ];
  const typed = (above: readonly string[]) =>
    seenOf(drawn({ above: [...conversation, ...above], prompt: ['❯ /compact'] }));
  const answered = (above: readonly string[]) => seenOf(drawn({ above: [...conversation, ...above] }));
  const busy = (above: readonly string[]) => seenOf(drawn({ above: [...conversation, ...above] }), BUSY);
  const running = (above: readonly string[]) =>
    seenOf(
      drawn({ above: [...conversation, ...above, '❯ /compact', '', '✢ Compacting conversation…', ''] }),
      BUSY,
    );
  const told = (...screens: Parameters<typeof watch>[0]) =>
    shortly(watch(screens).flatMap(({ facts }) => facts));
  const SERVER = 'failed: Error during compaction: API Error: 500 internal. This is a server-side issue';

  it('is told with all its words, whether the compaction was seen or not', () => {
    expect(told(typed([]), running([]), answered(failure), answered(failure))).toEqual([SERVER]);
    expect(told(typed([]), answered(failure), answered(failure))).toEqual([SERVER]);
    expect(told(typed(failure), answered(failure), answered([...failure, ...failure]))).toEqual([SERVER]);
    const focus = ['❯ /compact keep the names of the tests and', '  everything else', ...failure.slice(1)];
    expect(told(typed([]), answered(focus))).toEqual([SERVER]);
    const flush = ['❯ /compact keep the names of the tests and', 'everything else', ...failure.slice(1)];
    expect(told(typed([]), answered(flush))).toEqual([SERVER]);
  });

  it('is told when the command waited behind a turn', () => {
    const turn = Array.from({ length: 60 }, () => busy([]));
    expect(told(typed([]), ...turn, answered(failure))).toEqual([SERVER]);
  });

  it.each<[string, readonly ReturnType<typeof typed>[]]>([
    ['an old one is on the screen at the start', [answered(failure), answered(failure)]],
    ['the command is typed again and taken back', [typed(failure), answered(failure)]],
    ['an old conversation is drawn again', [answered([]), answered(failure)]],
    [
      'an old one comes long after the command',
      [typed([]), ...Array.from({ length: 60 }, () => answered([])), answered(failure)],
    ],
    ['the model says it', [typed([]), answered(['❯ /compact', '', '● Error during compaction: no'])]],
    [
      'the model imitates it',
      [typed([]), answered(['● ok', '  ❯ /compact', '  ⎿  Not enough messages to compact.'])],
    ],
    ['another command answers so', [typed([]), answered(['❯ /ok', '  ⎿  Not enough messages to compact.'])]],
    [
      'it worked',
      [typed([]), running([]), answered(['❯ /compact', '  ⎿  Compacted (ctrl+o to see full summary)'])],
    ],
  ])('is not told when %s', (_, screens) => {
    expect(told(...screens)).toEqual([]);
  });

  it('is an interruption when Claude gives the command back, also after an older failure', () => {
    const back = seenOf(
      drawn({ above: [...conversation, ...failure], prompt: ['❯ /compact '], cursor: [12, 11] }),
    );
    expect(told(typed(failure), running(failure), back, back, answered(failure))).toEqual([
      'interrupted by Esc',
    ]);
  });

  it("is none when the agent's own compaction ends with that command in the prompt", () => {
    const own = seenOf(
      drawn({ above: [...conversation, '❯ go on', '', '✢ Compacting conversation…', ''] }),
      BUSY,
    );
    expect(told(own, typed(['❯ go on', '']))).toEqual([]);
  });
});

describe('a compaction without success in the session file of claude', () => {
  it('is told once each, in its own words', () => {
    const { facts, misfits } = readLines(claude, linesOf('claude', 'compact-ends.jsonl'));
    expect(misfits).toEqual([]);
    expect(shortly(facts)).toEqual([
      'noop: Error: No messages to compact',
      'noop: Not enough messages to compact.',
      BAD_REQUEST,
      BAD_REQUEST,
      EMPTY,
      TOO_LONG,
      BAD_REQUEST,
    ]);
    expect(resultsIn(facts).flatMap((result) => (result.kind === 'failed' ? [result.failure] : []))).toEqual([
      'error',
      'error',
      'empty',
      'error',
      'error',
    ]);
    expect(facts.filter(({ type }) => type === 'boundary')).toMatchObject([
      { boundary: { initiator: 'user' } },
    ]);
  });

  const command = (name: string) =>
    JSON.stringify({
      type: 'user',
      isSidechain: false,
      message: { content: `<command-name>${name}</command-name>` },
    });
  const answer = (text: string, subtype = 'local_command') =>
    JSON.stringify({
      type: 'system',
      subtype,
      isSidechain: false,
      content: `<local-command-stdout>${text}</local-command-stdout>`,
    });
  const NOT_ENOUGH = 'Not enough messages to compact.';

  it.each<[string, readonly string[]]>([
    ['another command', [command('/cost'), answer(NOT_ENOUGH)]],
    ['a later command', [command('/compact'), command('/cost'), answer(NOT_ENOUGH)]],
    [
      'a prompt',
      [JSON.stringify({ type: 'user', isSidechain: false, message: { content: answer(NOT_ENOUGH) } })],
    ],
    ['no command', [answer(NOT_ENOUGH)]],
    ['success', [command('/compact'), answer('Compacted (ctrl+o to see full summary)')]],
    ['another record', [command('/compact'), answer(NOT_ENOUGH, 'informational')]],
  ])('is not told by %s', (_, lines) => {
    expect(shortly(readLines(claude, lines).facts)).toEqual([]);
  });

  it('is told once when its answer is written twice', () => {
    const lines = [command('/compact'), answer(NOT_ENOUGH), answer(NOT_ENOUGH)];
    expect(shortly(readLines(claude, lines).facts)).toEqual([`noop: ${NOT_ENOUGH}`]);
  });
});
