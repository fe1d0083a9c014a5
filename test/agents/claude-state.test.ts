import { describe, expect, it } from 'vitest';
import { claude } from '../../src/agents/claude/agent.js';
import type { AgentStatus, ScreenEvidence } from '../../src/agents/agent.js';
import { BUSY, IDLE, conversation, drawn, look, seenOf, watch } from '../support/claude-frame.js';
import { viewOf } from '../support/claude-view.js';

const ASKS = 'state=blocked:app=claude-code:kind=permission:msg=YXBwcm92ZSBCYXNoOiB0b3VjaCB6ei50eHQ=';
const said = (state: string): string =>
  state.startsWith('state=') ? state : `state=${state}:app=claude-code`;
const told = (
  state: string,
  seen: ScreenEvidence = seenOf(drawn()),
  title: string | undefined = 'Mock title',
): ScreenEvidence => ({
  ...seen,
  signals: { ...(title === undefined ? {} : { title }), agentState: said(state) },
});
const activityOf = (seen: ScreenEvidence) => look(seen).activity.activity;
const spinner = seenOf(drawn({ above: [...conversation, '❯ go', '', '✽ Scurrying… (4s)', ''] }));
const compacting = seenOf(
  drawn({ above: [...conversation, '❯ /compact', '', '✽ Compacting conversation… (4s)', ''] }),
);
const draft = seenOf(drawn({ prompt: ['❯ fix the'] }));
const permission: ScreenEvidence = {
  screen: viewOf({
    columns: 100,
    rows: [...conversation, '─'.repeat(100), ' Do you want to proceed?', ' ❯ 1. Yes', '   2. No'],
    cursor: [9, 2],
    styles: [{ row: 8, column: 1, style: { foreground: 246 } }],
  }),
  signals: {},
};

describe('the state that claude tells (OSC 7501)', () => {
  it.each([
    ['idle', 'ready'],
    ['done', 'ready'],
    ['error', 'ready'],
    ['working', 'busy'],
    ['clear', 'unknown'],
    ['something-new', 'unknown'], // it is none: the title has no sign
    [ASKS, 'dialog'],
    // commands go on in the background, and Claude takes messages
    [`working:msg=${Buffer.from('2 shells still running').toString('base64')}`, 'ready'],
    [`working:msg=${Buffer.from('1 shell, 2 monitors still running').toString('base64')}`, 'ready'],
    [`working:msg=${Buffer.from('1 background agent still running').toString('base64')}`, 'busy'],
    [`working:msg=${Buffer.from('still running tests').toString('base64')}`, 'busy'],
  ])('%s at an empty prompt under a title without a sign is %s', (state, activity) => {
    expect(activityOf(told(state))).toBe(activity);
  });

  it('is rest while a shell runs in the background, by its status file, too', () => {
    const status: AgentStatus = { state: 'shell' };
    const message = Buffer.from('1 shell still running').toString('base64');
    expect(activityOf({ ...told(`working:msg=${message}`), status })).toBe('ready');
    expect(activityOf({ ...told('done'), status })).toBe('ready');
    expect(activityOf({ ...told('working'), status })).toBe('busy');
  });

  it('is work, and says which, while an agent runs in the background', () => {
    const row = '✻ Waiting for 1 background agent to finish';
    const waiting = seenOf(drawn({ above: [...conversation, '❯ go', '', row, ''] }));
    const { activity, place } = look({ ...told('working', waiting), status: { state: 'busy' } }).activity;
    expect([activity, place]).toEqual(['busy', 'a background agent is running']);
    const over = look({ ...told('done', waiting), status: { state: 'idle' } }).activity;
    expect([over.activity, over.place]).toEqual(['ready', undefined]);
    const said = seenOf(drawn({ above: [...conversation, '❯ go', '', `  ${row}`, ''] }));
    expect(look({ ...told('working', said), status: { state: 'busy' } }).activity.place).toBeUndefined();
  });

  it('is no evidence without the empty prompt', () => {
    expect(activityOf(told('idle', draft))).toBe('draft');
    expect(activityOf(told('idle', permission))).toBe('dialog');
    expect(activityOf(told('done', seenOf(drawn({ cursor: [2, 4] }))))).toBe('unknown');
    expect(activityOf(told('idle', seenOf(drawn({ prompt: ['!\u00a0'] }))))).toBe('unknown');
  });

  it.each<[string, ScreenEvidence, string | undefined, string]>([
    ['idle', spinner, undefined, 'unknown'],
    ['done', compacting, undefined, 'unknown'],
    ['idle', seenOf(drawn()), BUSY, 'unknown'],
    ['working', seenOf(drawn()), IDLE, 'unknown'],
    ['working', spinner, undefined, 'busy'],
    ['working', compacting, undefined, 'compacting'],
    ['working', draft, undefined, 'busy'],
    ['idle', seenOf(drawn()), IDLE, 'ready'],
    ['idle', seenOf(drawn()), undefined, 'ready'],
  ])('%s must agree with what else there is', (state, seen, title, activity) => {
    expect(activityOf(told(state, seen, title))).toBe(activity);
  });

  it('says what is being asked, where it asks', () => {
    const { activity, asks, witnesses } = look(told(ASKS, permission)).activity;
    expect([activity, asks]).toEqual(['dialog', 'approve Bash: touch zz.txt']);
    expect(witnesses).toContain('state: blocked');
    expect(look(told('idle', permission)).activity.asks).toBeUndefined();
  });

  it.each(['state=idle:app=codex', 'state=idle', 'state=done:app=claude', 'state=working:app=codex'])(
    'is not believed from another program: %s',
    (state) => {
      expect(activityOf(told(state))).toBe('unknown');
      expect(activityOf(told(state, seenOf(drawn()), IDLE))).toBe('unknown');
    },
  );

  it('does not outweigh the status file', () => {
    const waiting: AgentStatus = { state: 'waiting' };
    expect(activityOf({ ...told('idle'), status: waiting })).toBe('dialog');
    expect(activityOf({ ...told('idle'), status: { state: 'busy' } })).toBe('busy');
    expect(activityOf({ ...told('idle'), status: { state: 'new' } })).toBe('unknown');
  });

  it('marks a screen as one of claude', () => {
    expect(claude.screen?.recognises(told('idle'))).toBe(true);
    expect(claude.screen?.recognises(told('state=idle:app=codex'))).toBe(false);
  });
});

