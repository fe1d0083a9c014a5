// A compaction of an old Gemini: its document marks the end, the screen says how it ended, and only both together are a record.
import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/core/event.js';
import { updateProof } from '../../src/agents/gemini/screen.js';
import type { ScreenWitnesses } from '../../src/agents/gemini/screen.js';
import { gemini } from '../../src/agents/gemini/agent.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';

const NONE = { state: 'no compaction' };
const ended = (time: string) => ({ state: `compaction ended at ${time}` });
const words: Fact = {
  type: 'boundary',
  boundary: { initiator: 'user', preTokens: 55_000, source: 'screen', at: 10 },
};
const failed: Fact = { type: 'compact-result', result: { kind: 'noop', text: 'Nothing to compress.' } };
const running = { kind: 'running' } as const;
const none = { kind: 'none' } as const;

/** What is told at each look; the last one comes at this time. */
const told = (looks: readonly ScreenWitnesses[], now = 20): readonly (readonly Fact[])[] => {
  let proof = {};
  return looks.map((look, index) => {
    const step = updateProof(proof, look, index === looks.length - 1 ? now : 10);
    ({ proof } = step);
    return step.facts;
  });
};
const record: Fact = { type: 'boundary', boundary: { initiator: 'user', preTokens: 55_000, at: 10 } };

describe('a compaction of an old gemini', () => {
  it('is proved by its words and a mark that is new, whichever is seen first', () => {
    const begin = { watch: running, facts: [], status: NONE };
    const mark = ended('2026-11-22T19:18:32.124Z');
    expect(told([begin, { watch: none, facts: [words], status: mark }])).toEqual([[], [record]]);
    const later = { watch: none, facts: [], status: mark };
    expect(
      told([{ ...later, status: NONE }, begin, { watch: none, facts: [words], status: NONE }, later]),
    ).toEqual([[], [], [], [record]]);
  });

  it('is not proved by the mark of the one before, nor by words where no mark comes', () => {
    const old = ended('2026-11-22T19:00:00.000Z');
    const looks = [
      { watch: none, facts: [], status: old },
      { watch: running, facts: [], status: old },
      { watch: none, facts: [words], status: old },
      { watch: none, facts: [], status: old },
    ];
    expect(told(looks)).toEqual([[], [], [], []]);
    expect(told(looks, 10_000).at(-1)).toEqual([words]); // as much as the screen alone says
  });

  it('is told by the screen alone where there are no marks, and as a failure when the words say so', () => {
    expect(told([{ watch: none, facts: [words], status: undefined }])).toEqual([[words]]);
    expect(told([{ watch: none, facts: [failed], status: ended('x') }])).toEqual([[failed]]);
  });

  it('leaves its mark in the session document', async () => {
    const { startedAt } = fakePlace();
    const chats = '/home/me/.gemini/tmp/app/chats';
    const files = (text: string, name = 'session-1.json') => ({
      '/home/me/.gemini/projects.json': { modifiedAt: 0, text: '{"projects":{"/proj/app":"app"}}' },
      [`${chats}/${name}`]: { modifiedAt: startedAt + 5, text },
    });
    const info = (time: string, content: string) =>
      `{\n      "id": "x",\n      "timestamp": "${time}",\n      "type": "info",\n      "content": "${content}"\n    }`;
    const status = (text: string, name?: string) =>
      gemini.screen?.status?.(fakePort({ files: files(text, name) }), fakePlace());
    expect(await status(info('T1', 'Request cancelled.'))).toEqual(NONE);
    expect(await status(`${info('T1', '')},${info('T2', '')},${info('T3', 'x')}`)).toEqual(ended('T2'));
    expect(await status(info('T1', ''), 'session-1.jsonl')).toBeUndefined();
  });
});
