// The page of the overview with the recap of a compaction, as it is drawn.
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { chosenAtFirst, recapOf } from '../../src/core/conversation/recap.js';
import { itemKey, type EvidenceKind } from '../../src/core/conversation/conversation-evidence.js';
import type { ReceiptItem } from '../../src/core/conversation/receipt.js';
import type { RecapPage } from '../../src/core/report/recap-page.js';
import { readLook, type Background } from '../../src/core/look.js';
import { renderOverview } from '../../src/ui/Overview.js';
import { overviewAt } from '../support/overview-play.js';

const item = (kind: EvidenceKind, text: string, isKept: boolean, more = {}): ReceiptItem => ({
  kind,
  text,
  line: 0,
  isKept,
  ...more,
});

const items: readonly ReceiptItem[] = [
  item('constraint', 'Never push to main.', false),
  item(
    'constraint',
    'Always run the tests before you say that something works, and say which of them you have left out.',
    false,
  ),
  item('constraint', 'Do not add dependencies.', true),
  item('plan', 'Write the migration', false),
  item('plan', 'Remove the old table', true),
  item('path', 'src/session.ts', true),
  item('path', '設計/計画書.md', false),
  item('command', 'npm test', false, { hasFailed: true }),
  item('identifier', 'maxRetries', false),
];

const LAST = items.length - 1;

/** The last line is chosen, too, where the cursor is on it. */
const pageWith = (line: number, isUnreadable = false): RecapPage => {
  const receipt = { items, isUnreadable, commandsRun: 3, notUnderstood: [] };
  const given = new Map([['constraint Never push to main.', 'waiting' as const]]);
  const recap = recapOf(receipt, given);
  const last = recap.lines.slice(-1).map(itemKey);
  const chosen = [...chosenAtFirst(recap), ...(line === LAST ? last : [])];
  return { recap, line, chosen, reason: '', way: 'with your next message', isWaiting: true };
};

interface Terminal {
  readonly columns: number;
  readonly rows: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly background?: Background;
}

const plain = { TERM: 'xterm-256color', NO_COLOR: '1' };

const draw = (page: RecapPage, { columns, rows, env = plain, background }: Terminal): readonly string[] => {
  const look = readLook({ env, isTTY: true, columns, background });
  return renderOverview(overviewAt().report({ recap: page }, 'recap'), { look, rows, scroll: 0 }).rows;
};