describe('the sign in the title of claude', () => {
  const titled = (title: string, status?: AgentStatus) => seenOf(drawn(), title, status);

  it.each(['⠂ Mock', '⠐ Mock', '◐ Mock', '◑ Mock', '◓ Mock', '⠋ Mock', '◜ Mock'])(
    'says that it works: %s',
    (title) => {
      expect(activityOf(titled(title))).toBe('busy');
    },
  );

  it.each(['✦ Mock', '☾ Mock', '★ Mock', '🌙 Mock', '✋ Mock', '◇ Mock'])(
    'is no evidence of rest where it was never seen: %s',
    (title) => {
      expect(activityOf(titled(title))).toBe('unknown');
      expect(activityOf(titled(title, { state: 'idle' }))).toBe('ready');
      expect(activityOf(titled(title, { state: 'busy' }))).toBe('busy');
      expect(activityOf({ ...titled(title), signals: { title, agentState: said('idle') } })).toBe('ready');
    },
  );

  it('says that it works where signs come in turns, until one of them stays', () => {
    const turns = ['✳ Mock', '✦ Mock', '✧ Mock', '✦ Mock'].map((title) => titled(title));
    const words = watch(turns).map(({ activity }) => activity.activity);
    expect(words).toEqual(['ready', 'unknown', 'busy', 'busy']);
    const stays = watch([...turns, ...Array.from({ length: 30 }, () => titled('✦ Mock'))]);
    expect(stays.at(-1)?.activity.activity).toBe('unknown');
  });

  it.each(['vim', 'user@host: ~', '~/project', '- less', '/bin/sh', '1 awaiting input · claude agents'])(
    'is none in the title of another program: %s',
    (title) => {
      expect(activityOf(titled(title))).toBe('unknown');
      expect(activityOf(titled(title, { state: 'idle' }))).toBe('unknown');
    },
  );
});
