import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { define, least, toy } from '../support/defined.js';
import { seenAfter } from '../support/drawn-screen.js';

describe('the screen of a defined agent', () => {
  const agent = define(toy);
  const look = async (output: string, more: object = {}) => {
    const { screen } = Object.keys(more).length > 0 ? define({ ...least, ...more }) : agent;
    const { activity, facts } = screen?.reader({})(await seenAfter(output), 7) ?? {
      activity: undefined,
      facts: [],
    };
    return {
      activity: activity?.activity,
      witnesses: activity?.witnesses,
      reading: facts[0]?.type === 'reading' ? facts[0].reading : undefined,
    };
  };
  const prompt = (footer: string, title = 'toy: idle', above = 'hello\r\n'): string =>
    `\x1b]0;${title}\x07${above}> \r\n${footer}\x1b[2;3H`;

  it('gives the percentage used, whichever way it is written, against what the definition names', async () => {
    expect((await look(prompt('ctx 37.5% left'))).reading).toEqual({
      usedPercent: 62.5,
      basis: 'auto-compact',
      source: 'screen',
      at: 7,
    });
  });

  it.each([
    ['the conversation', prompt('', 'toy: idle', 'ctx 5% left\r\n')],
    ['the draft', '\r\n> ctx 5% left\x1b[2;8H'],
    ['a row that says more than the agent does', prompt('  ctx 5% left of it')],
    ['two rows that disagree', prompt('ctx 5% left\r\nctx 6% left')],
    ['an impossible percentage', prompt('ctx 130% left')],
    ['a screen without a number', prompt('ready')],
  ])('reads no number from %s', async (_, output) => {
    expect((await look(output)).reading).toBeUndefined();
  });

  it.each([
    ['12,345 tokens', 'used', 12_345],
    ['12.3k tokens', 'used', 12_300],
    ['1.2M tokens', 'used', undefined],
    ['150k tokens', 'left', 50_000],
    ['1,23 tokens', 'used', undefined],
  ])('reads %s %s as %s tokens of 200 000', async (text, polarity, usedTokens) => {
    const number = { region: 'last-rows:12', pattern: '^([0-9.,]+[kM]?) tokens$', polarity, unit: 'tokens' };
    const { reading } = await look(text, { window: 200_000, screen: [number] });
    expect(reading?.usedTokens).toBe(usedTokens);
  });

  it.each([
    ['ready', prompt('')],
    ['busy', prompt('', 'toy: working')],
    ['dialog', 'Allow this?\r\n  1. Yes\r\n  2. No\x1b[2;3H'],
    ['unknown', prompt('', 'vim')], // the prompt row alone
    ['draft', '\x1b]0;toy: idle\x07hello\r\n> a draft'],
    ['unknown', '\x1b]0;vim\x07hello\r\n> a draft'],
    ['unknown', '\x1b]0;toy: idle\x07  queued: 1\r\n> a draft'],
    ['unknown', prompt('', 'toy: idle', 'Allow this?\r\n')], // ready and dialog cannot both be
    ['unknown', prompt('  queued: 1')],
    ['unknown', ''],
  ])('is %s by the signs that agree', async (activity, output) => {
    expect((await look(output)).activity).toBe(activity);
  });

  const promptOf = async (output: string, more: object = {}) =>
    define({ ...toy, ...more }).screen?.prompt?.(await seenAfter(output));

  it.each([
    [prompt(''), ''],
    ['\x1b]0;toy: idle\x07hello\r\n> /compact', '/compact'],
    ['\x1b]0;toy: working\x07hello\r\n> later', 'later'],
  ])('has the text of the row with the cursor in its prompt: %j', async (output, text) => {
    expect(await promptOf(output)).toEqual({ text });
  });

  it('has no prompt in a dialog, and where the row with the cursor is another one', async () => {
    expect(await promptOf(prompt('', 'toy: idle', 'Allow this?\r\n'))).toBeUndefined();
    expect(await promptOf('\x1b]0;toy: idle\x07> \r\nhello')).toBeUndefined();
    expect(define(least).screen?.prompt).toBeUndefined();
  });

  it('has an empty prompt where its pattern finds a placeholder', async () => {
    const more = { prompt: '^> (?:Say something|(.*))$', activity: { ready: { title: '^toy: idle$' } } };
    const output = '\x1b]0;toy: idle\x07> Say something\x1b[1;3H';
    expect(await promptOf(output, more)).toEqual({ text: '' });
    expect((await look(output, more)).activity).toBe('ready');
    expect((await look('\x1b]0;toy: idle\x07> x', more)).activity).toBe('draft');
    expect((await look('\x1b]0;toy: idle\x07elsewhere', more)).activity).toBe('unknown');
  });

  it('is compacting by its own signs, also where it works', async () => {
    const sign = { region: 'above-cursor', pattern: '^compacting$' };
    const more = { activity: { busy: [{ title: '^toy: working$' }], compacting: [sign] } };
    expect((await look(prompt('', 'toy: working', 'compacting\r\n'), more)).activity).toBe('compacting');
    expect((await look(prompt('', 'toy: working'), more)).activity).toBe('busy');
  });

  it('says what speaks for an activity, and no text that may be of the conversation', async () => {
    expect((await look(prompt(''))).witnesses).toEqual(['title /^toy: idle$/u', 'prompt row']);
    const activity = {
      busy: [{ region: 'first-rows:5', pattern: 'working' }],
      dialog: [{ title: 'asks', region: 'first-rows:5', pattern: '^Allow' }],
    };
    const { witnesses } = await look('\x1b]0;asks about a secret\x07working on a secret\r\nAllow secret', {
      activity,
    });
    expect(witnesses).toEqual(['dialog: title /asks/u', 'dialog: row /^Allow/u', 'busy: row /working/u']);
  });
});

describe('the definition in the documentation', () => {
  const page = readFileSync(new URL('../../docs/internals/another-agent.md', import.meta.url), 'utf8');
  const definition = JSON.parse(/```json\n([^]*?)```/.exec(page)?.[1] ?? '');
  const [, prompt = '', recipe = ''] = /add `("prompt": "[^`]*")`[^`]*`("recipe": [^`]*)`/.exec(page) ?? [];
  const { screen, recipe: recipeOf } = define({ ...definition, ...JSON.parse(`{${prompt}, ${recipe}}`) });

  it.each([
    ['', 'ready', ''],
    ['/compact', 'draft', '/compact'],
  ])('sees %j in the prompt, so that it can be typed and looked at', async (text, activity, found) => {
    const seen = await seenAfter(`\x1b]0;toy: idle\x07hello\r\n> ${text}`);
    expect(screen?.reader({})(seen, 7).activity?.activity).toBe(activity);
    expect(screen?.prompt?.(seen)).toEqual({ text: found });
    expect(recipeOf?.({})?.command).toBe('/compact');
  });
});
