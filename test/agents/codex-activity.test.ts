import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codex } from '../../src/agents/codex/agent.js';
import {
  bold,
  compacted,
  compacting,
  dim,
  failed,
  readFrames,
  seenFrame,
  task,
} from '../support/codex-frame.js';
import type { CodexFrame } from '../support/codex-frame.js';
import { seenAfter } from '../support/drawn-screen.js';
import { playScreens } from '../support/screen-play.js';
import { runs } from '../support/runs.js';

const activities = async (...frames: readonly CodexFrame[]) =>
  (await readFrames(...frames)).map(({ activity }) => activity);
const boundaries = async (...frames: readonly CodexFrame[]) =>
  (await readFrames(...frames)).map(({ facts }) => facts.filter(({ type }) => type === 'boundary').length);

describe('what codex is doing', () => {
  it.each<[string, CodexFrame, string]>([
    ['after an answer', { state: 'done' }, 'ready'],
    ['after a failure', { state: 'error' }, 'ready'],
    ['at 40 columns', { state: 'idle', hints: '  ← for agents ⚠ 1 warning · f2 to view' }, 'ready'],
    [
      "after one Escape, whose hint hides vim's mode",
      { state: 'idle', hints: '  esc again to edit previous message' },
      'unknown',
    ],
    ['while it works', { state: 'working' }, 'busy'],
    ['while it works and a draft is typed', { state: 'working', draft: ['next'] }, 'busy'],
    ['while it compacts', { state: 'working', live: compacting }, 'compacting'],
    [
      'while it compacts and the command popup is open',
      { state: 'working', live: [...compacting, '', '\x1b[1;7m› /compact  summarize\x1b[0m'], draft: ['/'] },
      'compacting',
    ],
    [
      'while it compacts and messages wait',
      { state: 'working', live: [...compacting, '', '• Messages to be submitted at end of turn', '  ↳ hi'] },
      'compacting',
    ],
    ['when a dialog is announced but not drawn yet', { state: 'blocked', live: [task('Working')] }, 'dialog'],
    [
      'when only the title tells of a dialog',
      { state: 'idle', title: '[ ! ] Action Required | app' },
      'unknown',
    ],
    ['with a draft', { state: 'idle', draft: ['half a thought'] }, 'draft'],
    ['with a draft of blanks', { state: 'idle', draft: ['  '] }, 'draft'],
    [
      'with the words of the placeholder typed',
      { state: 'idle', draft: ['Ask Codex to do anything'] },
      'draft',
    ],
    [
      'with the words of the placeholder typed and the cursor moved back',
      { state: 'idle', draft: ['Ask Codex to do anything'], column: 2 },
      'draft',
    ],
    ['with the cursor behind the placeholder', { state: 'idle', column: 9 }, 'draft'],
    ['in shell mode', { state: 'idle', glyph: '\x1b[91m!', draft: [''] }, 'draft'],
    ['in vim normal mode', { state: 'idle', hints: '  ? for shortcuts        Vim: Normal' }, 'unknown'],
    ['in vim insert mode', { state: 'idle', hints: '  ? for shortcuts        Vim: Insert' }, 'ready'],
    ['with the list of shortcuts open', { state: 'idle', hints: '  ? / esc close' }, 'unknown'],
    ['when the title still shows work', { state: 'idle', title: '⠋ app' }, 'unknown'],
    ['when the screen still shows work', { state: 'idle', live: [task('Working')] }, 'unknown'],
    ['after it has left the terminal', { state: 'clear' }, 'unknown'],
    ['in a state of a later version', { state: 'dreaming' }, 'unknown'],
  ])('%s is seen', async (_, frame, activity) => {
    expect(await activities(frame)).toEqual([activity]);
  });

  it.each<[string, CodexFrame, string]>([
    ['an empty composer, which is shown while an answer comes in, too', {}, 'unknown'],
    ['a draft', { draft: ['hi'] }, 'draft'],
    ['a running task', { live: [task('Working')] }, 'busy'],
  ])('is told in old versions by the screen alone: %s', async (_, frame, activity) => {
    expect(await activities({ hints: dim('  ? for shortcuts'), ...frame })).toEqual([activity]);
  });

  it('is a dialog where a picker has the cursor, and unknown where nothing is known', async () => {
    const read = codex.screen?.reader({});
    const idle = '\x1b]7501;state=idle:app=codex\x1b\\';
    const picker = `${idle}\x1b[1;7m› 1. GPT-5.5\x1b[0m\r\n  2. GPT-6\r\n\r\n  ${bold('enter')} select · ${bold('esc')} back`;
    expect(read?.(await seenAfter(picker), 0).activity.activity).toBe('dialog');
    const narrow = `${idle}  ${bold('enter')} resume   ${bold('esc')} exit\r\n  ${bold('^o')} comfy   ${bold('^t')} preview`;
    expect(read?.(await seenAfter(narrow), 0).activity.activity).toBe('dialog');
    expect(read?.(await seenAfter(`${idle}$ `), 0).activity.activity).toBe('unknown');
    expect(read?.(await seenAfter(''), 0).activity.activity).toBe('unknown');
  });

  it('is a dialog at once when one is announced in the recording', async () => {
    const played = await playScreens('codex/permission', codex);
    const waiting = played.filter(({ at }) => at > 4.05 && at < 6.7);
    expect(waiting.some(({ rows }) => rows.some((row) => row.includes('Ask Codex to do anything')))).toBe(
      true,
    );
    expect(new Set(waiting.map(({ activity }) => activity.activity))).toEqual(new Set(['dialog']));
  });
});

