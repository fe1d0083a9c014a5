// The hooks that Claude Code is given for one launch, beside the hooks of the user.
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../src/core/json.js';
import { planHook, takeCommand } from '../../src/agents/claude/hooks.js';
import type { OfficialLaunch } from '../../src/agents/agent.js';
import { launch, portOf, project, user, type Texts } from '../support/status-plan.js';

const COMMAND = "'/usr/bin/node' /opt/ctxwrap hold";
const OURS = { matcher: 'auto', hooks: [{ type: 'command', command: COMMAND, timeout: 5 }] };

const planned = async (texts: Texts, given: Partial<OfficialLaunch> = {}, settings?: string) => {
  const hold = { kind: 'hold', command: COMMAND, settings } as const;
  const plan = await planHook(portOf(texts), { ...launch, ...given }, hold);
  return plan.kind === 'leave' ? plan.reason : { args: plan.args, settings: parseRecord(plan.settings) };
};

const NO_HOOKS = 'it runs no hooks with these arguments or this environment';

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
    expect(await planned({}, {}, settings)).toMatchObject({
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
      'managed settings control hooks',
      { '/etc/claude-code/managed-settings.json': { allowManagedHooksOnly: true } },
      {},
    ],
    [
      '--settings holds paths relative to its own folder',
      {},
      { args: ['--settings', '{"permissions":{"allow":["Edit(/src/**)"]}}'] },
    ],
  ])('is not given where %s', async (reason, texts, given) => {
    expect(await planned(texts, given)).toBe(reason);
  });
});

describe('the hook that adds context to the user’s next message', () => {
  const ours = { hooks: [{ type: 'command', command: takeCommand('/state/1-a.context.json'), timeout: 5 }] };
  const plannedContext = async (texts: Texts, given: Partial<OfficialLaunch> = {}, settings?: string) => {
    const plan = await planHook(portOf(texts), { ...launch, ...given }, { kind: 'context', settings });
    return plan.kind === 'leave' ? plan.reason : { args: plan.args, settings: parseRecord(plan.settings) };
  };

  it('is all that is added where the status line is not asked for', async () => {
    expect(await plannedContext({}, { args: ['-c'] })).toEqual({
      args: ['--settings', '/state/1-a.settings.json', '-c'],
      settings: { hooks: { UserPromptSubmit: [ours] } },
    });
  });

  it('comes behind the hooks that the user gives with --settings, and beside the hook that holds', async () => {
    const theirs = { hooks: [{ type: 'command', command: 'mine' }] };
    const settings = JSON.stringify({ hooks: { UserPromptSubmit: [theirs], PreCompact: [OURS] } });
    expect(await plannedContext({}, {}, settings)).toMatchObject({
      settings: { hooks: { UserPromptSubmit: [theirs, ours], PreCompact: [OURS] } },
    });
  });

  it('runs also in a folder whose settings have a status line, because it shows nothing', async () => {
    const line = { statusLine: { type: 'command', command: 'x' } };
    expect(await plannedContext({ [project]: line })).toMatchObject({
      settings: { hooks: { UserPromptSubmit: [ours] } },
    });
  });

  it.each<[string, Texts, Partial<OfficialLaunch>]>([
    ['claude.statusLine is off', {}, { statusLine: 'off' }],
    [NO_HOOKS, {}, { args: ['--safe-mode'] }],
    [NO_HOOKS, {}, { args: ['--bare'] }],
    [NO_HOOKS, {}, { env: { CLAUDE_CODE_SAFE_MODE: '1' } }],
    ['its files do not name its version', {}, { version: undefined }],
    ['its version 2.1.196 is older than 2.1.197', {}, { version: '2.1.196' }],
    ['it shows sessions that other processes run', {}, { args: ['agents'] }],
    ['the command is not claude itself', {}, { isOwnProgram: false }],
    ['the settings switch hooks off', { [user]: { disableAllHooks: true } }, {}],
    [
      'managed settings control hooks',
      { '/etc/claude-code/managed-settings.json': { allowManagedHooksOnly: true } },
      {},
    ],
    [
      '--settings holds paths relative to its own folder',
      {},
      { args: ['--settings', '{"permissions":{"allow":["Edit(/src/**)"]}}'] },
    ],
  ])('is not given where %s', async (reason, texts, given) => {
    expect(await plannedContext(texts, given)).toBe(reason);
  });
});
