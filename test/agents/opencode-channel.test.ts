import { describe, expect, it } from 'vitest';
import { opencodeChannel } from '../../src/agents/opencode/channel.js';

const launch = { args: ['--model', 'lab/lab-model'], env: {}, port: 4_300, password: 'secret' };

describe("opencode's server", () => {
  it('is opened on this machine only, behind a password that no option shows', () => {
    const plan = opencodeChannel.plan(launch);
    expect(plan).toEqual({
      kind: 'open',
      args: ['--port', '4300', '--hostname', '127.0.0.1', '--model', 'lab/lab-model'],
      env: { OPENCODE_SERVER_PASSWORD: 'secret' },
    });
  });

  it.each([
    ['--port', { args: ['--port', '9000'] }],
    ['--hostname', { args: ['--hostname=0.0.0.0'] }],
    ['--mdns', { args: ['--mdns'] }],
    ['a password', { env: { OPENCODE_SERVER_PASSWORD: 'mine' } }],
    ['a user', { env: { OPENCODE_SERVER_USERNAME: 'me' } }],
    ['attach', { args: ['attach', 'http://127.0.0.1:9000'] }],
  ])('is left to the user who starts opencode with %s', (_, change) => {
    expect(opencodeChannel.plan({ ...launch, ...change })).toMatchObject({ kind: 'leave' });
  });

  it.each([
    ['nothing is at work', {}, 'resting'],
    ['a session is at work', { ses_1: { type: 'busy' } }, 'busy'],
    ['a session waits between two requests', { ses_1: { type: 'idle' }, ses_2: { type: 'retry' } }, 'busy'],
    ['a session is in a state of a later version', { ses_1: 'paused' }, 'busy'],
    ['the answer has another form', 'busy', undefined],
  ])('says whether %s', (_, answer, expected) => {
    expect(opencodeChannel.stateIn(answer, undefined)).toBe(expected);
  });

  it.each([
    [true, true],
    [false, false],
    [{ name: 'NotFoundError' }, false],
    [undefined, false],
  ])('has taken the command when it answers true, not %j', (answer, expected) => {
    expect(opencodeChannel.isTaken(answer)).toBe(expected);
  });
});
