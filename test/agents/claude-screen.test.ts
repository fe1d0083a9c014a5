import { describe, expect, it } from 'vitest';
import type { ScreenEvidence, ScreenResult } from '../../src/agents/agent.js';
import { claudeScreen as claude } from '../../src/agents/claude/screen.js';
import {
  HINTS,
  IDLE,
  conversation,
  drawn,
  look,
  numbers,
  seenOf,
  watch,
  windows,
} from '../support/claude-frame.js';
import { atRight, viewOf } from '../support/claude-view.js';

describe('the percentage on the screen of claude', () => {
  it.each([
    { text: '11% until auto-compact', basis: 'auto-compact', used: 89 },
    { text: '0% until auto-compact', basis: 'auto-compact', used: 100 },
    { text: '0% until auto-compact · /model sonnet[1m]', basis: 'auto-compact', used: 100 },
    { text: '82% context used', basis: 'effective', used: 82 },
    { text: '100% context used', basis: 'effective', used: 100 },
    {
      text: 'Context low (3% remaining) · Run /compact to compact & continue',
      basis: 'effective',
      used: 97,
      from: 80,
    },
    { text: 'Context low (3% remaining) · Run /compact to compact & …', basis: 'effective', used: 97 },
    { text: 'Context left until auto-compact: 3%', basis: 'auto-compact', used: 97 },
    { text: 'auto-compact next', basis: 'auto-compact', used: 100 },
    { text: 'auto-compact next · /model sonnet', basis: 'auto-compact', used: 100 },
    { text: '10% until auto-compact · draft stashed', basis: 'auto-compact', used: 90 },
    {
      text: 'Context low (3% remaining) · /compact to free up space',
      basis: 'effective',
      used: 97,
      from: 120,
    },
  ])('reads "$text" as $used % used', ({ text, basis, used, from = 60 }) => {
    for (const columns of [60, 80, 100, 120, 200].filter((width) => width >= from)) {
      const beside = text.length < columns - 40 ? [atRight(columns, text, HINTS)] : [];
      for (const footer of [...beside.map((row) => [row]), [HINTS, atRight(columns, text)]]) {
        const step = look(seenOf(drawn({ columns, footer })));
        expect([columns, numbers(step)]).toEqual([columns, [[basis, used]]]);
      }
    }
  });

  it('reads it above the upper bar in the fullscreen renderer, and nowhere else there', () => {
    const row = atRight(100, '10% until auto-compact', '', 1);
    const above = [...conversation, '', row];
    expect(numbers(look(seenOf(drawn({ above, alternate: true }))))).toEqual([['auto-compact', 90]]);
    expect(numbers(look(seenOf(drawn({ above }))))).toEqual([]);
    expect(numbers(look(seenOf(drawn({ footer: [row], alternate: true }))))).toEqual([]);
    const text = [...conversation, '● so it says', row];
    const popup = { prompt: ['❯ /mo'], alternate: true };
    expect(numbers(look(seenOf(drawn({ ...popup, above: text }))))).toEqual([]);
  });

  it('reads it in the fullscreen renderer where the conversation comes down to its row', () => {
    const above = [...conversation.slice(0, -1), atRight(100, '10% until auto-compact', '', 1)];
    expect(numbers(look(seenOf(drawn({ above, alternate: true }))))).toEqual([['auto-compact', 90]]);
  });

  it.each([
    ['another notification', atRight(100, 'Ctrl+Y to paste deleted text', HINTS)],
    ['a status line of the user that names a share', '  Opus | 45% context used'],
    ['a status line of the user that is nothing else', '  45% context used'],
    ['a share above 100', atRight(100, '101% context used', HINTS)],
    ['words before it', atRight(100, 'about 45% context used', HINTS)],
  ])('reads nothing from %s', (_, row) => {
    expect(numbers(look(seenOf(drawn({ footer: [row] }))))).toEqual([]);
  });

  it('reads nothing that is drawn in the colour of the conversation', () => {
    const screen = drawn({ footer: [atRight(100, '45% context used', HINTS)] });
    expect(numbers(look(seenOf(screen)))).toEqual([['effective', 45]]);
    const styles = [{ row: 9, column: 97, style: {} }];
    expect(numbers(look(seenOf({ ...screen, styles })))).toEqual([]);
  });

  it('reads nothing from a status line in colour that does not end where the notification does', () => {
    for (const text of ['  45% context used', atRight(100, '45% context used', HINTS, 3)]) {
      const styles = [{ row: 9, column: text.length - 1, style: { foreground: 2 } }];
      expect(numbers(look(seenOf({ ...drawn({ footer: [text] }), styles })))).toEqual([]);
    }
  });

  it('knows the whole of its scale only where the environment sets the window', () => {
    const seen = seenOf(drawn({ footer: [atRight(100, '16% until auto-compact', HINTS)] }));
    expect(look(seen).facts).toMatchObject([{ reading: { usedPercent: 84, source: 'screen' } }]);
    expect(look(seen).facts[0]).not.toHaveProperty('reading.basisTokens');
    const env = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' };
    expect(look(seen, env).facts).toMatchObject([{ reading: { basisTokens: 117_000 } }]);
  });
});

