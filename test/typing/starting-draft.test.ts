// A text that is put into the prompt as a draft: once, as pastes that the agent shows as they are, and never sent.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { typeDraft } from '../../src/typing/typist.js';
import { PASTE_END, PASTE_START, pastesOf } from '../../src/core/terminal-input.js';
import { makeAgent } from '../support/typed-agent.js';

type Agent = ReturnType<typeof makeAgent>;

const draft = (
  { port }: Agent,
  text = 'first line\nsecond line',
  { takesPastes = true, signal = new AbortController().signal } = {},
) => typeDraft({ port, text, takesPastes: () => takesPastes, signal });

describe('a draft', () => {
  it('is one paste into the empty prompt, without a key that submits', async () => {
    const agent = makeAgent();
    expect(await draft(agent)).toEqual({ kind: 'there' });
    expect(agent.state.written).toEqual(['\x1b[200~first line\nsecond line\x1b[201~']);
    expect(agent.state.submitted).toEqual([]);
    expect(agent.state.released).toEqual(['held', 'released after 1']);
  });

  it('is pasted in parts that the agent shows as they are, in one write', async () => {
    const agent = makeAgent();
    const { port } = agent;
    const { signal } = new AbortController();
    const foldsPastes = { lines: 3, characters: 800 };
    const text = 'one\ntwo\nthree\nfour';
    expect(await typeDraft({ port, text, takesPastes: () => true, foldsPastes, signal })).toEqual({
      kind: 'there',
    });
    expect(agent.state.written).toEqual(['\x1b[200~one\ntwo\n\x1b[201~\x1b[200~three\nfour\x1b[201~']);
    expect(agent.state.submitted).toEqual([]);
  });

  it.each([
    { what: 'text of the user in the prompt', start: { text: 'mine' } },
    { what: 'a busy agent', start: { activity: 'busy' as const } },
    { what: 'an open dialog', start: { activity: 'dialog' as const } },
    { what: 'an unknown screen', start: { activity: 'unknown' as const } },
  ])('is not typed over $what', async ({ start }) => {
    const agent = makeAgent(start);
    expect(await draft(agent)).toMatchObject({ kind: 'skipped' });
    expect(agent.state.written).toEqual([]);
  });

  it('is not typed where a newline in it would be Enter', async () => {
    const agent = makeAgent();
    const reason = 'the agent accepts no pastes';
    expect(await draft(agent, 'a\nb', { takesPastes: false })).toEqual({ kind: 'skipped', reason });
    expect(agent.state.written).toEqual([]);
  });

  it('is not typed when the user has begun to type, nor when something has opened meanwhile', async () => {
    const typing = makeAgent();
    typing.state.hasUnreportedKeys = true;
    expect(await draft(typing)).toEqual({ kind: 'skipped', reason: 'the user types' });
    const opened = makeAgent();
    opened.state.onHold = () => (opened.state.activity = 'dialog');
    expect(await draft(opened)).toEqual({ kind: 'skipped', reason: 'a dialog is open' });
    expect([...typing.state.written, ...opened.state.written]).toEqual([]);
    expect(opened.state.released).toEqual(['held', 'released after 0']);
  });

  it('is told as unseen when the prompt does not show it, and the keys of the user go on', async () => {
    const agent = makeAgent();
    agent.state.isDeaf = true;
    agent.state.onWrite = () => (agent.state.typedCount += 1); // the user presses a key, which must not wait for long
    expect(await draft(agent)).toEqual({ kind: 'unseen' });
    expect(agent.state.released.at(-1)).toBe('released after 1');
  });

  it('is told as unseen when writing it fails, and nobody knows how much went out', async () => {
    const agent = makeAgent();
    agent.state.onWrite = () => {
      throw new Error('gone');
    };
    expect(await draft(agent)).toEqual({ kind: 'unseen' });
    expect(agent.state.released.at(-1)).toBe('released after 1');
  });

  it('can neither end the paste nor hold a key, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.constantFrom('\x1b[201~\r/quit\r', '\x9b201~\x03', 'a\r\nb'),
        ),
        async (text) => {
          const agent = makeAgent();
          await draft(agent, `x${text}`);
          const [typed = ''] = agent.state.written;
          expect(agent.state.written).toHaveLength(1);
          expect(typed.startsWith('\x1b[200~') && typed.endsWith('\x1b[201~')).toBe(true);
          expect(typed.slice(6, -6)).not.toMatch(/[^\P{C}\n]/u);
        },
      ),
      { numRuns: 40 },
    );
  }, 30_000);
});

describe('pastes that an agent shows as they are', () => {
  const text = fc
    .array(fc.oneof(fc.constant('\n'), fc.string({ unit: 'grapheme', maxLength: 30 })))
    .map((parts) => parts.join(''));
  const partsOf = (pastes: string): readonly string[] =>
    pastes.slice(PASTE_START.length, -PASTE_END.length).split(PASTE_END + PASTE_START);

  it('are the whole text in its order, none of them larger than allowed, and none cut within a character', () => {
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 2, max: 5 }),
        fc.integer({ min: 2, max: 40 }),
        (whole, lines, characters) => {
          const parts = partsOf(pastesOf(whole, { lines, characters }));
          expect(parts.join('')).toBe(whole);
          for (const part of parts) {
            expect(part.length).toBeLessThanOrEqual(characters);
            expect(part.split('\n').length).toBeLessThanOrEqual(lines);
            expect(part).not.toMatch(/\p{Surrogate}/u);
          }
          expect(whole === '' || !parts.includes('')).toBe(true);
        },
      ),
    );
  });

  it('are one where nothing is known to be folded', () => {
    expect(partsOf(pastesOf('a\n'.repeat(500)))).toEqual(['a\n'.repeat(500)]);
  });
});
