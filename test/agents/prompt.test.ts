import { describe, expect, it } from 'vitest';
import { geminiScreen } from '../../src/agents/gemini/screen.js';
import type { Agent } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { qwenScreen } from '../../src/agents/qwen/screen.js';
import { seenGemini } from '../support/gemini-frame.js';
import type { GeminiFrame } from '../support/gemini-frame.js';
import { seenQwen } from '../support/qwen-frame.js';
import type { QwenFrame } from '../support/qwen-frame.js';

describe('the prompt', () => {
  const gemini = async (frame: GeminiFrame) => geminiScreen.prompt?.(await seenGemini(frame));
  const qwen = async (frame: QwenFrame) => qwenScreen.prompt?.(await seenQwen(frame));

  it.each([
    [{}, ''],
    [{ mode: '*' }, ''],
    [{ box: '0.20' as const }, ''],
    [{ draft: ['/compress'] }, '/compress'],
    [{ draft: ['/compress'], mode: '*' }, '/compress'],
    [
      { draft: ['/compress'], footer: [' compress   Compresses the context by replacing it with a summary'] },
      '/compress',
    ],
    [{ draft: ['two', 'rows'] }, 'two\nrows'],
    [{ placeholder: "  Press 'Esc' for NORMAL mode." }, ''],
  ])('of gemini with %j is %j', async (frame, text) => {
    expect(await gemini(frame)).toMatchObject({ text });
  });

  it.each([
    [{ mode: '!' }],
    [{ mode: '!', draft: ['/compress'] }],
    [{ placeholder: "  Press 'i' for INSERT mode." }],
    [{ draft: ['/compress'], footer: [' workspace', ' [NORMAL]   /app'] }],
    [{ title: '✋  Action Required (app)' }],
    [{ title: '' }],
    [{ live: ['⠏ Waiting for user confirmation...'] }],
  ])('of gemini with %j is none', async (frame) => {
    expect(await gemini(frame)).toBeUndefined();
  });

  const hint = (text: string): QwenFrame => ({
    suggestion: text,
    footer: ['  ➜ app', `  Auto mode\x1b[38;2;108;112;134m (shift + tab to cycle)\x1b[39m`],
  });
  it.each([
    [{}, ''],
    [{ mode: '*' }, ''],
    [hint('run the tests'), ''],
    [{ draft: ['/compress'] }, '/compress'],
    [{ draft: ['/compress'], mode: '*', footer: ['  > compress  Compresses the context'] }, '/compress'],
    [{ draft: ['two', 'rows'] }, 'two\nrows'],
  ])('of qwen with %j is %j', async (frame, text) => {
    expect(await qwen(frame)).toMatchObject({ text });
  });

  it.each([
    [{ mode: '!' }],
    [{ footer: ['  ➜ app', '  -- NORMAL --'] }],
    [{ draft: ['/compress'], footer: ['  ➜ app', '  -- NORMAL --'] }],
    [{ suggestion: "  Press 'i' for INSERT mode and 'Esc' for NORMAL mode." }],
    [{ title: '✳︎ Qwen - app' }],
    [{ title: '' }],
    [{ live: ['  ⠏ Waiting for user confirmation...'] }],
  ])('of qwen with %j is none', async (frame) => {
    expect(await qwen(frame)).toBeUndefined();
  });
});

describe('the recipe', () => {
  it.each([
    ['gemini', { command: '/compress', pauseMs: 150, submit: '\r', finishMs: 300_000, takesFocus: false }],
    ['qwen', { command: '/compress', pauseMs: 150, submit: '\r', finishMs: 300_000, isQueued: true }],
    ['demo', { command: '/compact', submit: '\r', isPasted: false }],
  ] as const)('of %s is as the facts say', (agent, recipe) => {
    expect(agents[agent].recipe?.({})).toMatchObject(recipe);
  });
  it('of no agent presses Escape, Ctrl-C or Ctrl-U: they interrupt, quit and throw drafts away', () => {
    const recipes = Object.values<Agent>(agents).flatMap(({ recipe }) => recipe?.({}) ?? []);
    expect(recipes.length).toBeGreaterThan(6);
    const keys = recipes.flatMap(({ command, submit, stash }) => [command, submit, stash?.keys ?? '']);
    expect(keys.filter((each) => /[\u001b\u0003\u0015]/.test(each))).toEqual([]);
  });
});