describe('the model that claude names', () => {
  const logo = (model: string) => [
    ' ▐▛███▜▌   Claude Code v2.1.197',
    `▝▜█████▛▘  ${model} · API Usage Billing`,
    '  ▘▘ ▝▝    /proj/app',
    '',
  ];
  const at = (...above: readonly string[]) => seenOf(drawn({ above: [...above, ''] }));
  const typing = seenOf(drawn({ above: logo('Sonnet 4.6'), prompt: ['❯ /model opus'] }));
  const changed = [
    '❯ /model opus',
    '  ⎿  Set model to Opus 4.8 (1M context) (default) and saved as your default',
  ];

  it('tells its window in the banner', () => {
    expect(windows(look(at(...logo('Opus 4.8 (1M context)'))))).toEqual([['claude-opus-4-8', 1_000_000]]);
    expect(windows(look(at(...logo('Sonnet 4.6 with high effort'))))).toEqual([
      ['claude-sonnet-4-6', 200_000],
    ]);
    expect(windows(look(at(...logo('Sonnet 5'))))).toEqual([]);
  });

  it.each([
    ['since 2.1.237', [' ▐▛███▛█   Claude Code v2.1.263', '▝▜██████▀  MODEL', '  ▝▝ ▝▝    /proj/app']],
    [
      'of 2.1.330, which is wider below',
      [' ▐▛███▛█   Claude Code v2.1.330', '▝▜██████▀  MODEL', ' ▝▝   ▝▝   /app'],
    ],
    ['that nobody has seen', ['▄▄▀▀▄▄  Claude Code v3.0.0', '██▄▄██  MODEL', ' ▀▀▀▀   /proj/app']],
    [
      'beside which the model stands in the last row',
      ['▄▄▀▀▄▄  Claude', '██▄▄██  /proj/app', ' ▀▀▀▀   v3', '▀▀▀▀▀▀  MODEL'],
    ],
  ])('tells it beside a logo %s', (_, rows) => {
    const drawnWith = (words: string) => at('', ...rows.map((row) => row.replace('MODEL', words)));
    expect(windows(look(drawnWith('Opus 5 (1M context) · API Usage Billing')))).toEqual([
      ['claude-opus-5', 1_000_000],
    ]);
    expect(windows(look(drawnWith('Haiku 4.5 with low effort · Claude Max')))).toEqual([
      ['claude-haiku-4-5', 200_000],
    ]);
    expect(windows(look(drawnWith('Opus 9.9 · API Usage Billing')))).toEqual([]); // the name does not tell
  });

  it('tells it in the narrow banner of 2.1.331, where the plan has a row of its own', () => {
    const narrow = (model: string) =>
      at(
        '           Claude Code v2.1.331',
        ` ▐▛███▛█   ${model}`,
        '▝▜██████▀  API Usage Billing',
        ' ▝▝   ▝▝   /proj/app',
      );
    expect(windows(look(narrow('Sonnet 4.6')))).toEqual([['claude-sonnet-4-6', 200_000]]);
    expect(windows(look(narrow('Opus 4.8 (1M context)')))).toEqual([['claude-opus-4-8', 1_000_000]]);
    expect(windows(look(narrow('Opus 5.5')))).toEqual([]);
    expect(windows(look(narrow('Tip 4 of 7: use it')))).toEqual([]);
  });

  it('tells that it is another one, once, when the user was seen choosing it', () => {
    const read = (...seen: readonly ScreenEvidence[]) => {
      let reader = claude.reader({});
      return seen.map((each) => {
        const said = reader(each, 0);
        reader = said.next;
        return said.facts.filter(({ type }) => type === 'model');
      });
    };
    const claim = { windowTokens: 1_000_000, windowSource: 'agent', model: 'claude-opus-4-8' };
    const told = [{ type: 'model', model: 'claude-opus-4-8', claim }];
    expect(read(typing, at(...changed), at(...changed))).toEqual([[], told, []]);
    expect(read(at(...logo('Sonnet 4.6')), at(...changed))).toEqual([[], []]);
  });

  it.each([
    ['in an answer', ['●  ▐▛███▛█   Claude Code', '  ▝▜██████▀  Sonnet 4.6 · Max']],
    ['in a message', ['❯ ▐▛███▛█   Claude Code', '  ▝▜██████▀  Sonnet 4.6 · Max']],
    ['of one row', ['', '▝▜██████▀  Sonnet 4.6 · Max', '']],
    ['whose texts begin in two columns', [' ▐▛███▛█    Claude Code', '▝▜██████▀  Sonnet 4.6 · Max']],
    ['that is the mark of an announcement', ['▎  Claude Code', '▎  Sonnet 4.6 · Max']],
    ['that moves away from the first column', ['  ▐▛███▛█   Claude Code', '  ▜██████▀  Sonnet 4.6 · Max']],
  ])('is not told by a picture %s', (_, rows) => {
    expect(windows(look(at(...rows)))).toEqual([]);
  });

  it('is told by the box of old versions, however it is drawn', () => {
    for (const [corner, line, side] of ['╭─│', '┏━┃', '╔═║'])
      expect(
        windows(
          look(
            at(
              `${corner}${line?.repeat(3)} Claude Code v2.0.76 ${line?.repeat(30)}`,
              `${side}   claude-sonnet-4-6 · API Usage Billing   ${side} Tips  ${side}`,
            ),
          ),
        ),
      ).toEqual([['claude-sonnet-4-6', 200_000]]);
  });

  it('tells another one after the user was seen to change it, which outlives the banner of before', () => {
    const steps = watch([at(...logo('Sonnet 4.6')), typing, at(...logo('Sonnet 4.6'), ...changed)]);
    expect(windows(steps[2] as ScreenResult)).toEqual([['claude-opus-4-8', 1_000_000]]);
    const later = watch([
      at(...logo('Sonnet 4.6')),
      typing,
      at(...logo('Sonnet 4.6'), ...changed),
      at(...logo('Sonnet 4.6')),
    ]);
    expect(windows(later[3] as ScreenResult)).toEqual([]);
  });

  it('tells the model of old versions', () => {
    const answer = ['> /model haiku', '  ⎿  Set model to haiku (claude-haiku-4-5-20251001)'];
    const prompt = { prompt: ['>\u00a0'] };
    const steps = watch([
      seenOf(drawn({ prompt: ['> /model haiku'] }), ''),
      seenOf(drawn({ above: [...answer, ''], ...prompt }), ''),
    ]);
    expect(windows(steps[1] as ScreenResult)).toEqual([['claude-haiku-4-5', 200_000]]);
  });

  it.each([
    ['that a resumed conversation shows', [at(...logo('Sonnet 4.6')), at(...logo('Sonnet 4.6'), ...changed)]],
    ['that was there from the start', [at(...changed)]],
    ['that an answer quotes', [typing, at('● look:', ...changed.map((row) => `  ${row}`))]],
    ['that a tool printed', [typing, at('● Bash(cat log)', '  ⎿  ❯ /model opus', ...changed.slice(1))]],
    ['with something said after it', [typing, at(...changed, '', '❯ thanks', '', '● yes')]],
    ['that did not happen', [typing, at('❯ /model opus', '  ⎿  Kept model as Sonnet 4.6')]],
  ])('does not believe a change %s', (_, screens) => {
    expect(windows(watch(screens).at(-1) as ScreenResult).map(([model]) => model)).not.toContain(
      'claude-opus-4-8',
    );
  });
});

describe('a screen', () => {
  it('is known as one of claude by its frame and its title or banner, or by its first questions', () => {
    expect(claude.recognises(seenOf(drawn()))).toBe(true);
    expect(claude.recognises(seenOf(drawn(), 'vim'))).toBe(false);
    expect(
      claude.recognises({
        screen: viewOf({ columns: 80, rows: ['● hello'], cursor: [0, 0] }),
        signals: { title: IDLE },
      }),
    ).toBe(false);
  });
});