describe('a compaction on the screen of codex', () => {
  const running = { state: 'working', live: compacting };
  const ended = (state: string): CodexFrame => ({ state, conversation: compacted });

  it('is a boundary once, when it was seen running and its end is the last thing above the composer', async () => {
    expect(await boundaries({ state: 'idle' }, running, running, ended('done'), ended('done'))).toEqual([
      0, 0, 0, 1, 0,
    ]);
    const goesOn = { ...ended('working'), live: [task('Working')] };
    expect(await boundaries({ state: 'working' }, running, goesOn, goesOn)).toEqual([0, 0, 1, 0]);
  });

  it.each<[string, readonly CodexFrame[]]>([
    ['an old row comes back', [{ state: 'idle' }, ended('idle'), { state: 'done' }, ended('done')]],
    ['it failed', [running, { state: 'error', conversation: [...compacted, '', failed('no')] }]],
    [
      'it was interrupted',
      [ended('done'), { ...ended('working'), ...running, conversation: compacted }, ended('idle')],
    ],
    [
      'one of several in a turn failed',
      [
        { state: 'working', conversation: compacted, live: compacting },
        { state: 'working', conversation: compacted, live: [task('Working')] },
      ],
    ],
    ['it left no trace', [running, { state: 'done', conversation: ['• Yes.'] }, ended('done')]],
  ])('is no boundary when %s', async (_, frames) => {
    expect((await boundaries(...frames)).every((count) => count === 0)).toBe(true);
  });
});

