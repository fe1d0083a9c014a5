import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it, vi } from 'vitest';
import { findSession, lastSession, onlySession, shortIdOf } from '../../src/cli/session-argument.js';
import { ageText, sessionsText, templateLines } from '../../src/cli/ps-columns.js';
import { fieldNames, parseTemplate } from '../../src/cli/template.js';
import { UserError } from '../../src/core/errors.js';
import { parseSessionRecord } from '../../src/core/read-record.js';
import { stripControls, toPrintable } from '../../src/core/printable.js';
import type { SessionRecord } from '../../src/core/report/records.js';
import type { ListedSession } from '../../src/storage/sessions.js';

const now = 1_000_000_000;
const session = (more: Partial<SessionRecord> = {}, liveness: ListedSession['liveness'] = 'live') => ({
  record: {
    schema: 'ctxwrap.session/1',
    id: '4711-abc',
    version: '1',
    pid: 4711,
    childPid: 4712,
    runtime: 'claude',
    cwd: '/home/u/proj/app',
    startedAt: now - 60_000,
    heartbeatAt: now - 3_000,
    activity: 'ready',
    tier: 'warn',
    compactions: 0,
    thresholds: [],
    reading: {
      schema: 'ctxwrap.reading/1',
      at: now,
      runtime: 'claude',
      source: 'log',
      basis: 'window',
      usedTokens: 150_000,
      windowTokens: 200_000,
      windowSource: 'default',
      exact: false,
    },
    ...more,
  } satisfies SessionRecord,
  liveness,
});
const codex = session({ id: '9-x', pid: 9, childPid: 10, runtime: 'codex', startedAt: now - 50_000 });

const look = { columns: 100, colorLevel: 0, ascii: false } as const;
const shown = (sessions: readonly ListedSession[], width = 100): readonly string[] =>
  sessionsText(sessions, { now, look: { ...look, columns: width }, home: '/home/u' }).map(toPrintable);
const filled = (template: string, ...sessions: readonly ListedSession[]): readonly string[] =>
  templateLines(sessions, parseTemplate(template), { now, look, home: '/home/u' });

const half = {
  schema: 'ctxwrap.reading/1',
  at: now,
  runtime: 'claude',
  source: 'log',
  basis: 'window',
  usedTokens: 100_000,
  windowTokens: 200_000,
  windowSource: 'agent',
  usedPercent: 50,
  exact: true,
} as const;
const written = { state: 'handoff_ready', path: '/state/handoff/x.md', at: now } as const;
const words = (text: string): Partial<SessionRecord> => ({ compaction: { mode: 'auto', words: text } });
const activityOf = (session: ListedSession): string =>
  /^claude .*? warn {2}(.*?) {2,}\S+ {2}~/.exec(shown([session], 150)[1] ?? '')?.[1] ?? '';

/** What a record may hold that another program has written. */
const liar = (more: object): ListedSession => {
  const { record } = session({ reading: half });
  const told = parseSessionRecord(JSON.stringify({ ...record, ...more }));
  if (!told) throw new Error('no record');
  return { record: told, liveness: 'live' };
};

