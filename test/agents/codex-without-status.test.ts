// Codex before 0.163, which does not say what it does: its title and its rollout must both tell that it rests.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codex } from '../../src/agents/codex/agent.js';
import { dim, seenFrame } from '../support/codex-frame.js';
import type { CodexFrame } from '../support/codex-frame.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { runs } from '../support/runs.js';

const REST = 'project';
const WORK = '⠋ project';
const suggestion = (text: string): CodexFrame => ({
  draft: [dim(text)],
  column: 2,
  hints: '  gpt-5.5 default',
});

/** What one reader says of these screens: the title, what the rollout says, and what is drawn. */
const activitiesOf = async (
  ...looks: readonly (readonly [title: string, rollout: string | undefined, frame?: CodexFrame])[]
): Promise<readonly string[]> => {
  const said: string[] = [];
  let read = codex.screen?.reader({});
  for (const [title, state, frame = suggestion('Explain this codebase')] of looks) {
    const seen = await seenFrame({ ...frame, title });
    const step = read?.({ ...seen, ...(state === undefined ? {} : { status: { state } }) }, 0);
    read = step?.next;
    said.push(step?.activity.activity ?? '');
  }
  return said;
};

describe('codex that does not say what it does', () => {
  it('is ready when its title has stopped to show work and the last turn of its rollout is over', async () => {
    expect(await activitiesOf([REST, 'new'], [WORK, 'busy'], [REST, 'idle'])).toEqual([
      'unknown',
      'busy',
      'ready',
    ]);
  });

  it.each([
    ['the rollout says that a turn goes on', [WORK, 'busy'], [REST, 'busy']],
    ['no rollout is found', [WORK, undefined], [REST, undefined]],
    ['the rollout is unclear', [WORK, 'busy'], [REST, 'unclear']],
    ['the title has never shown work, as one that the user has configured', [REST, 'busy'], [REST, 'idle']],
    ['there is no title', [WORK, 'busy'], ['', 'idle']],
  ] as const)('is never ready on one word alone: %s', async (_, first, then) => {
    expect((await activitiesOf(first, then)).at(-1)).toBe('unknown');
  });

  it('works as long as the title shows it, also when the row of the task is gone because an answer comes in', async () => {
    expect(await activitiesOf([WORK, 'idle'], ['⠋ renaming... ⠙ | project', 'idle'])).toEqual([
      'busy',
      'busy',
    ]);
  });

  it('has a suggestion in its empty prompt, whatever it says, and a draft in the colour of text', async () => {
    const words = fc.stringMatching(/^[A-Za-z@/][ -~]{0,60}[A-Za-z]$/);
    await fc.assert(
      fc.asyncProperty(words, async (text) => {
        const drawn = suggestion(text);
        const typed: CodexFrame = { ...drawn, draft: [text] };
        const half: CodexFrame = { ...drawn, draft: [`${text.slice(0, 1)}${dim(text.slice(1))}`] };
        const looks = [WORK, REST].map((title) => [title, 'idle', drawn] as const);
        expect(await activitiesOf(...looks, [REST, 'idle', typed], [REST, 'idle', half])).toEqual([
          'busy',
          'ready',
          'draft',
          'draft',
        ]);
      }),
      runs(30),
    );
  });
});

describe('the rollout as a witness', () => {
  const path = '/home/me/.codex/sessions/2026/11/21/rollout-2026-11-21T10-00-00-t1.jsonl';
  const meta = JSON.stringify({ type: 'session_meta', payload: { id: 't1', cwd: '/proj/app' } });
  const event = (type: string) => JSON.stringify({ type: 'event_msg', payload: { type } });
  const statusOf = (lines: readonly string[], open: readonly string[] = [path], end = '\n') => {
    const files = {
      [path]: { modifiedAt: Date.UTC(2026, 10, 21, 10, 1), text: `${[meta, ...lines].join('\n')}${end}` },
    };
    return codex.screen?.status?.(fakePort({ files, open: { 100: open } }), fakePlace());
  };

  it.each([
    [['task_started'], 'busy'],
    [['task_started', 'token_count', 'task_complete'], 'idle'],
    [['task_started', 'turn_aborted', 'token_count'], 'idle'],
    [['task_complete', 'task_started'], 'busy'],
    [[], 'unclear'],
  ])('says with %j: %s', async (types, state) => {
    expect(await statusOf(types.map(event))).toEqual({ state });
  });

  it('says nothing while a record is half written, in a conversation, or of a file that the child does not hold open', async () => {
    expect(await statusOf([event('task_complete')], [path], '\n{"type":"event_')).toEqual({
      state: 'unclear',
    });
    const talk = JSON.stringify({
      type: 'response_item',
      payload: { type: 'message', content: event('task_complete') },
    });
    expect(await statusOf([event('task_started'), talk])).toEqual({ state: 'busy' });
    expect(await statusOf([event('task_complete')], [])).toEqual({ state: 'unclear' });
  });
});
