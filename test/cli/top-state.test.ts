// What `ctxwrap top` shows after which keys.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chosenSessions,
  selectedOf,
  startTop,
  stepTop,
  windowOf,
  type KeyName,
  type TopKey,
  type TopState,
  type TopStep,
} from '../../src/cli/commands/top-state.js';
import { frameRows, topFrame } from '../../src/cli/commands/top-frame.js';
import { activityText } from '../../src/cli/ps-columns.js';
import type { SessionRecord } from '../../src/core/report/records.js';
import type { ListedSession } from '../../src/storage/sessions.js';
import { changedRows } from '../../src/cli/watching.js';
import { own, type Printable } from '../../src/core/printable.js';
import { drawTopRows } from '../../src/ui/Top.js';
import { widthOf } from '../../src/ui/text.js';

const ids = ['a', 'b', 'c', 'd'];
const key = (name: KeyName): TopKey => ({ name, text: '' });
const types = (text: string): readonly TopKey[] => [...text].map((each) => ({ text: each }));
const pressed = (...keys: readonly TopKey[]): TopStep =>
  keys.reduce<TopStep>(({ state }, each) => stepTop(state, each, { ids, rows: 3 }), { state: startTop });

describe('the keys of top', () => {
  it('move the selection, which never leaves the list', () => {
    const at = (...names: readonly KeyName[]) => selectedOf(pressed(...names.map(key)).state, ids);
    expect(at()).toBe('a');
    expect(at('down', 'down')).toBe('c');
    expect(at('down', 'up', 'up')).toBe('a');
    expect(at('page-down')).toBe('d');
    expect(at('page-down', 'page-up')).toBe('a');
    expect(at('end', 'down')).toBe('d');
    expect(at('end', 'home')).toBe('a');
    expect(selectedOf(pressed(...types('jj')).state, ids)).toBe('c');
    expect(selectedOf(pressed(key('end')).state, [])).toBeUndefined();
  });

  it('ask a session to compact only after a yes, whatever else is pressed', () => {
    expect(pressed(key('down'), ...types('c')).state.asking).toBe('b');
    expect(pressed(key('down'), ...types('cy')).action).toEqual({ kind: 'compact', id: 'b' });
    for (const other of [...types('nqc '), key('enter'), key('escape'), key('down')]) {
      const { state, action } = pressed(...types('c'), other);
      expect(action).toBeUndefined();
      expect(state.asking).toBeUndefined();
    }
  });

  it('go into the filter until Enter, and q is a letter there', () => {
    const { state, action } = pressed(...types('/qx'), key('backspace'));
    expect(action).toBeUndefined();
    expect(state).toMatchObject({ filter: 'q', isFiltering: true });
    expect(pressed(...types('/q'), key('enter'), ...types('q')).action).toEqual({ kind: 'quit' });
    expect(pressed(...types('/q'), key('escape')).state).toMatchObject({ filter: '', isFiltering: false });
  });

  it('open details, change the order, and show those that are over', () => {
    expect(pressed(key('enter')).state.hasDetails).toBe(true);
    expect(pressed(key('enter'), key('escape')).state.hasDetails).toBe(false);
    expect(pressed(...types('ssss')).state.sort).toBe('agent');
    expect(pressed(...types('ssssss')).state.sort).toBe('need');
    expect(pressed(...types('a')).state.isAll).toBe(true);
  });

  it('never ask for anything without c and y, in any order of keys', () => {
    const anyKey = fc.oneof(
      fc.constantFrom<KeyName>('up', 'down', 'enter', 'escape', 'end', 'backspace').map(key),
      fc.constantFrom(...types('abcdjks/q ')),
    );
    fc.assert(
      fc.property(fc.array(anyKey, { maxLength: 40 }), (keys) => {
        const actions = keys.map((_, index) => pressed(...keys.slice(0, index + 1)).action?.kind);
        expect(actions).not.toContain('compact');
      }),
    );
  });
});

it('the visible part of the list has the selected row, and moves no further than it must', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.nat(60),
      fc.nat(60),
      fc.integer({ min: 1, max: 60 }),
      (count, chosen, before, rows) => {
        const index = chosen % count;
        const first = windowOf({ count, index, rows }, before);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(first).toBeLessThanOrEqual(Math.max(0, count - rows));
        expect(index).toBeGreaterThanOrEqual(first);
        expect(index).toBeLessThan(first + rows);
        const isSeen = index >= before && index < before + rows && before <= count - rows;
        expect(isSeen ? first : before).toBe(before);
      },
    ),
  );
});

