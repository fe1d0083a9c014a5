import { describe, expect, it } from 'vitest';
import { statusCommand } from '../../src/agents/claude/status-line.js';
import type { OfficialLaunch } from '../../src/agents/agent.js';
import { asked, KNOWN, local, project, user, files } from '../support/status-plan.js';
import { ownStatusLine as line } from '../support/own-status-line.js';

describe('the status line that is chained', () => {
  const flag = (command: string) => ['--settings', JSON.stringify(line(command))];
  it.each([
    { name: 'the user', texts: { [user]: line('u') }, args: [], own: 'u' },
    {
      name: 'the command line over the user',
      texts: { [user]: line('u') },
      args: flag('f'),
      own: 'f',
    },
    { name: 'the last of two on the command line', texts: {}, args: [...flag('f'), ...flag('g')], own: 'g' },
    {
      name: 'a file on the command line',
      texts: { 'my.json': line('m') },
      args: ['--settings', 'my.json'],
      own: 'm',
    },
    {
      name: 'the user where the command line names no status line',
      texts: { [user]: line('u'), 'my.json': { model: 'opus' } },
      args: ['--settings=my.json'],
      own: 'u',
    },
    {
      name: 'only the sources that are asked for',
      texts: { [user]: line('u'), [project]: line('p'), [local]: line('l') },
      args: ['--setting-sources', 'user'],
      own: 'u',
    },
    {
      name: 'the user who works in the home folder',
      texts: { [user]: line('u') },
      args: [],
      more: { cwd: '/home/u' },
      own: 'u',
    },
    {
      name: 'not what follows the dashes',
      texts: { [user]: line('u') },
      args: ['--', '--settings', '{"statusLine":{"command":"x"}}'],
      own: 'u',
    },
    {
      name: 'not what is the value of another flag',
      texts: { [user]: line('u') },
      args: ['--append-system-prompt', '--settings', 'fix it'],
      own: 'u',
    },
    {
      name: 'a file with a byte order mark',
      texts: { [user]: `\uFEFF${JSON.stringify(line('u'))}` },
      args: [],
      own: 'u',
    },
    {
      name: 'the next one where a file is broken',
      texts: { [user]: line('u'), [local]: '{"stat' },
      args: [],
      own: 'u',
    },
  ])('is that of $name', async ({ texts, args, own, more }) => {
    expect(await asked(texts, { args, ...more })).toMatchObject({ own });
  });

  it('is looked for where CLAUDE_CONFIG_DIR says', async () => {
    const texts = { '/conf/settings.json': line('c'), [user]: line('u') };
    expect(await asked(texts, { env: { CLAUDE_CONFIG_DIR: '/conf' } })).toMatchObject({ own: 'c' });
  });

  it('keeps all its other fields, each from the strongest source that has it', async () => {
    const texts = {
      [user]: line('u', { padding: 2, refreshInterval: 5 }),
    };
    const args = ['--settings', JSON.stringify(line('l', { padding: 0 }))];
    expect(await asked(texts, { args })).toMatchObject({
      own: 'l',
      rest: { type: 'command', padding: 0, refreshInterval: 5 },
    });
  });

  it('is run as it is written, after ours', () => {
    expect(statusCommand('/r', "a 'b'\nc # d").split('\n').slice(1).join('\n')).toBe("a 'b'\nc # d");
  });
});

describe('the arguments', () => {
  const texts = { [user]: line('u'), 'my.json': { model: 'opus', env: { A: '1' } } };
  it.each([
    { args: [], becomes: ['--settings', files.settings] },
    {
      args: ['fix it', '--model', 'opus'],
      becomes: ['--settings', files.settings, 'fix it', '--model', 'opus'],
    },
    {
      args: ['-c', '--', '--settings', 'x'],
      becomes: ['--settings', files.settings, '-c', '--', '--settings', 'x'],
    },
    {
      args: ['--model', 'opus', '--settings', 'my.json', '-c', 'fix it'],
      becomes: ['--model', 'opus', '--settings', files.settings, '-c', 'fix it'],
    },
    { args: ['--settings=my.json', 'fix it'], becomes: [`--settings=${files.settings}`, 'fix it'] },
    {
      args: ['--settings', '{}', '--settings=my.json'],
      becomes: ['--settings', files.settings, `--settings=${files.settings}`],
    },
    {
      args: ['--add-dir', '/a', '--settings', 'my.json'],
      becomes: ['--add-dir', '/a', '--settings', files.settings],
    },
  ])('$args become $becomes', async ({ args, becomes }) => {
    expect(await asked(texts, { args })).toMatchObject({ args: becomes });
  });

  it("keep what the user's own --settings says", async () => {
    expect(await asked(texts, { args: ['--settings', 'my.json'] })).toMatchObject({
      settings: { model: 'opus', env: { A: '1' }, statusLine: { type: 'command' } },
    });
  });
});

