import { describe, expect, it } from 'vitest';
import { compacted, compacting, failed, readFrames } from '../support/codex-frame.js';
import type { CodexFrame } from '../support/codex-frame.js';

const before = ['› first', '', '• one', '', '› go on', '', '• Ran ls'];
const during: CodexFrame = { conversation: before, live: compacting, state: 'working' };
const done = compacted.slice(0, 1);

const boundariesIn = async (...frames: readonly CodexFrame[]): Promise<number> =>
  (await readFrames(...frames)).flatMap(({ facts }) => facts.filter(({ type }) => type === 'boundary'))
    .length;

describe('a compaction of its own on the screen of codex', () => {
  it.each([
    ['with nothing below', [...before, '', ...done], 'working'],
    ['with the answer right below', [...before, '', ...done, '', '• and so on'], 'working'],
    ['with work and the answer below', [...before, '', ...done, '', '• Ran pwd', '', '• end'], 'done'],
    ['with what was before pushed off the screen', [...done, '', '• and so on'], 'working'],
    ['with an older one above it', [...done, '', ...before, '', ...done, '', '• and so on'], 'working'],
  ])('is told once %s', async (_, conversation, state) => {
    const older = _.includes('older') ? { conversation: [...done, '', ...before] } : {};
    const end = { conversation, state };
    expect(await boundariesIn({ ...during, ...older }, end, end)).toBe(1);
  });

  it.each([
    ['an older one stands above what was before', [...done, '', ...before, '', '• and so on'], 'working'],
    ['it failed', [...before, '', failed('stream disconnected')], 'error'],
    ['it was stopped', [...done, '', ...before, '', failed('Conversation interrupted')], 'idle'],
    ['nothing tells what Codex does', [...before, '', ...done, '', '• and so on'], undefined],
  ])('is none when %s', async (_, conversation, state) => {
    const older = { ...during, conversation: [...done, '', ...before] };
    const end = { conversation, ...(state === undefined ? {} : { state }) };
    expect(await boundariesIn(older, end, end)).toBe(0);
  });

  it('is none when it was not seen going on', async () => {
    const end = { conversation: [...before, '', ...done, '', '• and so on'], state: 'working' };
    expect(await boundariesIn({ conversation: before, state: 'working' }, end)).toBe(0);
  });
});