const NOW = 1_800_000_000_000;
const session = (
  id: string,
  more: Partial<SessionRecord> = {},
  liveness = 'live' as const,
): ListedSession => ({
  liveness,
  record: {
    schema: 'ctxwrap.session/1',
    id,
    version: '1',
    pid: 1,
    childPid: 2,
    runtime: 'claude',
    cwd: `/home/u/${id}`,
    startedAt: NOW - 60_000,
    heartbeatAt: NOW,
    activity: 'ready',
    compactions: 0,
    thresholds: [],
    ...more,
  },
});
const filled = (usedPercent: number): Required<Pick<SessionRecord, 'reading' | 'tier'>> => ({
  tier: usedPercent > 90 ? 'hard' : 'safe',
  reading: {
    schema: 'ctxwrap.reading/1',
    at: NOW,
    runtime: 'claude',
    source: 'log',
    basis: 'window',
    usedPercent,
    exact: true,
  },
});
const fleet = [
  session('calm', filled(20)),
  session('full', filled(95)),
  session('asks', { ...filled(10), activity: 'dialog', asks: 'approve Bash: ls' }),
  session('warm', { cache: { expiresAt: NOW + 60_000, exact: true }, runtime: 'aider' }),
  { ...session('over', { endedAt: NOW }), liveness: 'ended' as const },
];
const order = (state: Partial<TopState>): readonly string[] =>
  chosenSessions(fleet, { ...startTop, ...state }, (each) => activityText(each, NOW)).map(
    ({ record }) => record.id,
  );

