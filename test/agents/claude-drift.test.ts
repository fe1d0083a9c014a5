// Recordings of Claude as a version of another day might draw them: what is a matter of taste must not change what is read, and whatever is
// changed, nothing dangerous and nothing wrong may come of it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claude } from '../../src/agents/claude/agent.js';
import { runs } from '../support/runs.js';
import {
  wrongResults,
  keptScreens,
  noColours,
  numbersOf,
  otherColours,
  otherLetters,
  otherSigns,
  otherWords,
  playMutated,
  type Mutation,
  type SignClass,
} from '../support/mutate-recording.js';

const casts = [
  'turning-sign-2.1.330',
  'told-state-2.1.330',
  'places-2.1.330',
  'base-2.1.263',
  'base-2.0.76',
  'climb-s46-120',
  'keys-perm',
  'keys-shell',
  'modes-of-input',
];

interface Drift {
  readonly class: SignClass;
  /** signs of the same kind, with which everything is read as before */
  readonly alike: string;
  /** signs of another kind: what they mean is open */
  readonly strange: string;
  /** stands before Claude's own words, not before a message */
  readonly isTalk?: false;
}

const drifts: readonly Drift[] = [
  {
    class: { name: 'the logo', from: '▐▛█▜▌▝▘▀', at: /^[ ▐▛█▜▌▝▘▀]+(?= {2}\S)/ },
    alike: '▖▗▙▚▞▟▄▆',
    strange: '◢◣◤◥#@%&',
  },
  { class: { name: 'the bars', from: '─', at: /^─+$|^─+(?= \S)|(?<= )─+$/g }, alike: '━═⎯', strange: '╌~.' },
  {
    class: { name: 'the sign of the prompt', from: '❯>', at: /^[❯>](?=\s|$)/ },
    alike: '›»▸▶➜',
    strange: '$%λ?#',
  },
  {
    class: { name: 'the sign of a choice', from: '❯', at: /(?<=^ {1,3})❯/ },
    alike: '›»▸▶➜',
    strange: '*+◆',
  },
  {
    class: { name: 'the sign of work', from: '·✢✳✶✻✽*', at: /^[·✢✳✶✻✽*](?= \S)/ },
    alike: '✦◌✺❉⊛',
    strange: '◆$%',
    isTalk: false,
  },
  { class: { name: 'the sign of an answer', from: '●⏺', at: /^[●⏺](?= )/ }, alike: '•◆○', strange: '❖✱' },
  { class: { name: 'the corner', from: '⎿', at: /(?<=^ {2})⎿/ }, alike: '└╰↳', strange: '-|' },
  {
    class: { name: 'the signs of a title at work', from: '⠂⠐◐◑', at: /^[⠂⠐◐◑]/, inTitle: true },
    alike: '⠋⠙◒◓',
    strange: '♠♣♥♦',
  },
  {
    class: { name: 'the sign of a title at rest', from: '✳', at: /^✳/, inTitle: true },
    alike: '',
    strange: '✱❋★',
  },
  {
    class: { name: 'boxes', from: '╭╮╰╯│', at: /[╭╮╰╯│]/g },
    alike: '┌┐└┘┃',
    strange: '+*#|:',
  },
];

const strangeMutations: readonly (readonly [string, Mutation])[] = [
  ...drifts.map(({ class: signs, strange }): readonly [string, Mutation] => [
    `${signs.name} of another kind`,
    otherSigns(signs, strange),
  ]),
  ['no colours', noColours],
  [
    'other words',
    otherWords({
      'Compacting conversation…': 'Condensing the past…',
      'until auto-compact': 'before it prunes',
      'context used': 'window taken',
      'Esc to cancel': 'Esc revokes',
      'Do you want to proceed?': 'May I go on with it?',
      'Enter to confirm': 'Return agrees',
      'API Usage Billing': 'Plan of a day',
      'draft stashed': 'words parked',
      '› stashed': '› parked',
      'Compacted (ctrl+o': 'Condensed (ctrl+o',
    }),
  ],
];

describe.each(casts)('claude/%s as another version might draw it', (cast) => {
  const screens = keptScreens(`claude/${cast}`);
  const real = screens.then((kept) => playMutated(kept, claude));

  it('reads the same with other signs of the same kinds, and other colours', async () => {
    const [kept, before] = [await screens, await real];
    const words = before.map(({ activity }) => activity.activity);
    const numbers = before.map(numbersOf);
    for (const { class: signs, alike } of drifts.filter((drift) => drift.alike !== '')) {
      const played = playMutated(kept, claude, otherSigns(signs, alike));
      expect([signs.name, played.map(({ activity }) => activity.activity)]).toEqual([signs.name, words]);
      expect([signs.name, played.map(numbersOf)]).toEqual([signs.name, numbers]);
    }
    const painted = playMutated(kept, claude, otherColours(0xff_00_5a));
    expect(painted.map(({ activity }) => activity.activity)).toEqual(words);
    expect(painted.map(numbersOf)).toEqual(numbers);
  });

  it.each(strangeMutations)('is never dangerous or wrong with %s', async (_, mutation) => {
    expect(wrongResults(await real, playMutated(await screens, claude, mutation))).toEqual([]);
  });

  it('is never dangerous or wrong with any signs', async () => {
    const [kept, before] = [await screens, await real];
    const sign = fc.constantFrom(...'─━╌▄▐█◐⠂✳✶●◆❯>!$#@·*~=+|│└⎿✋a1');
    const some = fc.tuple(fc.constantFrom(...drifts), fc.array(sign, { minLength: 1, maxLength: 5 }));
    fc.assert(
      fc.property(some, ([{ class: signs, isTalk }, to]) => {
        // a row that begins as a message or a word does is one
        if (isTalk === false && to.some((each) => '●❯>a1'.includes(each))) return;
        // a title with the sign of one at rest says that it rests
        if (signs.inTitle && signs.from !== '✳' && to.includes('✳')) return;
        const played = playMutated(kept, claude, otherSigns(signs, to.join('')));
        expect(wrongResults(before, played)).toEqual([]);
      }),
      runs(12, 20261121),
    );
  });

  it('shows no number where every word is another one', async () => {
    const played = playMutated(await screens, claude, otherLetters(5));
    expect(played.flatMap(numbersOf)).toEqual([]);
    const busy = new Set(['busy', 'compacting', 'dialog']);
    const before = await real;
    const dangers = played.filter(
      ({ activity }, index) =>
        activity.activity === 'ready' && busy.has(before[index]?.activity.activity ?? ''),
    );
    expect(dangers.map(({ at }) => at)).toEqual([]);
  });
});
