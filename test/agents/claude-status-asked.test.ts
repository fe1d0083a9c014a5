import { describe, expect, it } from 'vitest';
import type { OfficialLaunch } from '../../src/agents/agent.js';
import { ownStatusLine as line } from '../support/own-status-line.js';
import { asked, KNOWN, local, project, user } from '../support/status-plan.js';
import type { Texts } from '../support/status-plan.js';

describe('where the user has no status line', () => {
  const unknown = { isWindowSet: false } as const;
  it.each<readonly [string, Texts, Partial<OfficialLaunch>]>([
    ['no model is named', {}, {}],
    ['the model is an alias', { [user]: { model: 'opus' } }, {}],
    ['its name leaves the window open', {}, { args: ['--model', 'claude-opus-5-5'] }],
    ...['-c', '-r', '--continue', '--resume', '--resume=0f3a9c12'].map(
      (word) =>
        [
          `a conversation is continued (${word}), so that no banner may be seen`,
          {},
          { args: ['--model', 'claude-sonnet-4-6', word] },
        ] as const,
    ),
    [
      'the environment turns the large window on',
      {},
      {
        args: ['--model', 'claude-sonnet-4-6'],
        env: { ANTHROPIC_BETAS: 'context-1m-2025-08-07' },
      },
    ],
  ])('one that prints nothing is asked when %s', async (_, texts, given) => {
    expect(await asked(texts, { ...unknown, ...given })).toMatchObject({ own: 'exit 0' });
  });

  it.each<readonly [string, Texts, Partial<OfficialLaunch>]>([
    ['the user has said the window', {}, { isWindowSet: true }],
    ['the model is named on the command line', {}, { args: ['--model', 'claude-sonnet-4-6'] }],
    ['the model is named in the environment', {}, { env: { ANTHROPIC_MODEL: 'claude-opus-4-8[1m]' } }],
    ['the model is named in the settings', { [user]: { model: 'claude-haiku-4-5-20251001' } }, {}],
    [
      'the folder names the model',
      { [user]: { model: 'opus' }, [local]: { model: 'claude-sonnet-4-5' } },
      {},
    ],
    [
      'the model of a continued conversation has only one window',
      {},
      { args: ['--continue', '--model', 'claude-haiku-4-5'] },
    ],
    ['the large window is off', {}, { env: { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' } }],
    ['the window is cut to the usual size', {}, { env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' } }],
  ])('none is asked when %s', async (_, texts, given) => {
    expect(await asked(texts, { ...unknown, ...given })).toEqual({ left: KNOWN });
  });

  it('none is asked of a command that is not claude itself: it may know no --settings', async () => {
    const npx = { ...unknown, isOwnProgram: false, version: undefined };
    for (const texts of [{}, { [user]: line('u') }])
      expect(await asked(texts, npx)).toEqual({ left: 'the command is not claude itself' });
    expect(await asked({}, { ...unknown, isOwnProgram: false })).toMatchObject({ own: 'exit 0' }); // by another name
  });

  it.each<readonly [string, Texts, Partial<OfficialLaunch>]>([
    [
      'settings of an organisation',
      { '/etc/claude-code/managed-settings.json': { disableAllHooks: true } },
      {},
    ],
    ["the user's own switch", { [user]: { disableAllHooks: true } }, {}],
    ["the folder's status line", { [project]: line('p') }, {}],
    [
      'paths that count from the folder of --settings',
      {},
      {
        args: ['--settings', '{"permissions":{"allow":["Edit(/src/**)"]}}'],
      },
    ],
    ['the setting', {}, { statusLine: 'off' }],
  ])('%s stands against it all the same', async (_, texts, given) => {
    expect(await asked(texts, { ...unknown, ...given })).toHaveProperty('left');
  });
});

describe('a version that would not start with --settings, or has nothing to tell', () => {
  it.each(['1.0.30', '1.0.60', '1.0.128', '2.0.64'])('is left alone: %s', async (version) => {
    for (const statusLine of ['auto', 'on'] as const)
      expect(await asked({ [user]: line('u') }, { isWindowSet: false, statusLine, version })).toEqual({
        left: `version ${version} does not report the context; 2.0.65 is the first that does`,
      });
  });

  it.each(['2.0.65', '2.1.0', '3.0.0'])('is not %s', async (version) => {
    expect(await asked({}, { isWindowSet: false, version })).toMatchObject({ own: 'exit 0' });
  });
});

describe('a version that nothing tells', () => {
  const untold = { isWindowSet: false, version: undefined } as const;

  it('is not asked, for it may be one that does not start then', async () => {
    expect(await asked({}, untold)).toEqual({
      left: 'its files do not name its version, and an old version would not start with --settings',
    });
  });

  it.each<readonly [string, Texts, Partial<OfficialLaunch>]>([
    ['the user has a status line, which is younger than --settings', { [user]: line('u') }, {}],
    ['the user gives --settings themselves', {}, { args: ['--settings', '{}'] }],
    ['the user says so', {}, { statusLine: 'on' }],
  ])('is asked where %s', async (_, texts, given) => {
    expect(await asked(texts, { ...untold, ...given })).toHaveProperty('settings.statusLine');
  });
});