describe('the table of sessions', () => {
  it('has a row a session, with the bar and the marks of the footer', () => {
    const { reading: _, tier: __, ...blank } = codex.record;
    const estimate = { ...half, source: 'estimate', windowSource: 'default' } as const;
    expect(shown([session({ reading: estimate }), { record: blank, liveness: 'live' }])).toEqual([
      'AGENT   WINDOW          %         USED  TIER  ACTIVITY  AGE  FOLDER      SESSION',
      'claude  ▰▰▰▰▰▱▱▱▱▱  ~50%?  ~100k/200k?  warn  ready      1m  ~/proj/app  4711',
      'codex   -               -            -  -     ready     50s  ~/proj/app  9',
    ]);
  });

  it.each([
    { activity: 'ready', text: 'ready' },
    { activity: 'busy', text: 'busy' },
    { activity: 'unknown', text: 'unknown' },
    { activity: 'draft', text: 'waiting: unsent text' },
    { activity: 'dialog', text: 'waiting: permission' },
    {
      activity: 'dialog',
      asks: 'approve Bash: touch \u001b[31mzz.txt',
      text: 'waiting: approve Bash: touch [31mzz.txt',
    },
    { activity: 'ready', ...words('compacting in 8 s · Esc: not now'), text: 'compacting in 8 s' },
    {
      activity: 'ready',
      ...words('waiting: agent has just stopped'),
      text: 'waiting: agent has just stopped',
    },
    { activity: 'busy', ...words('waiting: agent is busy'), text: 'busy' },
    { activity: 'ready', handoff: written, text: 'handoff ready' },
    { activity: 'busy', handoff: written, text: 'busy · handoff ready' },
    { activity: 'draft', ...words('holding: you have a draft'), text: 'waiting: unsent text' },
  ] as const)('says $text of a session that is $activity', ({ text, ...more }) => {
    expect(activityOf(session(more))).toBe(text);
  });

  it('says since when a session does not answer or is over, and how it ended', () => {
    const seen = now - 600_000;
    expect(activityOf(session({ heartbeatAt: seen }, 'stale'))).toBe('stale: seen 10m ago');
    expect(activityOf(session({ heartbeatAt: seen }, 'dead'))).toBe('dead: seen 10m ago');
    expect(activityOf(session({ endedAt: seen, exit: { code: 0 } }, 'ended'))).toBe('ended 10m ago');
    expect(activityOf(session({ endedAt: seen, exit: { code: 3 } }, 'ended'))).toBe('ended 10m ago: 3');
    expect(activityOf(session({ endedAt: seen, exit: { signal: 'SIGHUP' } }, 'ended'))).toBe(
      'ended 10m ago: SIGHUP',
    );
  });

  it('says that ctxwrap has failed in a session, whatever its agent does', () => {
    const asking = { activity: 'dialog', asks: 'approve Bash: ls', compaction: { mode: 'auto' } } as const;
    const failed = session({ ...asking, failedAt: now - 1 }, 'failed');
    expect(activityOf(failed)).toBe('ctxwrap has failed: no compaction');
    expect(shown([failed], 80)[1]).toContain('ctxwrap has failed');
    expect(filled('{activity}/{waits}/{mode}', failed)).toEqual([
      'failed/ctxwrap has failed: no compaction/',
    ]);
  });

  it('cuts a long question, and a folder from its left', () => {
    const [, row = ''] = shown(
      [session({ activity: 'dialog', asks: 'x'.repeat(200), cwd: `/${'y/'.repeat(99)}end` })],
      120,
    );
    expect(row).toMatch(/ waiting: x{30}… /);
    expect(row).toMatch(/ …[/y]+end {2}4711$/);
  });

  it('drops the least important columns first in a narrow terminal', () => {
    const row = session({ reading: half, activity: 'draft', cwd: '/home/u/projects/some/app' });
    const titles = (width: number): string => (shown([row], width)[0] ?? '').replace(/ +/g, ' ');
    expect(titles(120)).toBe('AGENT WINDOW % USED TIER ACTIVITY AGE FOLDER SESSION');
    expect(titles(80)).toBe('AGENT WINDOW % USED TIER ACTIVITY FOLDER SESSION');
    expect(titles(60)).toBe('AGENT % TIER ACTIVITY FOLDER');
    expect(titles(40)).toBe('AGENT % TIER ACTIVITY');
    expect(titles(20)).toBe('AGENT %');
  });

  it('has the colours of the footer, and none where there are none', () => {
    const coloured = (row: ListedSession): string =>
      toPrintable(sessionsText([row], { now, look: { ...look, colorLevel: 2 }, home: '/' })[1] ?? '');
    const hard = session({ reading: half, tier: 'hard' });
    expect(coloured(hard)).toContain('\u001b[38;5;167m▰▰▰▰▰\u001b[39m\u001b[2m▱▱▱▱▱\u001b[22m');
    expect(coloured(hard)).toContain('\u001b[38;5;167mhard\u001b[39m');
    expect(coloured({ ...hard, liveness: 'stale' })).not.toContain('38;5;');
    expect(stripVTControlCharacters(coloured(hard))).toBe(
      toPrintable(sessionsText([hard], { now, look, home: '/' })[1] ?? ''),
    );
    expect(shown([hard]).join('')).not.toContain('\u001b');
  });

  it('has an ASCII bar where the terminal has no more', () => {
    const rows = sessionsText([session({ reading: half })], {
      now,
      look: { ...look, ascii: true },
      home: '/',
    }).map(toPrintable);
    expect(rows[1]).toContain(' [####----] ');
  });

  it('says how to start one when there is none', () => {
    expect(shown([])).toEqual(['No session is running. Start one with: ctxwrap claude']);
  });

  it('fits into any width, whatever the folders are called', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 80 });
    fc.assert(
      fc.property(name, fc.integer({ min: 20, max: 200 }), (cwd, width) => {
        const lines = shown([session({ cwd: `/${cwd}`, reading: half }), codex], width);
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
        expect(lines.join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
        expect(lines[1]).toContain('50%');
      }),
    );
  });

  it('stays in its columns when a session lies', () => {
    const evil = '\u001b[2J\u009b2J\u202e\n\u{e0001}';
    for (const lie of [
      { cwd: `${evil}/${'漢'.repeat(15_000)}${evil}` },
      { runtime: evil.repeat(1_000), id: 'a'.repeat(64) },
      { compactions: 1e300, startedAt: 8.64e15, heartbeatAt: 8.64e15 },
      { compactions: -1, startedAt: 0, childPid: 2 ** 32 },
      { reading: { ...half, usedTokens: 1e300, windowTokens: 1e300, usedPercent: 1e300, model: evil } },
      { reading: { ...half, usedTokens: 1e9, windowTokens: 1, usedPercent: 100, over: true } },
      { activity: 'dialog', asks: evil.repeat(100), compaction: { mode: 'auto', words: evil } },
      { compaction: { mode: 'auto', words: `${evil}${'w'.repeat(30_000)}` } },
      { tier: evil, exit: { signal: evil } },
    ])
      for (const width of [40, 80, 120]) {
        const lines = [
          ...shown([liar(lie), codex], width),
          ...shown([{ ...liar(lie), liveness: 'ended' }], width),
        ];
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]|1e\+/u);
        expect(lines).toHaveLength(5);
      }
  });

  it('has no session whose process or start cannot be', () => {
    expect(() => liar({ startedAt: 1e300 })).toThrow('no record');
    expect(() => liar({ pid: 1e300 })).toThrow('no record');
    expect(() => liar({ pid: 4711.5 })).toThrow('no record');
  });

  it.each([
    [-5, '0s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [3_600_000, '1h'],
    [86_400_000 * 3, '3d'],
  ])('%d ms are %s', (ms, text) => expect(ageText(ms)).toBe(text));
});