describe('the table of top', () => {
  it('has on top what needs the user, then the fullest', () => {
    expect(order({})).toEqual(['asks', 'full', 'calm', 'warm']);
    expect(order({ sort: 'fill' })).toEqual(['full', 'calm', 'asks', 'warm']);
    expect(order({ sort: 'cache' })[0]).toBe('warm');
    expect(order({ sort: 'agent' })[0]).toBe('warm');
    expect(order({ isAll: true })).toContain('over');
  });

  it('has a session in which ctxwrap has failed above those that only wait, and counts it in the head', () => {
    const drafting = session('drafts', { activity: 'draft' });
    const failed = { ...session('failed', { failedAt: NOW }), liveness: 'failed' as const };
    const all = [drafting, failed, ...fleet];
    expect(chosenSessions(all, startTop, () => '').map(({ record }) => record.id)).toEqual([
      'asks',
      'failed',
      'drafts',
      'full',
      'calm',
      'warm',
    ]);
    expect(plain(frameOf({}, 120, 30, all).head)).toContain('6 running · 1 failed · 2 waiting for you');
  });

  it('has only what the filter finds', () => expect(order({ filter: 'BASH' })).toEqual(['asks']));

  const plain = (text: string): string => text.replace(/\x1b\[[\d;]*m/g, '');
  const frameOf = (
    { ascii = false, ...state }: Partial<TopState> & { readonly ascii?: boolean },
    columns: number,
    rows: number,
    all: readonly ListedSession[] = fleet,
  ) => {
    const full = { ...startTop, ...state };
    const chosen = chosenSessions(all, full, ({ record }) => record.id);
    const look = { columns, colorLevel: 3 as const, ascii };
    return topFrame(full, {
      now: NOW,
      home: '/home/u',
      look,
      rows,
      scroll: 0,
      chosen,
      all,
      known: all,
      news: '',
    }).frame;
  };

  it.each([
    [
      { kind: 'own', value: 317_000, unit: 'tokens', left: 58_000 },
      "claude's own at 317,000 tokens, 58,000 to go",
    ],
    [{ kind: 'limit', value: 300_000, unit: 'tokens', left: 0 }, 'your limit at 300,000 tokens, reached'],
    [{ kind: 'auto', value: 85, unit: 'percent', left: 12.4 }, 'auto at 85%, 12.4% to go'],
    [{ kind: 'hard', value: 170_000, unit: 'tokens' }, 'hard at 170,000 tokens'],
  ] as const)('has in the details what comes next: %j', (next, text) => {
    const { details } = frameOf({ hasDetails: true }, 120, 30, [session('one', { next, runtime: 'claude' })]);
    expect(details.map(plain)).toContain(`  Next      ${text}`);
  });

  it('fits into every terminal, with details and without', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 200 }),
        fc.integer({ min: 5, max: 60 }),
        fc.boolean(),
        (columns, rows, hasDetails) => {
          const { head, titles, lines, details, message, keys } = frameOf(
            { hasDetails, asking: 'full' },
            columns,
            rows,
          );
          for (const line of [head, titles, ...lines, ...details, message, keys])
            expect(widthOf(line)).toBeLessThanOrEqual(columns);
          expect(4 + lines.length + details.length).toBeLessThanOrEqual(Math.max(6, rows));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('puts a dialog before unsent text, and counts both as waiting for the user', () => {
    const drafting = session('drafts', { ...filled(50), activity: 'draft' });
    const all = [drafting, ...fleet];
    expect(chosenSessions(all, startTop, () => '').map(({ record }) => record.id)).toEqual([
      'asks',
      'drafts',
      'full',
      'calm',
      'warm',
    ]);
    expect(frameOf({}, 120, 30, all).head).toContain('5 running · 2 waiting for you · 1 hard');
    const silent = all.map((each) => ({ ...each, liveness: 'stale' as const }));
    expect(frameOf({}, 120, 30, silent).head).not.toContain('waiting');
  });

  it('has the bar and the cache in 80 columns, where the id has no room', () => {
    const busy = filled(62);
    const reading = { ...busy.reading, usedTokens: 124_000, windowTokens: 200_000 } as const;
    const cwd = '/home/u/projects/a-rather-long-name';
    const all = [
      session('4711-abc', { ...busy, reading, cwd, activity: 'draft' }),
      session('4712-abc', { ...busy, reading, cwd, cache: { expiresAt: NOW + 720_000, exact: true } }),
    ];
    const { titles, lines } = frameOf({ sort: 'cache' }, 80, 24, all);
    expect(plain(titles).trim().split(/ +/)).toEqual([
      'AGENT',
      'WINDOW',
      '%',
      'USED',
      'TIER',
      'ACTIVITY',
      'CACHE',
      'FOLDER',
    ]);
    expect(lines.map(plain)[0]).toContain('11m');
    expect(plain(frameOf({}, 120, 24, all).titles)).toContain('SESSION');
  });

  it('tells the order at every width, and which part of the sessions is on the screen', () => {
    const many = Array.from({ length: 30 }, (_, index) => session(`s${index}`, filled(95)));
    expect(plain(frameOf({ sort: 'age' }, 80, 24, many).head)).toMatch(
      /30 running · 30 hard +1-20 of 30, by age$/,
    );
    expect(plain(frameOf({ sort: 'age' }, 40, 24, many).head)).toMatch(/^ctxwrap top +1-20 of 30, by age$/);
    expect(plain(frameOf({}, 30, 24).head)).toMatch(/^ctxwrap top +by need$/);
    expect(frameOf({ filter: 'full' }, 80, 24).message).toBe('1 with "full" · Esc: show all');
  });

  it('is all ASCII in a terminal that has nothing else, and as wide', () => {
    const all = [
      session('long', {
        ...filled(95),
        cwd: '/home/u/日本語/a-long-name-of-a-folder',
        activity: 'dialog',
        asks: 'é'.repeat(60),
      }),
      session('done', { compaction: { mode: 'auto', words: '✓ compacted 166k → 12k' } }),
    ];
    const { keys, head, titles, lines, details, message } = frameOf(
      { hasDetails: true, filter: 'o', ascii: true },
      80,
      24,
      all,
    );
    for (const row of [keys, head, titles, ...lines, ...details, message]) {
      expect(plain(row)).toMatch(/^[\x20-\x7e]*$/);
      expect(widthOf(row)).toBeLessThanOrEqual(80);
    }
  });

  it('says one compaction and two turns', () => {
    const all = [session('a', { compactions: 1, turns: 2 })];
    expect(frameOf({ hasDetails: true }, 80, 24, all).details.map(plain)).toContain(
      '  So far    1 compaction, 2 turns',
    );
  });

  it('tells how many run and wait, and what is asked before a session is', () => {
    const { head, message, details } = frameOf(
      { asking: 'full', selected: 'warm', hasDetails: true },
      120,
      30,
    );
    expect(head).toContain('4 running · 1 waiting for you · 1 hard');
    expect(message).toBe('Ask claude in ~/full to compact now? y: yes, any other key: no');
    expect(details.join('\n')).toContain('warm for 1 min');
  });
});

describe('the screen of top', () => {
  const frame = {
    columns: 60,
    rows: 8,
    head: own`head`,
    titles: own`titles`,
    lines: [own`one`, own`two`],
    details: [],
    message: own`message`,
    keys: own`keys`,
  };

  it('has message and keys in its last rows, and as many rows as the terminal', () => {
    expect(frameRows(frame)).toEqual(['head', 'titles', 'one', 'two', '', '', 'message', 'keys']);
    for (let rows = 1; rows < 8; rows += 1) expect(frameRows({ ...frame, rows })).toHaveLength(rows);
  });

  it('is drawn anew only in the rows that have changed, and not at all where none has', () => {
    const drawn: (readonly Printable[])[] = [];
    const draw = (rows: readonly Printable[]): readonly Printable[] => {
      drawn.push(rows);
      return drawTopRows(rows, 60);
    };
    const rows = frameRows(frame);
    expect(changedRows(rows, rows, draw)).toBe('');
    const next = frameRows({ ...frame, lines: [own`one`], keys: own`\x1b[1mq\x1b[22m quit` });
    expect(changedRows(next, rows, draw)).toBe(
      '\x1b[?2026h\x1b[4;1H\x1b[2K\x1b[8;1H\x1b[2K\x1b[1mq\x1b[22m quit\x1b[?2026l',
    );
    expect(drawn).toEqual([['', '\x1b[1mq\x1b[22m quit']]);
  });
});
