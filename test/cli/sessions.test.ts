import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it, vi } from 'vitest';
import { findSession, onlySession } from '../../src/cli/commands/ps.js';
import { ageText, sessionsText } from '../../src/cli/commands/ps.js';
import type { SessionRecord } from '../../src/core/records.js';
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

const shown = (sessions: readonly ListedSession[], width = 100): readonly string[] =>
  sessionsText(sessions, { now, width, home: '/home/u' });

describe('the list of sessions', () => {
  it('says for what a session waits, in a column of 40', () => {
    const asks = 'approve Bash: touch \u001b[31mzz.txt';
    const [, row = ''] = shown([session({ activity: 'dialog', asks })], 120);
    expect(row).toMatch(/ dialog: approve Bash: touch \S*zz\.txt /);
    expect(row).not.toContain('\u001b');
    const [, cut = ''] = shown([session({ activity: 'dialog', asks: 'x'.repeat(200) })], 120);
    expect(cut).toMatch(/ dialog: x{31}…? /);
  });

  it('has a row a session, with the marks of the footer', () => {
    const { reading: _, tier: __, ...blank } = codex.record;
    expect(shown([session(), { record: blank, liveness: 'stale' }])).toEqual([
      'AGENT   SESSION    PID  TIER        USED  ACTIVITY  SEEN  FOLDER',
      'claude  4711-abc  4711  warn  150k/200k?  ready       3s  ~/proj/app',
      'codex   9-x          9  -              -  stale       3s  ~/proj/app',
    ]);
  });

  it('says how to start one when there is none', () => {
    expect(shown([])).toEqual(['No session is running. Start one with: ctxwrap claude']);
  });

  it('fits into any width, whatever the folders are called', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 80 });
    fc.assert(
      fc.property(name, fc.integer({ min: 40, max: 200 }), (cwd, width) => {
        const lines = shown([session({ cwd: `/${cwd}` }), codex], width);
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
        expect(lines.join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
        expect(lines[1]).toContain('150k/200k?');
      }),
    );
  });

  it.each([
    [-5, '0s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [3_600_000, '1h'],
    [86_400_000 * 3, '3d'],
  ])('%d ms are %s', (ms, text) => expect(ageText(ms)).toBe(text));
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
    expect(() => findSession(two, 'claude')).toThrow('"claude" fits 2 sessions');
    expect(() => findSession(two, '4')).toThrow('"4" fits 2 sessions');
  });

  it('is not needed where one session runs', () => {
    expect(onlySession([codex, ended]).record.id).toBe('9-x');
    expect(() => onlySession(sessions)).toThrow('2 sessions are running');
    expect(() => onlySession([ended])).toThrow('no session is running');
  });

  it('inside a session that is over means no other', () => {
    vi.stubEnv('CTXWRAP_SESSION', 'gone');
    expect(() => onlySession([codex, ended])).toThrow('the session gone, which this runs in, is over');
    expect(() => onlySession([ended])).toThrow('no session is running');
    vi.stubEnv('CTXWRAP_SESSION', '9-x');
    expect(onlySession(sessions).record.id).toBe('9-x');
    vi.unstubAllEnvs();
  });
});