describe('the way to the next compaction', () => {
  const distance = { to: 'own', tokens: 58_000 } as const;
  const next = { kind: 'auto', value: 310_000, unit: 'tokens', left: 51_000, wayPercent: 83.5 } as const;

  it('is the bar of a row, and a column where it is far below the window of a session', () => {
    const rows = shown([session({ next: { ...next, distance } }), codex], 140);
    expect(rows[0]).toMatch(/ACTIVITY +NEXT +AGE/);
    expect(rows[1]).toMatch(/^claude {2}▰▰▰▰▰▰▰▰▱▱ .* 58k to claude's own /);
    expect(rows[2]).toMatch(/^codex {3}▰▰▰▰▰▰▰▰▱▱ .* ready +- /); // of a version that does not tell it
    expect(shown([session({ next }), codex], 140)[0]).not.toContain('NEXT');
  });

  it('is nothing to go where it is reached, and has the mark of an estimate', () => {
    const estimate = { ...half, source: 'estimate' } as const;
    const near = session({ next: { ...next, distance }, reading: estimate });
    expect(filled('{next} {togo} {distance}', near)).toEqual(["auto ~51k ~58k to claude's own"]);
    expect(filled('{togo}', session({ next: { ...next, left: 0 } }))).toEqual(['0']);
    const percent = { kind: 'auto', value: 85, unit: 'percent', left: 12.4 } as const;
    expect(filled('{togo}', session({ next: percent }))).toEqual(['12%']);
  });
});

/** What comes of a template for one session. */
const outcomeOf = (template: string): unknown => {
  try {
    return `${filled(template, session()).length} line`;
  } catch (error) {
    return error instanceof UserError ? `status ${error.exitCode}` : error;
  }
};

describe('a template', () => {
  it('is one line for each session', () => {
    const other = { ...codex, record: { ...codex.record, reading: half, tier: 'safe' } } as const;
    expect(filled('{agent} {percent}% {tier}', session({ reading: half }), other)).toEqual([
      'claude 50% warn',
      'codex 50% safe',
    ]);
    expect(filled('{agent}')).toEqual([]);
  });

  it('has a value for every field of a session of which all is known', () => {
    const whole = session({
      agentVersion: '2.1.330',
      reading: { ...half, model: 'opus' },
      exit: { code: 0 },
      activity: 'ready',
      compactions: 2,
      next: {
        kind: 'limit',
        value: 141_000,
        unit: 'tokens',
        left: 41_000,
        wayPercent: 70.9,
        distance: { to: 'limit', tokens: 41_000 },
      },
      turns: 7,
      cache: { expiresAt: now + 720_001, exact: false },
      limits: [{ name: '5h', usedPercent: 42 }],
      ...words('compacting in 8 s · Esc: not now'),
    });
    const lines = fieldNames.map((name) => `${name}: ${filled(`{${name}}`, whole).join()}`);
    expect(lines).toEqual([
      'agent: claude',
      'version: 2.1.330',
      'model: opus',
      'session: 4711',
      'id: 4711-abc',
      'pid: 4711',
      'folder: ~/proj/app',
      'bar: ▰▰▰▰▰▰▰▱▱▱',
      'fill: 50%',
      'percent: 50',
      'used: 100k',
      'window: 200k',
      'tier: warn',
      'next: limit',
      'togo: 41k',
      'distance: 41k to your limit',
      'activity: ready',
      'waits: compacting in 8 s',
      'mode: auto',
      'age: 1m',
      'compactions: 2',
      'turns: 7',
      'cache: ~12m',
      'limits: 5h 42%',
      'exit: 0',
    ]);
  });

  it('leaves out what is not known', () => {
    const { reading: _, tier: __, ...blank } = codex.record;
    const unknown =
      'version model bar fill percent used window tier next togo distance waits mode exit'.split(' ');
    for (const name of unknown)
      expect(filled(`<{${name}}>`, { record: blank, liveness: 'live' })).toEqual(['<>']);
  });

  it.each([
    { percent: 0, fill: '0%', bare: '0' },
    { percent: 0.2, fill: '<1%', bare: '1' },
    { percent: 49.6, fill: '50%', bare: '50' },
    { percent: 99.9, fill: '99%', bare: '99' },
    { percent: 100, fill: '100%', bare: '100' },
    { percent: 100, over: true, fill: '>100%', bare: '100' },
  ] as const)('has $fill and $bare for $percent % of the window', ({ percent, fill, bare, ...over }) => {
    const reading = { ...half, usedPercent: percent, ...over };
    expect(filled('{fill} {percent}', session({ reading }))).toEqual([`${fill} ${bare}`]);
  });

  it('marks what is estimated or assumed as the footer does', () => {
    const reading = { ...half, source: 'estimate', windowSource: 'default' } as const;
    expect(filled('{fill} {used}/{window} {percent}', session({ reading }))).toEqual([
      '~50%? ~100k/200k? 50',
    ]);
  });

  it('writes doubled braces as one', () => {
    expect(filled('{{"a":"{agent}"}} }', session())).toEqual(['{"a":"claude"} }']);
    expect(filled('{{{agent}}}', session())).toEqual(['{claude}']);
  });

  it('lets no control character of a value reach the terminal', () => {
    const evil = '\u001b[2J\u009b2J\u202e\n\u{e0001}x';
    const all = fieldNames.map((name) => `{${name}}`).join(' ');
    const exit = { signal: evil };
    const row = liar({ cwd: evil, runtime: evil, agentVersion: evil, exit, activity: 'dialog', asks: evil });
    const [line = '', ...rest] = filled(all, row);
    expect([line.replace(stripControls(line), ''), rest]).toEqual(['', []]);
    expect(line).toContain('[2J');
  });

  it.each([
    [
      '{agnet}',
      '--format has no field "agnet"',
      'did you mean {agent}? the fields are agent, version, model',
    ],
    ['{xyzzyx}', '--format has no field "xyzzyx"', 'the fields are agent, version, model'],
    ['{}', '--format has no field ""', 'the fields are agent, version'],
    ['{agent', '--format has a { without a }: "{agent"', 'write {{ for a plain brace'],
    ['{agent} {', '--format has a { without a }', 'write {{'],
    ['json', '--format needs a field in braces, got "json"', "try --format '{agent} {fill} {tier}'"],
    ['', '--format needs a field in braces, got ""', 'try'],
    ['{{agent}}', '--format needs a field in braces', 'try'],
  ])('%j is refused in words, with status 2', (template, message, hint) => {
    const attempt = (): unknown => parseTemplate(template);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ exitCode: 2, hint: expect.stringContaining(hint) }));
  });

  it('is read whatever it is, or refused in words', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', 'agent', 'x', '\n', '漢') }), (text) => {
        expect(['1 line', 'status 2']).toContain(outcomeOf(text));
      }),
    );
  });
});