describe('text that imitates codex', () => {
  const forgeries = [
    '› Ask Codex to do anything',
    'GPT-5.5 default · Context 3% left · Context 97% used · 95K window · 900K used · Ready',
    '← for agents · ? for shortcuts',
    '97% context left · ? for shortcuts',
    '? for shortcuts                  97% context left',
    '• Context compacted · 4s',
    'Context compacted · 4s',
    "■ Codex ran out of room in the model's context window. Start a new thread.",
    "■ '/compact' is disabled while a task is in progress.",
    'Compacting context (1s • esc to interrupt)',
    '└ Making room to continue.',
    'Working (3s • esc to interrupt)',
    'Would you like to run the following command?',
    '› 1. Yes, proceed (y)',
    'Press enter to confirm or esc to cancel',
    'Context window:      1% left (94K used / 95K)',
    'Vim: Normal · Shell mode',
    '! ls',
    '',
  ];
  const text = fc.oneof(
    fc.constantFrom(...forgeries),
    fc.string({ unit: 'grapheme', maxLength: 60 }).map((each) => each.replaceAll(/[\p{C}\p{Z}]/gu, ' ')),
  );
  const drawn = fc
    .tuple(
      fc.constantFrom(
        (each: string) => `${dim('• ')}${each}`,
        (each: string) => `  ${each}`,
        (each: string) => `  ${bold(each)}`,
        (each: string) => dim(`  └ ${each}`),
        (each: string) => dim(`    ${each}`),
        (each: string) => `\x1b[1;2m› \x1b[22m${each}`,
        (each: string) => `\x1b[38;5;116m  • \x1b[39m${each}`,
      ),
      text,
    )
    .map(([draw, each]) => draw(each));
  const items = ['GPT-5.5 default', 'Context 54% left', 'Context 46% used', '95K window'];
  const configured = fc.constantFrom(items, ['GPT-5.5 default', '/proj/app'], []);
  const frame = fc.record(
    {
      conversation: fc.array(drawn, { maxLength: 12 }),
      draft: fc.array(text, { minLength: 1, maxLength: 6 }),
      state: fc.constantFrom('idle', 'done', 'error', 'working', 'blocked'),
      columns: fc.constantFrom(120, 80),
    },
    { requiredKeys: ['conversation', 'state'] },
  );
  const activityIn = ({ state, draft }: CodexFrame): string => {
    if (state === 'working') return 'busy';
    if (state === 'blocked') return 'dialog';
    return draft ? 'draft' : 'ready';
  };

  it.each(forgeries.slice(0, -1))('is an answer like any other: %s', async (forgery) => {
    const said = await readFrames({
      state: 'error',
      conversation: [`${dim('• ')}${forgery}`, `  ${forgery}`],
    });
    expect(said).toEqual([{ activity: 'ready', facts: [] }]);
  });

  it('is no number, no activity and no boundary, in the conversation or in a draft', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 4 }), configured, async (bare, shown) => {
        const frames = bare.map((each) => ({ ...each, items: shown }));
        const said = await readFrames(...frames);
        expect(said.map(({ activity }) => activity)).toEqual(frames.map(activityIn));
        expect(said.map(({ percent }) => percent)).toEqual(
          frames.map(() => (shown === items ? 46 : undefined)),
        );
        expect(said.flatMap(({ facts }) => facts).filter(({ type }) => type === 'boundary')).toEqual([]);
      }),
      runs(150),
    );
  });

  it('says nothing in the recording that is made of it', async () => {
    const played = await playScreens('codex/traps', codex);
    const facts = played.flatMap((each) => each.facts);
    const isOther = facts.some((fact) => fact.type === 'view' && !fact.isSame);
    expect(isOther, 'another conversation came into view').toBe(false);
    const said = facts.filter(({ type }) => type !== 'view');
    const used = said.map((fact) => (fact.type === 'reading' ? fact.reading.usedPercent : fact.type));
    expect([...new Set(used)]).toEqual([46, 60]);
    const running = played.filter(({ at }) => at > 0.6 && at < 6.5).map(({ activity }) => activity.activity);
    expect(new Set(running)).toEqual(new Set(['ready', 'draft']));
  });
});

it('the reader of codex looks at each row of a large screen a few times at most', async () => {
  const conversation = Array.from({ length: 60 }, (_, row) => `  ${`word${row} `.repeat(30)}`);
  const seen = await seenFrame({ conversation, columns: 200, rows: 60, items: ['Context 46% used'] });
  let looks = 0;
  const text = (row: number): string => {
    looks += 1;
    return seen.screen.text(row);
  };
  codex.screen?.reader({})({ ...seen, screen: { ...seen.screen, text } }, 0);
  expect(looks).toBeLessThan(10 * seen.screen.rows);
});
