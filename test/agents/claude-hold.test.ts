// The hook that Claude Code is given for one launch, beside the hooks of the user.
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../src/core/json.js';
import { installNativeHold } from '../../src/agents/claude/status-line.js';
import type { NativeHoldHook, OfficialLaunch } from '../../src/agents/agent.js';
import { launch, portOf, project, user, type Texts } from '../support/status-plan.js';

const COMMAND = "'/usr/bin/node' /opt/ctxwrap hold";
const OURS = { matcher: 'auto', hooks: [{ type: 'command', command: COMMAND, timeout: 5 }] };

const planned = async (
  texts: Texts,
  given: Partial<OfficialLaunch> = {},
  more: Partial<NativeHoldHook> = {},
) => {
  const hold = { command: COMMAND, settings: undefined, ...more };
  const plan = await installNativeHold(portOf(texts), { ...launch, ...given }, hold);
  return plan.kind === 'leave' ? plan.reason : { args: plan.args, settings: parseRecord(plan.settings) };
};

describe('the hook before Claude’s own compaction', () => {
  it('is all that is added where nothing else is asked', async () => {
    expect(await planned({}, { args: ['-c'] })).toEqual({
      args: ['--settings', '/state/1-a.settings.json', '-c'],
      settings: { hooks: { PreCompact: [OURS] } },
    });
  });

  it('comes behind the hooks that the user gives with --settings, of which none is lost', async () => {
    const theirs = { matcher: 'auto', hooks: [{ type: 'command', command: 'mine' }] };
    const stop = [{ hooks: [{ type: 'command', command: 'bell' }] }];
    const own = { model: 'opus', hooks: { PreCompact: [theirs], Stop: stop } };
    expect(await planned({ 'my.json': own }, { args: ['--settings=my.json'] })).toEqual({
      args: ['--settings=/state/1-a.settings.json'],
      settings: { model: 'opus', hooks: { PreCompact: [theirs, OURS], Stop: stop } },
    });
  });

  it('goes into the settings that ask for the numbers', async () => {
    const settings = '{"statusLine":{"type":"command","command":"x"},"hooks":{"Stop":[]}}';
    expect(await planned({}, {}, { settings })).toMatchObject({
      settings: { statusLine: { command: 'x' }, hooks: { Stop: [], PreCompact: [OURS] } },
    });
  });

  it('leaves the hooks in the user’s and the folder’s files to Claude, which runs them, too', async () => {
    const theirs = { hooks: { PreCompact: [{ hooks: [{ type: 'command', command: 'mine' }] }] } };
    expect(await planned({ [user]: theirs, [project]: theirs })).toMatchObject({
      settings: { hooks: { PreCompact: [OURS] } },
    });
  });

  it.each<[string, Texts, Partial<OfficialLaunch>]>([
    ['the command is not claude itself', {}, { isOwnProgram: false }],
    ['its version 1.0.30 does not know --settings: 1.0.61 is the first', {}, { version: '1.0.30' }],
    ['the value of --settings cannot be read as JSON', {}, { args: ['--settings', 'none.json'] }],
    ['the settings switch hooks off', { [user]: { disableAllHooks: true } }, {}],
    [
      'managed settings rule over hooks',
      { '/etc/claude-code/managed-settings.json': { allowManagedHooksOnly: true } },
      {},
    ],
    [
      '--settings holds paths that count from its own folder',
      {},
      { args: ['--settings', '{"permissions":{"allow":["Edit(/src/**)"]}}'] },
    ],
  ])('is not given where %s', async (reason, texts, given) => {
    expect(await planned(texts, given)).toBe(reason);
  });
});