describe('a short id', () => {
  it('means its session wherever a session is named', () => {
    const sessions = [
      session(),
      session({ id: '4711-abd' }, 'ended'),
      codex,
      session({ id: '47', pid: 47 }),
      session({ id: 'abcdefgh', pid: 48 }),
      session({ id: 'abcdxfgh', pid: 49 }),
      session({ id: '9-y', pid: 50, childPid: 51 }, 'ended'),
    ];
    expect(sessions.map((each) => shortIdOf(sessions, each))).toEqual([
      '4711', // its pid
      '4711-abd',
      '9',
      '47',
      'abcde',
      'abcdx',
      '9-y',
    ]);
    for (const each of sessions)
      expect(findSession(sessions, shortIdOf(sessions, each))?.record.id).toBe(each.record.id);
  });
});

describe('the id of a conversation', () => {
  const [first, second] = ['0f3a9c12-aaaa-4000-8000-000000000001', '0f3a9c12-bbbb-4000-8000-000000000002'];

  it('is the short id of its session, as the list of compactions shows it', () => {
    const alone = session({ agentSessionId: first });
    expect(shortIdOf([alone, codex], alone)).toBe('0f3a9c12');
    const other = session({ id: '50-y', pid: 50, childPid: 51, agentSessionId: second });
    const sessions = [alone, other];
    expect(sessions.map((each) => shortIdOf(sessions, each))).toEqual(['0f3a9c12-a', '0f3a9c12-b']);
  });

  it('means the session that runs, where an earlier one had the same conversation', () => {
    const now = session({ agentSessionId: first });
    const before = session({ id: '9-old', pid: 9, childPid: 10, agentSessionId: first }, 'ended');
    const sessions = [before, now];
    expect(findSession(sessions, '0F3A9C12')).toBe(now);
    expect(sessions.map((each) => shortIdOf(sessions, each))).toEqual(['9', '0f3a9c12']);
    expect(findSession(sessions, '0f3')).toBeUndefined();
  });

  it('means the last of several runs that have ended, in one file', () => {
    const run = (id: string, heartbeatAt: number, logPath = '/a.jsonl') =>
      session({ id, heartbeatAt, agentSessionId: first, logPath }, 'ended');
    const both = [run('2-b', 2), run('1-a', 1)];
    expect(both.map((each) => shortIdOf(both, each))).toEqual(['0f3a9c12', '1']);
    expect(() => findSession([...both, run('3-c', 3, '/b.jsonl')], first)).toThrow('matches 2 sessions');
  });

  it('is not needed for reading where no session runs: the one that ended last is meant', () => {
    const older = session({ id: '1-a', heartbeatAt: 1, agentSessionId: first }, 'ended');
    const newer = session({ id: '2-b', heartbeatAt: 2, agentSessionId: second }, 'ended');
    const shell = session({ id: '3-c', heartbeatAt: 3 }, 'ended');
    expect(lastSession([newer, older, shell])).toBe(newer);
    const gone = session({ ...newer.record, heartbeatAt: Infinity, logPath: '/gone.jsonl' }, 'ended');
    expect(lastSession([gone, newer, older])).toBe(newer); // as that of a demo
    expect(lastSession([gone])).toBe(gone);
    expect(() => lastSession([shell])).toThrow('no session is running');
    expect(lastSession([newer, session()])).toEqual(session());
    expect(() => lastSession([])).toThrow('no session is running');
  });
});

