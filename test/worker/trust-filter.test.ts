import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/core/reading.js';
import type { Signals } from '../../src/core/reading.js';
import type { AgentStatus, ScreenEvidence } from '../../src/agents/agent.js';
import { makeTrustFilter } from '../../src/worker/screen-reader.js';

/** A trust filter, and the processes that read the terminal. */
const makeWatch = () => {
  const system = { readers: ['10:1', '11:2'] as readonly string[] | undefined };
  const doubt = makeTrustFilter(() => system.readers);
  const seen = (signals: Signals, status?: AgentStatus): ScreenEvidence =>
    ({ screen: {}, signals, ...(status ? { status } : {}) }) as unknown as ScreenEvidence;
  const drawn = (activity: Activity, signals: Signals = {}, status?: AgentStatus) =>
    doubt.distrustReason(activity, seen(signals, status), true);
  const before = (activity: Activity, signals: Signals = {}, status?: AgentStatus) =>
    doubt.distrustReason(activity, seen(signals, status), false);
  return { system, drawn, before };
};

const GONE = 'another program reads its terminal';

describe('a screen is not trusted', () => {
  it('when a process that read the terminal while it was drawn is gone', () => {
    const { system, drawn, before } = makeWatch();
    expect(drawn('ready')).toBeUndefined();
    expect(before('ready')).toBeUndefined();
    system.readers = ['10:1', '12:9'];
    expect(before('ready')).toBe(GONE);
    system.readers = ['10:1'];
    expect(before('ready')).toBe(GONE);
  });

  it('when the same pid is another process, or another process reads too', () => {
    const { system, drawn, before } = makeWatch();
    drawn('ready');
    system.readers = ['10:1', '11:8'];
    expect(before('ready')).toBe(GONE);
    system.readers = ['10:1', '11:2', '12:9'];
    expect(before('ready')).toBe(GONE);
  });

  it('also when the new reader has written something', () => {
    const { system, drawn, before } = makeWatch();
    drawn('ready');
    system.readers = ['10:1', '12:9'];
    expect(drawn('ready')).toBe(GONE);
    expect(before('ready')).toBe(GONE);
  });

  it('when a source that was present is missing: status file, title, state', () => {
    const { drawn } = makeWatch();
    const signals = { title: '✳ Claude', agentState: 'state=idle' };
    expect(drawn('ready', signals, { state: 'idle' })).toBeUndefined();
    expect(drawn('ready', signals)).toBe('its status file has gone');
    expect(drawn('ready', { ...signals, title: '' }, { state: 'idle' })).toBe('its title has gone');
    expect(drawn('ready', { ...signals, agentState: 'state=clear' }, { state: 'idle' })).toBe(
      'its state (OSC 7501) has gone',
    );
    expect(drawn('ready', signals, { state: 'idle' })).toBeUndefined();
  });
});

describe('a screen is trusted', () => {
  it('again when an agent works: a dead one draws nothing', () => {
    const { system, drawn, before } = makeWatch();
    drawn('ready');
    system.readers = ['10:1', '12:9'];
    expect(drawn('ready')).toBe(GONE);
    expect(drawn('busy')).toBeUndefined();
    expect(drawn('ready')).toBeUndefined();
    expect(before('ready')).toBeUndefined();
  });

  it('while helpers of the agent come and go, of which it has drawn something', () => {
    const { system, drawn, before } = makeWatch();
    drawn('ready');
    system.readers = ['10:1', '11:2', '12:9'];
    expect(before('ready')).toBe(GONE);
    expect(drawn('ready')).toBeUndefined();
    expect(before('ready')).toBeUndefined();
    system.readers = ['10:1', '11:2'];
    expect(before('ready')).toBeUndefined();
  });

  it('when a process was there at one look only, the one at which the agent was found', () => {
    const { system, drawn, before } = makeWatch();
    drawn('unknown');
    system.readers = ['10:1', '11:2', '12:9']; // the last one is a fork of the agent that is about to be given a pipe
    expect(drawn('ready')).toBeUndefined();
    system.readers = ['10:1', '11:2'];
    expect(before('ready')).toBeUndefined();
    system.readers = ['10:1'];
    expect(before('ready')).toBe(GONE);
  });

  it('but not without an agent that was first seen when it was found', () => {
    const { system, drawn, before } = makeWatch();
    system.readers = ['10:1'];
    drawn('unknown');
    system.readers = ['10:1', '11:2'];
    expect(drawn('ready')).toBeUndefined();
    expect(before('ready')).toBeUndefined();
    system.readers = ['10:1'];
    expect(before('ready')).toBe(GONE);
  });

  it('again when the agent is back in the foreground', () => {
    const { system, drawn, before } = makeWatch();
    drawn('ready');
    system.readers = ['20:5'];
    expect(drawn('unknown')).toBe(GONE);
    system.readers = ['10:1', '11:2'];
    expect(before('ready')).toBeUndefined();
  });

  it('where the system does not say who reads, and before an agent was seen', () => {
    const { system, drawn, before } = makeWatch();
    expect(drawn('unknown')).toBeUndefined();
    system.readers = ['10:1'];
    expect(before('unknown')).toBeUndefined();
    system.readers = undefined;
    expect(drawn('ready')).toBeUndefined();
    expect(before('ready')).toBeUndefined();
  });
});
