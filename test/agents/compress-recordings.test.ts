import { describe, expect, it } from 'vitest';
import { geminiScreen } from '../../src/agents/gemini/screen.js';
import { agents } from '../../src/agents/index.js';
import { qwenScreen } from '../../src/agents/qwen/screen.js';
import type { PromptContent } from '../../src/agents/agent.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import { settledScreens } from '../../src/replay/sources.js';
import { casts } from '../support/casts.js';
import { castPath, playScreens } from '../support/screen-play.js';

const screens = { gemini: geminiScreen, qwen: qwenScreen };
const names = ['gemini', 'qwen'] as const;
const recordings = casts().flatMap(({ name }) => {
  const agent = names.find((each) => name.startsWith(`${each}/`));
  return agent ? [{ name, agent }] : [];
});

/** What an activity and the prompt say together, for each screen of a recording. */
const pairsIn = async (name: string, agent: (typeof names)[number]) => {
  const screen = screens[agent];
  const { header, events } = await openRecordingFile(castPath(name));
  let read = screen.reader({});
  const pairs: { at: number; activity: string; prompt: PromptContent | undefined }[] = [];
  for await (const moment of settledScreens(header, events())) {
    if (moment.type !== 'screen') continue;
    const step = read(moment.seen, moment.at);
    read = step.next;
    pairs.push({ at: moment.at, activity: step.activity.activity, prompt: screen.prompt?.(moment.seen) });
  }
  return pairs;
};

describe('the prompt in the recordings', () => {
  it.each(recordings)(
    'of $name is empty when it is ready, and never while keys do something else',
    async ({ name, agent }) => {
      const pairs = await pairsIn(name, agent);
      expect(pairs.filter(({ activity, prompt }) => activity === 'ready' && prompt?.text !== '')).toEqual([]);
      const isEmpty = pairs.filter(({ prompt }) => prompt?.text === '');
      const allowed = ['ready', 'busy', 'compacting'];
      expect(isEmpty.filter(({ activity }) => !allowed.includes(activity))).toEqual([]);
      expect(pairs.filter(({ activity, prompt }) => activity === 'dialog' && prompt)).toEqual([]);
    },
  );

  it.each([
    ['gemini/compress-ends', 'gemini'],
    ['qwen/compress-ends', 'qwen'],
  ] as const)('of %s holds the command as it was typed', async (name, agent) => {
    const texts = (await pairsIn(name, agent)).map(({ prompt }) => prompt?.text);
    expect(texts).toContain('/compress');
    expect(texts).toContain('hello while');
  });
});

/** How compactions ended, by what the screens of a recording say. */
const endsIn = async (name: string, agent: (typeof names)[number]): Promise<readonly string[]> => {
  const played = await playScreens(name, agents[agent]);
  return played
    .flatMap(({ facts }) => facts)
    .flatMap((fact) => {
      if (fact.type === 'boundary') return [`done from ${fact.boundary.preTokens}`];
      if (fact.type !== 'compact-result') return [];
      const { result } = fact;
      return [result.kind === 'failed' ? `failed ${result.failure}` : result.kind];
    });
};

const known: Readonly<Record<string, readonly string[]>> = {
  'gemini/altbuffer-scrollbar': ['done from 445'],
  'gemini/panels': ['done from 210000', 'done from 300000'],
  'gemini/compress-ends': ['noop', 'done from 450000', 'failed error', 'done from 300000'],
  'gemini/compress-failures': ['failed error', 'noop', 'failed inflated', 'done from 500000'],
  'gemini/compress-success': ['noop', 'done from 500000'],
  'gemini/old-0.20.0': ['done from 500000'],
  'gemini/old-0.30.0': ['done from 500000'],
  'gemini/traps-resize': ['done from 310000'],
  'gemini/vim': ['done from 330000'],
  'qwen/old-0.15.10': ['done from 55020', 'failed error'],
  'qwen/compress-done': ['done from 60000', 'done from 60000'],
  'qwen/compress-ends': ['noop', 'interrupted', 'noop', 'failed error', 'failed empty'],
  'qwen/qwen-compress': ['failed inflated', 'interrupted'],
};

describe('the end of a compaction in the recordings', () => {
  it.each(recordings)('of $name is told once each', async ({ name, agent }) => {
    expect(await endsIn(name, agent)).toEqual(known[name] ?? []);
  });
});