describe('a session argument', () => {
  const ended = session({ id: '4711-old' }, 'ended');
  const sessions = [session(), codex, ended];

  it.each([
    ['4711-abc', '4711-abc'],
    ['4711-a', '4711-abc'], // the beginning of an id
    ['4711', '4711-abc'], // a pid: the session that is over had the same one
    ['4712', '4711-abc'], // the agent's
    ['codex', '9-x'],
    ['9', '9-x'],
    ['4711-o', '4711-old'],
  ])('%s means %s', (argument, id) => {
    expect(findSession(sessions, argument)?.record.id).toBe(id);
  });

  it.each(['gemini', '', '47119', 'x'])('%j means none', (argument) => {
    expect(findSession(sessions, argument)).toBeUndefined();
  });

  it('that fits several is an error that names them', () => {
    const two = [session(), session({ id: '4800-abc', pid: 4800, childPid: 4801 })];
    expect(() => findSession(two, 'claude')).toThrow('"claude" matches 2 sessions');
    expect(() => findSession(two, '4')).toThrow('"4" matches 2 sessions');
  });

  it('is not needed where one session runs', () => {
    expect(onlySession([codex, ended]).record.id).toBe('9-x');
    expect(() => onlySession(sessions)).toThrow('2 sessions are running');
    expect(() => onlySession([ended])).toThrow('no session is running');
  });

  it('inside a session that is over means no other', () => {
    vi.stubEnv('CTXWRAP_SESSION', 'gone');
    expect(() => onlySession([codex, ended])).toThrow('this runs in session gone, which has ended');
    expect(() => onlySession([ended])).toThrow('no session is running');
    vi.stubEnv('CTXWRAP_SESSION', '9-x');
    expect(onlySession(sessions).record.id).toBe('9-x');
    vi.unstubAllEnvs();
  });
});
