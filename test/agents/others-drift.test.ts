// Recordings of Codex, Gemini and Qwen as a version of another day might draw them: whatever is drawn differently, nothing becomes ready that was
// not, and no number is read that was not there.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codex } from '../../src/agents/codex/agent.js';
import { gemini } from '../../src/agents/gemini/agent.js';
import { qwen } from '../../src/agents/qwen/agent.js';
import type { Agent } from '../../src/agents/agent.js';
import { runs } from '../support/runs.js';
import {
  wrongResults,
  keptScreens,
  noColours,
  otherColours,
  otherLetters,
  otherSigns,
  otherWords,
  playMutated,
  type KeptScreen,
  type Mutation,
  type SignClass,
} from '../support/mutate-recording.js';

interface Drawn {
  readonly runtime: Agent;
  readonly casts: readonly string[];
  readonly classes: readonly SignClass[];
  readonly words: Readonly<Record<string, string>>;
}

const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

const drawn: readonly Drawn[] = [
  {
    runtime: codex,
    casts: ['old-0.154.0', 'old-0.137.0', 'compact-manual', 'permission', 'menus', 'busy', 'traps'],
    classes: [
      { name: 'the spinner of the title', from: SPINNER, at: /^[\u2800-\u28ff]/, inTitle: true },
      { name: 'the sign of the prompt', from: '›', at: /^›(?= )/ },
      { name: 'the sign of work', from: '•◦', at: /^[•◦](?= )/ },
      { name: 'the sign of an error', from: '■', at: /^■(?= )/ },
    ],
    words: {
      Working: 'Busying',
      'Ask Codex to do anything': 'Tell me what you want',
      'esc to interrupt': 'esc to stop',
      'Compacting context': 'Folding things',
      'Context compacted': 'Things folded',
    },
  },
  {
    runtime: gemini,
    casts: ['compress-success', 'permission', 'stream-queue', 'panels', 'modes-of-input', 'old-0.30.0'],
    classes: [
      { name: 'the edges', from: '▀▄─', at: /^[▀▄─]{10,}$/ },
      { name: 'the sign of the prompt', from: '>', at: /(?<=^ )>(?= )/ },
      { name: 'the spinner', from: SPINNER, at: /^ ?[\u2800-\u28ff]/ },
      { name: 'the signs of the title', from: '◇✦✋⏲', at: /^[◇✦✋⏲]/u, inTitle: true },
      { name: 'the sign of an answer', from: '✦ℹ✕', at: /^[✦ℹ✕](?= )/ },
    ],
    words: {
      'Type your message or @path/to/file': 'Say something or name a file',
      'Compressing chat history': 'Folding the talk',
      'esc to cancel': 'esc to stop',
      'Waiting for user': 'You are asked',
      Ready: 'Done',
    },
  },
  {
    runtime: qwen,
    casts: ['old-0.15.10', 'compress-done', 'qwen-permission', 'dialogs', 'suggestions', 'modes-of-input'],
    classes: [
      { name: 'the bars', from: '─', at: /^─{10,}/ },
      { name: 'the sign of the prompt', from: '>', at: /^>(?= )/ },
      { name: 'the spinner', from: SPINNER, at: /(?<=^ {2})[\u2800-\u28ff]/ },
      { name: 'the signs of the title', from: '◐✳', at: /^[◐✳]/, inTitle: true },
      { name: 'the sign of an answer', from: '✦◆●', at: /(?<=^ {2})[✦◆●](?=\S? )/ },
    ],
    words: {
      'Type your message or @path/to/file': 'Say something or name a file',
      'Compressing chat history': 'Folding the talk',
      'esc to cancel': 'esc to stop',
      'Waiting for user': 'You are asked',
    },
  },
];

// The session file is the worst witness there can be: at each moment it says that the agent rests.
const alwaysIdle = (screens: readonly KeptScreen[]): readonly KeptScreen[] =>
  screens.map(({ at, seen }) => ({ at, seen: { ...seen, status: { state: 'idle' } } }));

describe.each(drawn)(
  'a screen of $runtime.name that is drawn differently',
  ({ runtime: agent, casts, classes, words }) => {
    const recordings = casts.map((name) => ({
      name,
      screens: keptScreens(`${agent.name}/${name}`).then((screens) => {
        const kept = alwaysIdle(screens);
        return { kept, real: playMutated(kept, agent) };
      }),
    }));
    // Codex's status line shows 0 % during a compaction, which only its words tell; its rollout has the numbers, and the line is off by default
    const isDanger = (danger: string): boolean => agent !== codex || danger.includes('ready');
    const dangersOf = async (mutation: Mutation): Promise<readonly string[]> => {
      const found: string[] = [];
      for (const { name, screens } of recordings) {
        const { kept, real } = await screens;
        const dangers = wrongResults(real, playMutated(kept, agent, mutation));
        found.push(...dangers.filter(isDanger).map((each) => `${name} ${each}`));
      }
      return found;
    };

    it.each(classes)('is never ready by mistake with other signs: $name', async (sign) => {
      for (const to of ['◒◓♠', '%#$', '⣀⡀'])
        expect([to, await dangersOf(otherSigns(sign, to))]).toEqual([to, []]);
    });

    it('is never ready by mistake, and shows no other number, with other words, letters and colours', async () => {
      expect(await dangersOf(otherWords(words))).toEqual([]);
      expect(await dangersOf(otherLetters(3))).toEqual([]);
      expect(await dangersOf(otherColours(0x01_02_03))).toEqual([]);
      // without colours a text that is typed in the words of the placeholder looks like it
      const plain = agent === qwen ? {} : noColours;
      expect(await dangersOf(plain)).toEqual([]);
    });

    it('is never ready by mistake with any signs at all', async () => {
      // none that stands for an item already: before an item it would be one
      const sign = fc.constantFrom(...'◇○◐◑▲△□★☆✧⠋⠙»+~=#%&@$');
      const changes = fc.record({
        index: fc.nat(classes.length - 1),
        to: fc.array(sign, { minLength: 1, maxLength: 3 }),
      });
      await fc.assert(
        fc.asyncProperty(changes, async ({ index, to }) => {
          const found = classes[index];
          expect(found ? await dangersOf(otherSigns(found, to.join(''))) : []).toEqual([]);
        }),
        runs(6),
      );
    });
  },
);
