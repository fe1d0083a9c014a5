import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/event.js';
import { codex } from '../../src/agents/codex/agent.js';
import { compacted, compacting, dim, failed, readFrames, task } from '../support/codex-frame.js';
import type { CodexFrame } from '../support/codex-frame.js';
import { linesOf, readLines } from '../support/read-log.js';
import { playScreens } from '../support/screen-play.js';

const shortly = (facts: readonly Fact[]): readonly string[] =>
  facts.flatMap((fact) => {
    if (fact.type === 'boundary') {
      const { initiator, summary } = fact.boundary;
      return [['compacted', initiator, summary].filter(Boolean).join(' ')];
    }
    if (fact.type !== 'compact-result') return [];
    const { result } = fact;
    return [result.kind === 'interrupted' ? `interrupted by ${result.by}` : `${result.kind}: ${result.text}`];
  });

const DEMAND = 'failed: We’re currently experiencing high demand, which may cause temporary errors.';
const BAD_REQUEST = 'failed: {"error":{"message":"mock bad request","type":"invalid_request_error"}}';
const DROPPED = 'failed: stream disconnected before completion: error sending request';
const NO_ROOM =
  "failed: Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.";
const STOPPED = 'interrupted by the user';

describe('a compaction without success on the screen of codex', () => {
  it.each([
    {
      cast: 'compact-ends',
      told: [DEMAND, BAD_REQUEST, BAD_REQUEST, DROPPED, NO_ROOM, STOPPED, DEMAND, 'compacted', 'compacted'],
    },
    { cast: 'own-compact-ends', told: [DEMAND, 'compacted', STOPPED] },
    { cast: 'busy', told: ['compacted'] }, // a turn that was stopped is no compaction
    { cast: 'traps', told: [] },
    { cast: 'ctx-error', told: [] }, // nor is one that failed
  ])('is told once each time in the recording $cast', async ({ cast, told }) => {
    const played = await playScreens(`codex/${cast}`, codex);
    expect(shortly(played.flatMap(({ facts }) => facts))).toEqual(told);
  });

  const told = async (...frames: readonly CodexFrame[]) =>
    shortly((await readFrames(...frames)).flatMap(({ facts }) => facts));
  const stopped = '■ Conversation interrupted - use /feedback if something went wrong';
  const running = (...conversation: readonly string[]): CodexFrame => ({
    state: 'working',
    live: compacting,
    conversation,
  });
  const ended = (state: string, ...conversation: readonly string[]): CodexFrame => ({ state, conversation });

  it('is told when the same words were there before, for the state is new', async () => {
    const again = ended('error', failed('no'), '', failed('no'));
    expect(await told(running(failed('no')), again, again)).toEqual(['failed: no']);
    expect(await told(running(stopped), ended('idle', stopped, '', stopped))).toEqual([STOPPED]);
  });

  it.each<[string, readonly CodexFrame[]]>([
    ['no compaction was seen', [ended('working'), ended('error', failed('no'))]],
    [
      'an older failure comes into view',
      [running('• ok'), ended('done', '• ok'), ended('done', failed('no'))],
    ],
    ['it worked above an older failure', [running(failed('no')), ended('done', failed('no'))]],
    [
      'another task goes on',
      [running(failed('no')), { ...ended('working', failed('no')), live: [task('Working')] }],
    ],
    ['the model says it', [running(), ended('error', `${dim('• ')}■ no`, '  ■ no', `  ${stopped}`)]],
    ['it is in no colour of an error', [running(), ended('error', '■ no')]],
  ])('is not told when %s', async (_, frames) => {
    expect(await told(...frames)).toEqual([]);
  });

  it('is told with the rows that it takes', async () => {
    const long = ["\x1b[31m■ Codex ran out of room in the model's", 'context window.\x1b[39m'];
    expect(await told(running(), ended('error', ...long))).toEqual([
      "failed: Codex ran out of room in the model's context window.",
    ]);
    expect(await told(running(), ended('done', ...compacted))).toEqual(['compacted']);
  });
});

describe('a compaction in the rollout of codex', () => {
  it('is told with how it ended, and whether a summary was made', () => {
    const { facts } = readLines(codex, linesOf('codex', 'compactions.jsonl'));
    expect(shortly(facts)).toEqual([
      'compacted user',
      'compacted user',
      DEMAND,
      BAD_REQUEST,
      'compacted user empty', // the last answer stands where the summary should be
      DROPPED,
      STOPPED,
      'compacted user',
    ]);
  });

  it("is the agent's own in a turn of the user's, where a failure cannot be told from the turn's", () => {
    const { facts } = readLines(codex, linesOf('codex', 'own-compact-ends.jsonl'));
    expect(shortly(facts)).toEqual(['compacted agent empty']);
  });

  it('is none where a turn of the user fails or is stopped', () => {
    expect(shortly(readLines(codex, linesOf('codex', 'context-exceeded.jsonl')).facts)).toEqual([]);
  });

  const PREFIX = 'Another language model started to solve this problem and produced a summary:\n';
  const event = (payload: object) => JSON.stringify({ type: 'event_msg', payload });
  const answers = (text: string) => [
    event({ type: 'item_completed', item: { type: 'AgentMessage', content: [{ type: 'Text', text }] } }),
    event({ type: 'agent_message', message: text }), // as older versions write it
  ];
  const compactedWith = (message: string, timestamp?: string) =>
    JSON.stringify({ type: 'compacted', timestamp, payload: { message } });

  /** Codex's own estimate of what it has kept: a total without input and output. */
  const counted = (total_tokens: number) =>
    event({
      type: 'token_count',
      info: { last_token_usage: { input_tokens: 0, output_tokens: 0, total_tokens } },
    });

  it('is told with what Codex thinks to have kept, once that or anything else is known', () => {
    const boundaries = (...lines: readonly string[]) =>
      readLines(codex, lines).facts.flatMap((fact) => (fact.type === 'boundary' ? [fact.boundary] : []));
    const started = event({ type: 'task_started' });
    const done = event({ type: 'task_complete' });
    expect(boundaries(started, compactedWith('a'))).toEqual([]);
    expect(boundaries(started, compactedWith('a'), counted(8_300), done)).toMatchObject([
      { postTokens: 8_300 },
    ]);
    const [untold, ...others] = boundaries(started, compactedWith('a'), done, counted(8_300));
    expect(others).toEqual([]);
    expect(untold).not.toHaveProperty('postTokens');
    expect(
      boundaries(started, compactedWith('a'), compactedWith('b', '2026-11-21T10:00:00Z'), done),
    ).toHaveLength(2);
    expect(boundaries(started, compactedWith('a'), compactedWith('a'), done)).toHaveLength(1);
  });

  it.each([
    { message: `${PREFIX}All tests pass.\n`, summary: 'empty' },
    { message: 'All tests pass.', summary: 'empty' }, // versions without a prefix
    { message: PREFIX, summary: 'empty' },
    { message: `${PREFIX}Goals\nAll tests pass.`, summary: undefined },
    { message: `${PREFIX}The user wanted tests.`, summary: undefined },
    { message: '', summary: undefined }, // made by the server, and not to be read
  ])('with $message after "All tests pass." has a summary that is $summary', ({ message, summary }) => {
    const told = answers('All tests pass.').flatMap((answer) => {
      const lines = [event({ type: 'task_started' }), answer, compactedWith(message), counted(0)];
      return readLines(codex, lines).facts;
    });
    const boundaries = told.flatMap((fact) => (fact.type === 'boundary' ? [fact.boundary.summary] : []));
    expect(boundaries).toEqual([summary, summary]);
  });
});
