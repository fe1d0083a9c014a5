import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Check, DoctorReport } from '../../src/core/report/doctor-report.js';
import { canReadDatabases } from '../../src/storage/database.js';
import { agents } from '../../src/agents/index.js';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const examined = async (...options: readonly string[]) => {
  const { stdout, code } = await ctxwrap([...options, 'doctor', '--json'], bench);
  const report = JSON.parse(stdout) as DoctorReport;
  const check = (title: string, name: string): Check | undefined =>
    report.sections.find((each) => each.title === title)?.checks.find((each) => each.name === name);
  return { report, code, check };
};
const agent = (name: string, version: string): string =>
  bench.program(name, `#!/bin/sh\n[ "$1" = --version ] && echo "${version}"\n`);
const file = (path: string, text: string): string => {
  mkdirSync(join(bench.folder, path, '..'), { recursive: true });
  writeFileSync(join(bench.folder, path), text);
  return join(bench.folder, path);
};

describe('ctxwrap doctor', () => {
  it('finds nothing wrong on a fresh machine, where most things are not there yet', async () => {
    const { report, code, check } = await examined();
    expect(code).toBe(0);
    expect(report).toMatchObject({
      schema: 'ctxwrap.doctor/1',
      status: 'ok',
      problems: 0,
      warnings: 0,
    });
    expect(check('System', 'node')).toMatchObject({ status: 'ok' });
    expect(check('System', 'pty')).toMatchObject({ status: 'ok' });
    expect(check('Terminal', 'terminal')).toMatchObject({ status: 'none' });
    expect(check('State', 'folder')).toMatchObject({ status: 'ok' });
    expect(check('State', 'folder')?.text).toContain('will create');
    expect(check('Configuration', 'file')).toMatchObject({ status: 'none' });
    expect(check('codex', 'program')).toMatchObject({
      status: 'none',
      text: 'not installed',
      fix: 'npm install -g @openai/codex',
    });
  });

  it('ends with how much it has found', async () => {
    const lastLine = async (): Promise<string | undefined> => {
      const { stdout } = await ctxwrap(['doctor'], bench);
      return stdout.trimEnd().split('\n').at(-1);
    };
    expect(await lastLine()).toBe('0 problems, 0 warnings');
    bench.env['CTXWRAP_DISABLE'] = '1';
    expect(await lastLine()).toBe('0 problems, 1 warning');
    file('.local/state/ctxwrap', 'no folder');
    expect(await lastLine()).toBe('1 problem, 1 warning');
    const { report, code } = await examined();
    expect({ ...report, code }).toMatchObject({ status: 'fail', problems: 1, warnings: 1, code: 1 });
  });

  it('marks what is not there with a dash, in ASCII where nothing else can be drawn', async () => {
    const row = async () => {
      const { stdout } = await ctxwrap(['doctor'], bench);
      return /^codex\n(.*)\n(.*)$/m.exec(stdout)?.slice(1);
    };
    const command = '                      run: npm install -g @openai/codex';
    expect(await row()).toEqual(['  –    program        not installed', command]);
    bench.env['LANG'] = 'C';
    expect(await row()).toEqual(['  -    program        not installed', command]);
  });

  it('does not take a session that is over for one around it', async () => {
    bench.env['CTXWRAP_SESSION'] = `${2 ** 30}-a`;
    expect((await examined()).check('System', 'inside')).toBeUndefined();
    bench.env['CTXWRAP_SESSION'] = `${process.pid}-a`;
    expect((await examined()).check('System', 'inside')?.text).toContain(`session ${process.pid}-a`);
  });

  it('knows whether the status line is used, by the setting for it', async () => {
    agent('claude', '2.1.330');
    const used = async (...options: readonly string[]) =>
      (await examined(...options)).check('claude', 'status line');
    expect(await used('--claude-status-line', 'off')).toMatchObject({
      status: 'none',
      text: 'not used: it is switched off',
    });
    expect((await used('--claude-status-line', 'on'))?.text).toBe('ctxwrap adds one to get exact numbers');
    file('.claude/settings.json', '{"statusLine":{"type":"command","command":"date"}}');
    expect(await used()).toMatchObject({ status: 'ok' });
    expect((await used())?.text).toBe('ctxwrap gets exact numbers through yours, which looks the same');
  });

  it('knows whether the hook for context is used, also where the window is set', async () => {
    const name = '@anthropic-ai/claude-code';
    file(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '2.1.330' }));
    symlinkSync(agent(`node_modules/${name}/cli.js`, '2.1.330'), join(bench.folder, 'claude'));
    const hook = async (...options: readonly string[]) =>
      (await examined(...options)).check('claude', 'hook');
    const text = 'context that you give back is sent with your next message';
    expect(await hook('--window', '1M')).toMatchObject({ status: 'ok', text });
    file('.claude/settings.json', '{"disableAllHooks":true}');
    expect((await hook())?.text).toBe(
      'not used: the settings switch hooks off; context is given back as a draft',
    );
  });

  it('says whether this Node can read the database of an agent that keeps its sessions in one', async () => {
    agent('opencode', '1.18.33');
    file('.local/share/opencode/opencode.db', '');
    const check = (await examined()).check('opencode', 'sessions');
    const text = expect.stringContaining('numbers come only from the screen') as string;
    expect(check).toMatchObject(
      canReadDatabases() ? { status: 'ok' } : { status: 'warn', text, fix: 'install Node 22.13 or newer' },
    );
  });

  it.skipIf(process.getuid?.() !== 0)(
    'finds session files of another user, which the black box does not keep (skipped where no other user can be made)',
    async () => {
      agent('claude', '2.1.330');
      const path = file('.claude/projects/-p/0f3a2b1c-aaaa-4bbb-8ccc-1234567890ab.jsonl', '{}\n');
      const found = async (...options: readonly string[]) =>
        (await examined(...options)).check('claude', 'black box');
      expect(await found()).toBeUndefined();
      chownSync(path, 12_345, 12_345);
      expect((await found())?.text).toContain('another user (id 12345)');
      bench.env['CTXWRAP_BLACKBOX'] = 'off';
      expect(await found()).toBeUndefined();
    },
  );

  it('knows how long transcripts are kept, only of an agent that is installed', async () => {
    file('.claude/settings.json', '{"cleanupPeriodDays":90}');
    expect((await examined()).check('claude', 'transcripts')).toBeUndefined();
    agent('claude', '2.1.330');
    expect((await examined()).check('claude', 'transcripts')).toMatchObject({
      status: 'ok',
      text: 'claude keeps transcripts for 90 days (cleanupPeriodDays = 90 in ~/.claude/settings.json)',
    });
  });

  it('knows an agent by its version, and says where the tiers begin and why', async () => {
    const path = agent('codex', 'codex-cli 0.169.0');
    agent('claude', '2.9.9 (Claude Code)');
    const { check } = await examined('--window', '100k');
    expect(check('codex', 'program')).toMatchObject({ status: 'ok', text: path });
    expect(check('codex', 'version')).toMatchObject({ status: 'ok', text: '0.169.0, a tested version' });
    expect(check('claude', 'version')).toMatchObject({
      status: 'warn',
      text: `2.9.9 was not tested; 2.1.197 to ${agents.claude.home?.played[0]} were`,
      fix: 'ctxwrap verify claude',
    });
    expect(check('codex', 'window')?.text).toBe('100,000 tokens, as you set it; usually 258,400');
    expect(check('codex', 'auto')?.text).toMatch(/^70,000: /);
    expect(check('claude', 'status line')).toMatchObject({ status: 'none' });
    expect(check('claude', 'status line')?.text).toContain('not used');
  });

  it.each([
    [
      'codex',
      '.codex/config.toml',
      'model = "x"\nmodel_auto_compact_token_limit = 50_000\n',
      'not 200,000: codex compacts on its own at 50,000 (model_auto_compact_token_limit = 50_000 in ',
    ],
    [
      'gemini',
      '.gemini/settings.json',
      '{ "model": { "compressionThreshold": 0.4 } }',
      'not 838,860: gemini compacts on its own at 419,430 (model.compressionThreshold = 0.4 in ',
    ],
    [
      'qwen',
      '.qwen/settings.json',
      '// mine\n{"context":{"autoCompactThreshold":0.5}}',
      'not 800,000: qwen compacts on its own at 500,000 (context.autoCompactThreshold = 0.5 in ',
    ],
  ])(
    'follows a setting of %s, and says that a limit above it cannot be reached',
    async (name, path, text, told) => {
      agent(name, '1.0.0');
      file(path, text);
      const { check: plain } = await examined();
      expect(plain(name, 'auto')?.text).toMatch(/^[\d,]+: [\d,]+ before \w+ compacts on its own at /);
      expect(plain(name, 'own compaction')).toMatchObject({ status: 'ok' });
      const { check } = await examined('--auto', name === 'codex' ? '200k' : '80%');
      expect(check(name, 'own compaction')).toMatchObject({ status: 'ok' });
      expect(check(name, 'own compaction')?.text).toContain(told);
      expect(check(name, 'auto')?.text).toMatch(/; your limit of [\d,]+ comes too late for /);
    },
  );

  it.each([
    ['claude', '.claude.json', '{"autoCompactEnabled": false}', 'does not compact on its own'],
    [
      'gemini',
      '.gemini/settings.json',
      '{ "model": { "compressionThreshold": 1 } }',
      'does not compact on its own',
    ],
    ['codex', '.codex/config.toml', 'model_auto_compact_token_limit = 240000', "ctxwrap's auto comes first"],
  ])('finds nothing wrong where %s compacts later or not at all', async (name, path, text, told) => {
    agent(name, '1.0.0');
    file(path, text);
    const { check } = await examined();
    expect(check(name, 'own compaction')).toMatchObject({ status: 'ok' });
    expect(check(name, 'own compaction')?.text).toContain(told);
  });

  it('tells rubbish from silence, and says what a setting means where nothing of ours is typed', async () => {
    bench.program('claude', '#!/bin/sh\necho welcome\n');
    agent('codex', '0.169.0');
    file('.codex/config.toml', 'model_auto_compact_token_limit = 50000');
    bench.env['CTXWRAP_DISABLE'] = 'no';
    const { check } = await examined('--ladder', 'handoff');
    expect(check('claude', 'version')?.text).toBe('claude --version printed no version number');
    expect(check('codex', 'own compaction')).toMatchObject({ status: 'ok' });
    expect(check('codex', 'own compaction')?.text).toContain('with this ladder ctxwrap never compacts');
    expect(check('System', 'disabled')).toBeUndefined();
  });

  it('finds the agent behind a shim, and says when there is none', async () => {
    const shims = join(bench.folder, 'shims');
    mkdirSync(shims);
    for (const name of ['qwen', 'gemini']) {
      writeFileSync(join(shims, name), `#!/bin/sh\nexec ctxwrap ${name} "$@"\n`, { mode: 0o755 });
    }
    agent('qwen', '0.24.4');
    bench.env['PATH'] = `${shims}:${bench.env['PATH'] ?? ''}`;
    const { check, code } = await examined();
    expect(check('qwen', 'shim')?.text).toContain(join(shims, 'qwen'));
    expect(check('qwen', 'program')?.text).toBe(join(bench.folder, 'qwen'));
    expect(check('gemini', 'program')).toMatchObject({
      status: 'fail',
      fix: 'npm install -g @google/gemini-cli',
    });
    expect(code).toBe(1);
  });

  it('fails where our folder is a link to one that others can change, and warns where they can look into it', async () => {
    const state = join(bench.folder, '.local/state');
    mkdirSync(join(state, 'elsewhere'), { recursive: true, mode: 0o700 });
    symlinkSync('elsewhere', join(state, 'ctxwrap'));
    expect((await examined()).check('State', 'folder')).toMatchObject({ status: 'ok' });
    chmodSync(join(state, 'elsewhere'), 0o777);
    expect((await examined()).check('State', 'folder')).toMatchObject({ status: 'fail' });
    bench.env['XDG_STATE_HOME'] = join(bench.folder, 'open');
    mkdirSync(join(bench.folder, 'open/ctxwrap'), { recursive: true });
    chmodSync(join(bench.folder, 'open/ctxwrap'), 0o755);
    const folder = (await examined()).check('State', 'folder');
    expect(folder).toMatchObject({ status: 'warn', fix: `chmod 700 ${bench.folder}/open/ctxwrap` });
  });

  it('fails where our folder cannot be made, and warns where the configuration cannot', async () => {
    file('plain', '');
    file('.config/ctxwrap', 'a file');
    bench.env['XDG_STATE_HOME'] = join(bench.folder, 'plain/state');
    const plain = join(bench.folder, 'plain');
    const { check } = await examined();
    expect(check('State', 'folder')).toMatchObject({
      status: 'fail',
      text: `ctxwrap cannot create ${plain}/state/ctxwrap (${plain}: not a folder)`,
      fix: `mv ${plain} ${plain}.old`,
    });
    expect(check('Configuration', 'folder')).toMatchObject({
      status: 'warn',
      text: `ctxwrap config init cannot write the file (${bench.folder}/.config/ctxwrap: not a folder)`,
    });
    bench.env['XDG_STATE_HOME'] = '/proc'; // where nobody can make a folder
    expect((await examined()).check('State', 'folder')).toMatchObject(
      process.platform === 'linux'
        ? { status: 'fail', fix: 'XDG_STATE_HOME="$(mktemp -d)" ctxwrap doctor' }
        : {},
    );
    bench.env['XDG_STATE_HOME'] = '/dev/null/state';
    expect((await examined()).check('State', 'folder')?.fix).toBe(
      'XDG_STATE_HOME="$(mktemp -d)" ctxwrap doctor',
    );
    bench.env['XDG_STATE_HOME'] = join(bench.folder, 'state');
    expect((await examined()).check('State', 'folder')).toMatchObject({ status: 'ok' });
    expect(readdirSync(bench.folder).filter((name) => name.startsWith('.ctxwrap'))).toEqual([]);
  });

  it('says what is wrong with the configuration, and knows agents of your own', async () => {
    const agents = { toy: { command: 'toy-agent' }, codex: { window: 100_000 } };
    file('.config/ctxwrap/config.jsonc', JSON.stringify({ mode: 'sometimes', runtimes: agents }));
    const toy = agent('toy-agent', '1.0.0');
    agent('codex', '0.169.0');
    const { check, code } = await examined();
    expect(code).toBe(1);
    expect(check('Configuration', 'file')).toBeUndefined(); // it is not fine, and the next row says why
    expect(check('Configuration', 'value')).toMatchObject({ status: 'fail' });
    expect(check('Configuration', 'value')?.text).toContain('config.jsonc:1:');
    expect(check('Configuration', 'value')?.text).toContain('mode is "sometimes"');
    expect(check('toy', 'program')?.text).toContain(toy);
    expect(check('codex', 'window')?.text).toBe('100,000 tokens, as you set it; usually 258,400');
  });

  it.each([30, 80])('cuts no path and breaks no command in %i columns', async (columns) => {
    const state = join(bench.folder, 'a folder of a rather long name', 'state');
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, 'ctxwrap'), '');
    bench.env['XDG_STATE_HOME'] = state;
    bench.env['COLUMNS'] = `${columns}`;
    const { stdout } = await ctxwrap(['doctor'], bench);
    const path = join(state, 'ctxwrap');
    expect(stdout).toContain(`fix: mv '${path}' '${path}.old'\n`);
    expect(stdout).not.toContain('…');
    const wide = stdout.split('\n').filter((line) => line.length > columns && !/(?:fix|run): /.test(line));
    expect(wide.filter((line) => !line.includes('/'))).toEqual([]); // a path may be as long as it is, and a command
  });

  it('asks the terminal, and does not wait long for one that says nothing', async () => {
    const silent = inTerminal(process.execPath, [bin, 'doctor'], bench);
    await silent.ended;
    expect(silent.output()).toContain('the terminal did not answer within a');
    const talking = inTerminal(process.execPath, [bin, 'doctor'], bench);
    await talking.seen(/\x1b\[c/);
    talking.type('\x1bP>|WezTerm 2026\x1b\\\x1b[?2026;2$yq\x1b[?0u\x1b[?65;1;9c');
    await talking.ended;
    expect(talking.output()).toContain('WezTerm 2026 (TERM=xterm-256color)');
    expect(talking.output()).toContain(
      'answered; supports synchronized output and the kitty keyboard protocol',
    );
  });
});

describe('the versions that doctor takes for known', () => {
  const names = ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'copilot', 'kimi'] as const;
  it.each(names)('are those of %s in docs/agents.md', (name) => {
    const page = readFileSync(new URL('../../docs/agents.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith(`| ${name} | `));
    const [first, ...others] = rows.map((line) => line.split(' | ')[1] ?? '');
    const played = agents[name].home?.played ?? [];
    expect(first).toBe(played.join(', '));
    expect(others.filter((cell) => /^\d[\w.]*$/.test(cell))).toEqual(played);
  });
});