describe('Claude is left alone', () => {
  const mine = { [user]: line('u') };
  it.each([
    { when: 'it is switched off', texts: mine, more: { statusLine: 'off' } },
    { when: KNOWN, texts: { [user]: { model: 'opus' } } },
    { when: KNOWN, texts: { [user]: line('  ') } },
    {
      when: 'the value of --settings cannot be read as JSON',
      texts: mine,
      more: { args: ['--settings', 'none.json'] },
    },
    {
      when: 'the value of --settings cannot be read as JSON',
      texts: mine,
      more: { args: ['--settings', '{"a":}'] },
    },
    {
      when: 'the value of --settings cannot be read as JSON',
      texts: mine,
      more: { args: ['--settings', '[1]'] },
    },
    { when: 'the value of --settings cannot be read as JSON', texts: mine, more: { args: ['--settings='] } },
    {
      when: 'the value of --settings cannot be read as JSON',
      texts: mine,
      more: { args: ['-c', '--settings'] },
    },
    {
      when: 'managed settings control the status line',
      texts: { ...mine, '/etc/claude-code/managed-settings.json': line('m') },
    },
    {
      when: 'managed settings control the status line',
      texts: { ...mine, '/etc/claude-code/managed-settings.d/10.json': { allowManagedHooksOnly: true } },
    },
    {
      when: 'managed settings control the status line',
      texts: { ...mine, '/home/u/.claude/remote-settings.json': { disableAllHooks: true } },
      more: { statusLine: 'on' },
    },
    {
      when: 'your settings disable status lines',
      texts: { ...mine, [project]: { disableAllHooks: true } },
    },
    {
      when: '--settings holds paths relative to its own folder',
      texts: mine,
      more: { args: ['--settings', '{"permissions":{"deny":["Read(/secret/**)"]}}'] },
    },
    ...[
      { [project]: line('p') },
      { ...mine, [project]: line('p') },
      { ...mine, [local]: line('l') },
      { ...mine, [project]: { statusLine: { padding: 9 } } },
      { ...mine, [local]: { statusLine: 'odd' } },
    ].flatMap((texts) =>
      (['auto', 'on'] as const).map((statusLine) => ({
        when: "this folder's .claude settings have a status line, and only Claude can ask you whether to trust it",
        texts,
        more: { statusLine },
      })),
    ),
    {
      when: "this folder's .claude settings have a status line, and only Claude can ask you whether to trust it",
      texts: { ...mine, [project]: line('p') },
      more: { args: ['--settings', JSON.stringify(line('f'))] },
    },
  ] as const)('when $when', async ({ when, texts, ...rest }) => {
    const more: Partial<OfficialLaunch> = 'more' in rest ? rest.more : {};
    expect(await asked(texts, more)).toEqual({ left: when });
  });

  it('but not for rules that mean the same anywhere, and not for managed settings about other things', async () => {
    const permissions = { allow: ['Bash(/usr/bin/make:*)', 'Read(//etc/**)', 'Read(~/x)', 'Edit(src/**)'] };
    const texts = { ...mine, '/etc/claude-code/managed-settings.json': { model: 'opus' } };
    const args = ['--settings', JSON.stringify({ permissions })];
    expect(await asked(texts, { args })).toMatchObject({ own: 'u', settings: { permissions } });
  });

  it('unless it is to be asked in any case: then nothing is printed', async () => {
    expect(await asked({}, { statusLine: 'on' })).toMatchObject({
      args: ['--settings', files.settings],
      own: 'exit 0',
      rest: { type: 'command' },
    });
  });
});