const bare = (row: string): string => row.replaceAll(/\x1b\[[\d;]*m/g, '');
const sizes = [
  [40, 10],
  [80, 24],
  [200, 60],
] as const;

describe('the page with the recap', () => {
  it('looks as it did, at every size, with the cursor in view', async () => {
    const pages = [
      ['at first', pageWith(0)],
      ['at the last line, which is chosen', pageWith(LAST)],
      ['of an encrypted summary', pageWith(0, true)],
    ] as const;
    const pictures = pages.flatMap(([name, page]) =>
      sizes.map(([columns, rows]) => {
        const drawn = draw(page, { columns, rows }).map((row) => bare(row).trimEnd());
        return [`── ${name}, ${columns} × ${rows}`, ...drawn].join('\n').replaceAll(/\n{3,}/g, '\n\n');
      }),
    );
    await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot('../fixtures/overview/page-recap.txt');
  });

  it.each(sizes)('fills %i × %i and no more, and shows the line with the cursor', (columns, rows) => {
    const idle = { ...pageWith(0), isWaiting: false };
    for (const page of [pageWith(0), pageWith(LAST), pageWith(0, true), idle]) {
      const drawn = draw(page, { columns, rows });
      expect(drawn).toHaveLength(rows);
      expect(Math.max(...drawn.map((row) => stringWidth(row)))).toBeLessThanOrEqual(columns);
      expect(drawn.filter((row) => row.includes('▶'))).toHaveLength(1);
      const below = drawn.slice(-2).map(bare).join('\n');
      const own = page.isWaiting ? ['Enter give', 'x take back'] : ['Enter give back'];
      for (const key of [...own, 'Space choose', 'u undo', 'Esc leave', 'q close'])
        expect(below).toContain(key);
    }
  });

  it('has the answer to the last key below its head, also where there is no recap, and says which lines wait', () => {
    const answer = '1 line taken back; recall withdrawn';
    const receipt = { items, isUnreadable: false, commandsRun: 3, notUnderstood: [] };
    const recap = recapOf(receipt, new Map([['constraint Never push to main.', 'asked' as const]]));
    const [, , head, below, ...rest] = draw({ ...pageWith(0), recap, answer }, { columns: 80, rows: 24 }).map(
      bare,
    );
    expect([head, below]).toEqual([
      expect.stringContaining('chosen; Enter'),
      expect.stringContaining(answer),
    ]);
    expect(rest.find((row) => row.includes('Never push'))).toMatch(/▶ +\[ \] +waits +Never push/);
    const none = { ...pageWith(0), recap: undefined, reason: 'nothing was compacted yet', answer };
    expect(draw(none, { columns: 80, rows: 24 }).join('\n')).toContain(answer);
  });

  it('shows the line with the cursor also where longer words further down make the lines above it wrap', () => {
    const rule = 'Keep every function of this project under sixty lines.';
    const rules = Array.from({ length: 20 }, (_, index) =>
      item('constraint', `${rule} ${index}`, index < 19),
    );
    const receipt = { items: rules, isUnreadable: false, commandsRun: 0, notUnderstood: [] };
    const recap = recapOf(receipt, new Map());
    for (const line of rules.keys()) {
      const drawn = draw({ recap, line, chosen: [], reason: '', way: '' }, { columns: 80, rows: 12 });
      expect(drawn.filter((row) => row.includes('▶'))).toHaveLength(1);
    }
  });

  it('says at the first line what Enter does, however long that line is', () => {
    const rule =
      'Keep every function of this project under sixty lines, and say so where you cannot do that.';
    const receipt = {
      items: [item('constraint', rule, false)],
      isUnreadable: false,
      commandsRun: 0,
      notUnderstood: [],
    };
    const page = {
      recap: recapOf(receipt, new Map()),
      line: 0,
      chosen: [],
      reason: '',
      way: 'with your next message',
    };
    const drawn = draw(page, { columns: 40, rows: 10 }).map(bare);
    expect(drawn.slice(1, 3).map((row) => row.trim())).toEqual([
      '0 chosen; Enter gives them back with',
      'your next message.',
    ]);
    expect(drawn.filter((row) => row.includes('▶'))).toHaveLength(1);
  });

  it('counts all lines, and says how many of them are too many to be listed', () => {
    const rules = Array.from({ length: 75 }, (_, index) =>
      item('constraint', `Never touch the file number ${index}.`, index < 5),
    );
    const receipt = { items: rules, isUnreadable: false, commandsRun: 0, notUnderstood: [] };
    const drawnAs = (isUnreadable: boolean) => {
      const recap = recapOf({ ...receipt, isUnreadable }, new Map());
      expect(recap.lines.map(({ text }) => text)).toEqual(rules.slice(15).map(({ text }) => text));
      return draw({ recap, line: 0, chosen: [], reason: '', way: '' }, { columns: 80, rows: 12 }).map(bare);
    };
    expect(drawnAs(false).join('\n')).toContain('Your rules: 5 of 75 kept; the first 15 are not listed');
    expect(drawnAs(true).join('\n')).toContain('Your rules; the first 15 are not listed');
  });

  it('says the same in every palette, and in no colour with NO_COLOR', () => {
    const at = (more: Partial<Terminal>) =>
      draw(pageWith(LAST), { columns: 80, rows: 24, env: { TERM: 'xterm-256color' }, ...more });
    const rgb = { TERM: 'xterm-256color', COLORTERM: 'truecolor' };
    const palettes = {
      none: at({ env: plain }),
      sixteen: at({ env: { TERM: 'xterm' } }),
      light: at({ env: rgb, background: 'light' }),
      dark: at({ env: rgb, background: 'dark' }),
    };
    for (const rows of Object.values(palettes)) expect(rows.map(bare)).toEqual(palettes.none.map(bare));
    expect(palettes.none.join('')).not.toMatch(/\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9[0-7])/);
    expect(palettes.sixteen.join('')).not.toMatch(/\x1b\[(?:\d+;)*[34]8;/);
    for (const name of ['sixteen', 'light', 'dark'] as const)
      expect(palettes[name].find((row) => row.includes('▶'))).not.toBe(
        palettes.none.find((row) => row.includes('▶')),
      );
  });
});
