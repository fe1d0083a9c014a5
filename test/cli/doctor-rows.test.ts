// Every row of `ctxwrap doctor` in every state, from made-up facts.
import { autoTheme } from '../../src/core/config/theme.js';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { definedAgentSection } from '../../src/cli/commands/doctor-agents.js';
import { systemSection, terminalSection } from '../../src/cli/commands/doctor-checks.js';
import type { SystemFacts, TerminalFacts } from '../../src/cli/commands/doctor-checks.js';
import { configSection, folderSection } from '../../src/cli/commands/doctor-files.js';
import type { ConfigFacts, FolderFacts } from '../../src/cli/commands/doctor-files.js';
import { problemAt, type Problem } from '../../src/core/config/problem.js';
import { doctorReport, fail, none, ok, warn } from '../../src/core/report/doctor-report.js';
import { verifiedRecord } from '../support/verified.js';
import { doctorOf, record, rowIn } from '../support/boundaries.js';
import { startSession } from '../../src/core/session.js';

const [newest, ...before] = agents.claude.home?.played ?? [];

describe('the report', () => {
  it('counts what failed and what it warns of, and nothing else', () => {
    const checks = [ok('a', ''), none('b', ''), warn('c', ''), warn('d', ''), fail('e', '')];
    expect(doctorReport('1', [{ title: '', checks }])).toMatchObject({
      status: 'fail',
      problems: 1,
      warnings: 2,
    });
    expect(doctorReport('1', [{ title: '', checks: checks.slice(0, 2) }])).toMatchObject({
      status: 'ok',
      problems: 0,
      warnings: 0,
    });
  });
});

describe('the system', () => {
  const system = (name: string, more: Partial<SystemFacts> = {}) => {
    const facts = { node: '22.1.0', platform: 'linux', arch: 'x64', env: {}, ptyFailure: undefined };
    return rowIn(systemSection({ ...facts, isInitActive: false, isInside: false, ...more }), name);
  };
  const bash = 'command -v ctxwrap >/dev/null && eval "$(ctxwrap init bash)"';

  it.each<readonly [string, Partial<SystemFacts>, string | undefined]>([
    ['node', {}, 'ok: Node 22.1.0'],
    ['node', { node: '18.2.0' }, 'fail: Node 18.2.0 is too old → install Node 20 or newer'],
    ['platform', {}, 'ok: linux x64'],
    [
      'platform',
      { platform: 'win32' },
      'fail: ctxwrap does not support win32 → use ctxwrap on Linux or macOS',
    ],
    ['pty', {}, 'ok: ctxwrap can open pseudo-terminals'],
    [
      'pty',
      { ptyFailure: 'no module' },
      'fail: ctxwrap cannot open a pseudo-terminal: no module → npm install -g ctxwrap',
    ],
    ['shell', { isInitActive: true }, 'ok: ctxwrap init is active in this shell'],
    [
      'shell',
      { env: { SHELL: '/bin/bash' } },
      `none: ctxwrap init is not active in this shell; to wrap agents in every new one, add this line to ~/.bashrc → ${bash}`,
    ],
    [
      'shell',
      { env: { SHELL: '/usr/bin/fish' } },
      'none: ctxwrap init is not active in this shell; to wrap agents in every new one, add this line to ~/.config/fish/config.fish → command -q ctxwrap; and ctxwrap init fish | source',
    ],
    [
      'shell',
      { env: { SHELL: '/usr/bin/nu' } },
      'none: your shell is /usr/bin/nu; ctxwrap init supports bash, zsh, fish',
    ],
    ['shell', {}, 'none: SHELL is not set; ctxwrap init supports bash, zsh, fish'],
    ['disabled', {}, undefined],
    [
      'disabled',
      { env: { CTXWRAP_DISABLE: '1' } },
      'warn: CTXWRAP_DISABLE is set, so agents run without ctxwrap → unset CTXWRAP_DISABLE',
    ],
    ['inside', { env: { CTXWRAP_SESSION: '7-a' } }, undefined], // a session that is over
    [
      'inside',
      { env: { CTXWRAP_SESSION: '7-a' }, isInside: true },
      'ok: you are inside session 7-a; agents are not wrapped twice',
    ],
  ])('has for %s with %j: %s', (name, facts, expected) => {
    expect(system(name, facts)).toBe(expected);
  });
});

describe('the terminal', () => {
  const env = { TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  const facts: TerminalFacts = {
    env,
    terminal: { size: { columns: 80, rows: 24 }, answers: { answers: true } },
    footer: true,
    theme: autoTheme,
  };
  const terminal = (name: string, more: Partial<TerminalFacts> = {}) =>
    rowIn(terminalSection({ ...facts, ...more }), name);
  const small = { size: { columns: 60, rows: 5 }, answers: { answers: false } };
  const large = { ...small, size: { columns: 80, rows: 24 } };

  it.each<readonly [string, Partial<TerminalFacts>, string | undefined]>([
    ['terminal', {}, 'ok: TERM=xterm-256color'],
    [
      'terminal',
      { env: { ...env, TERM_PROGRAM: 'toy', TMUX: 'x' } },
      'ok: toy (TERM=xterm-256color, inside tmux)',
    ],
    ['terminal', { env: {} }, 'ok: TERM is not set'],
    ['size', {}, 'ok: 80 × 24'],
    [
      'size',
      { terminal: small },
      'warn: 60 × 5 is too small for the footer → make the terminal at least 20 columns by 8 rows',
    ],
    [
      'size',
      { terminal: { ...small, size: { columns: 0, rows: 0 } } },
      'warn: the terminal does not report its size, so there is no footer → stty cols 80 rows 24',
    ],
    ['size', { terminal: small, footer: false }, 'ok: 60 × 5'],
    ['footer', {}, undefined],
    ['footer', { footer: false }, 'none: off (your setting)'],
    ['queries', {}, 'ok: answered'],
    [
      'queries',
      { terminal: { ...large, answers: { answers: true, synchronized: true } } },
      'ok: answered; supports synchronized output',
    ],
    [
      'queries',
      { terminal: large },
      'warn: the terminal did not answer within a second, so the footer may start in the wrong row → use ctxwrap --no-footer, or another terminal',
    ],
    // without a footer nothing can go wrong with it
    ['queries', { terminal: small }, 'none: the terminal did not answer within a second'],
    ['queries', { terminal: large, footer: false }, 'none: the terminal did not answer within a second'],
    ['colours', {}, 'ok: 256'],
    ['colours', { env: { TERM: 'xterm' } }, 'ok: 16'],
    ['colours', { env: { ...env, COLORTERM: 'truecolor' } }, 'ok: true colour'],
    ['colours', { env: { TERM: 'screen', COLORTERM: 'truecolor' } }, 'ok: 16'], // as the footer has it
    ['colours', { env: { ...env, NO_COLOR: '1' } }, 'ok: none, because NO_COLOR=1'],
    ['colours', { env: { ...env, FORCE_COLOR: '0' } }, 'ok: none, because FORCE_COLOR=0'],
    ['colours', { theme: { preset: 'mono' } }, 'ok: none, because the theme is mono'],
    ['colours', { env: { TERM: 'vt100-m' } }, 'ok: none'],
    ['characters', {}, 'ok: Unicode (LANG=C.UTF-8)'],
    ['characters', { env: { TERM: 'xterm' } }, 'ok: Unicode (no locale is set)'],
    [
      'characters',
      { env: { ...env, TERM: 'linux' } },
      'ok: ASCII, because the Linux console has few other characters',
    ],
    [
      'characters',
      { env: { ...env, LC_ALL: 'C' } },
      'warn: LC_ALL=C is not UTF-8, so ctxwrap draws in ASCII → export LC_ALL=C.UTF-8',
    ],
  ])('has for %s with %j: %s', (name, more, expected) => {
    expect(terminal(name, more)).toBe(expected);
  });

  it('is one row where it was not asked, and where nothing is drawn in it', () => {
    expect(terminalSection({ ...facts, terminal: undefined }).checks).toEqual([
      none('terminal', 'not checked, because input or output is not a terminal'),
    ]);
    expect(terminalSection({ ...facts, env: { ...env, TERM: 'dumb' } }).checks).toEqual([
      fail('terminal', 'TERM is dumb, so agents run without ctxwrap', 'export TERM=xterm-256color'),
    ]);
  });
});

describe('the state folder', () => {
  const mine = { mode: 0o40_700, isOwn: true, isFolder: true };
  const denied = { path: '/h/s', reason: 'permission denied', kind: 'folder', isOwn: true } as const;
  const state = (name: string, more: Partial<FolderFacts> = {}) =>
    rowIn(
      folderSection({
        folder: '/h/s/ctxwrap',
        stats: mine,
        obstacle: undefined,
        sessions: [],
        blackBox: { isOn: true, sessions: 0, usedBytes: 0, limitBytes: 2e9, damaged: 0 },
        home: '/h',
        ...more,
      }),
      name,
    );
  const session = (liveness: 'live' | 'stale' | 'failed' | 'dead' | 'ended') => ({
    record: {
      ...record(startSession({ agent: 'claude' }, 0)),
      pid: 4711,
      evidence: { records: true, screen: true, state: false },
    },
    liveness,
  });

  const box = { isOn: true, sessions: 3, usedBytes: 34e6, limitBytes: 2e9, damaged: 0 };

  it.each<readonly [string, Partial<FolderFacts>, string | undefined]>([
    ['black box', { blackBox: box }, 'ok: on, 34 MB of 2 GB used by 3 sessions'],
    [
      'black box',
      { stats: undefined, blackBox: { ...box, sessions: 1 } },
      'ok: on, 34 MB of 2 GB used by 1 session',
    ],
    [
      'black box',
      { blackBox: { ...box, isOn: false } },
      'none: off (your setting); 34 MB of 2 GB used by 3 sessions → ctxwrap checkpoint prune --all',
    ],
    ['black box', { blackBox: { ...box, isOn: false, sessions: 0 } }, 'none: off (your setting)'],
    [
      'black box',
      { blackBox: { ...box, damaged: 1 } },
      'warn: 34 MB of 2 GB used by 3 sessions; 1 record cannot be read → ctxwrap checkpoint list',
    ],
    [
      'black box',
      { blackBox: undefined },
      'warn: ctxwrap cannot read /h/s/ctxwrap/checkpoints → chmod 700 /h/s/ctxwrap/checkpoints',
    ],
    ['folder', {}, 'ok: /h/s/ctxwrap, private to you'],
    ['folder', { stats: undefined }, 'ok: ctxwrap will create /h/s/ctxwrap when it needs it'],
    [
      'folder',
      { stats: undefined, obstacle: denied },
      'fail: ctxwrap cannot create /h/s/ctxwrap (/h/s: permission denied) → chmod u+rwx /h/s',
    ],
    [
      'folder',
      { stats: { ...mine, isFolder: false } },
      'fail: /h/s/ctxwrap must be a folder, not a file → mv /h/s/ctxwrap /h/s/ctxwrap.old',
    ],
    [
      'folder',
      { stats: { ...mine, isOwn: false } },
      'fail: /h/s/ctxwrap belongs to another user → sudo chown -R "$USER" /h/s/ctxwrap',
    ],
    [
      'folder',
      { obstacle: { ...denied, path: '/h/s/ctxwrap' } },
      'fail: ctxwrap cannot write to /h/s/ctxwrap: permission denied → chmod u+rwx /h/s/ctxwrap',
    ],
    [
      'folder',
      { stats: { ...mine, mode: 0o40_755 } },
      'warn: other users can access /h/s/ctxwrap → chmod 700 /h/s/ctxwrap',
    ],
    ['sessions', {}, 'ok: 0 running, 0 ended'],
    [
      'sessions',
      { sessions: [session('live'), session('dead'), session('ended')] },
      'ok: 1 running, 2 ended',
    ],
    [
      'sessions',
      { sessions: (['live', 'stale', 'failed'] as const).map(session) },
      'warn: 1 running, 1 not responding for more than a minute, 1 in which ctxwrap has failed, 0 ended → ctxwrap ps --all',
    ],
    ['evidence', { sessions: [session('ended')] }, undefined],
    ['evidence', { sessions: [session('live')] }, 'ok: claude (pid 4711): records ✓, screen ✓, state –'],
  ])('has for %s with %j: %s', (name, more, expected) => {
    expect(state(name, more)).toBe(expected);
  });
});

describe('the configuration', () => {
  const path = '/h/c.jsonc';
  const problem = (place: string): Problem =>
    problemAt(
      { layer: 'user', place, at: { line: 3, column: 1 } },
      { kind: 'syntax', level: 'error', what: 'the file is not valid JSONC', why: 'a comma is missing' },
    );
  const config = (name: string, more: Partial<ConfigFacts> = {}) =>
    rowIn(
      configSection({
        userPath: path,
        problems: [],
        isThere: true,
        obstacle: undefined,
        home: '/h',
        ...more,
      }),
      name,
    );

  it('is a file, or the defaults', () => {
    expect(config('file')).toBe(`ok: ${path}`);
    expect(config('file', { isThere: false })).toBe(`none: ${path} does not exist, so the defaults apply`);
  });

  it('does not call a file fine whose values are not', () => {
    expect(config('file', { problems: [problem(path)] })).toBeUndefined();
    expect(config('value', { problems: [problem(path)] })).toMatch(/^fail: .*\/h\/c\.jsonc:3:1.*comma/);
    expect(config('file', { problems: [problem('/p/.ctxwrap.jsonc')] })).toBe(`ok: ${path}`);
  });

  it('warns where config init could not write it', () => {
    const obstacle = { path: '/h', reason: 'permission denied', kind: 'folder', isOwn: true } as const;
    expect(config('folder', { obstacle })).toBe(
      'warn: ctxwrap config init cannot write the file (/h: permission denied) → chmod u+rwx /h',
    );
    expect(config('folder')).toBeUndefined();
  });

  it('says whether sessions can write their metrics, of which they only log', () => {
    const folder = '/var/lib/prom';
    const obstacle = { path: folder, reason: 'permission denied', kind: 'folder', isOwn: false } as const;
    expect(config('metrics')).toBeUndefined();
    expect(config('metrics', { metrics: { folder, isThere: true, obstacle: undefined } })).toBe(
      'ok: each session keeps a file in /var/lib/prom',
    );
    expect(config('metrics', { metrics: { folder, isThere: false, obstacle: undefined } })).toBe(
      'warn: /var/lib/prom does not exist → mkdir -p /var/lib/prom',
    );
    expect(config('metrics', { metrics: { folder, isThere: true, obstacle } })).toBe(
      'warn: sessions cannot write to /var/lib/prom (/var/lib/prom: permission denied) → ctxwrap config set metrics.textfile FOLDER',
    );
  });
});

describe('an agent', () => {
  const own = { trigger: undefined, settings: [] };
  const claude = (name: string, more: Parameters<typeof doctorOf>[2]) =>
    rowIn({ checks: doctorOf('claude', own, more) }, name);
  const told = (text: string) => ({ version: { kind: 'told', text } }) as const;

  it.each<readonly [string, Parameters<typeof doctorOf>[2], string]>([
    ['found', {}, 'ok: /bin/x'],
    [
      'not there',
      { found: { kind: 'missing', shims: [] } },
      'none: not installed → npm install -g @anthropic-ai/claude-code',
    ],
    [
      'only a shim',
      { found: { kind: 'missing', shims: ['/s/claude'] } },
      'fail: /s/claude starts ctxwrap, but claude itself is not installed → npm install -g @anthropic-ai/claude-code',
    ],
    [
      'not executable',
      { found: { kind: 'not-executable', file: '/b/claude', reason: 'permission' } },
      'fail: /b/claude cannot run: permission denied → chmod +x /b/claude',
    ],
    [
      'a folder',
      { found: { kind: 'not-executable', file: '/b/claude', reason: 'folder' } },
      'fail: /b/claude cannot run: it is a folder',
    ],
  ])('that is %s', (_, more, expected) => {
    expect(claude('program', more)).toBe(expected);
  });

  describe('that was used before', () => {
    const opus = {
      agent: 'claude',
      model: 'claude-opus-4-8',
      usedAt: 1,
      window: {
        windowTokens: 1_000_000,
        windowSource: 'agent',
        at: Date.UTC(2026, 10, 27),
        agentVersion: '2.1.332',
      },
    } as const;
    const origin = 'as claude 2.1.332 reported for claude-opus-4-8 on 2026-11-27';

    it('has the window of its last model, and thresholds in that', () => {
      expect(claude('window', { lastUse: opus })).toBe(`ok: 1,000,000 tokens, ${origin}`);
      expect(claude('window', {})).toBe('ok: 200,000 tokens, its usual window; each session reports its own');
      expect(claude('auto', { lastUse: opus })).not.toBe(claude('auto', {}));
    });

    it('has its usual window where none of that model is known', () => {
      const lastUse = { agent: 'claude', model: 'claude-opus-4-8', usedAt: 1 };
      expect(claude('window', { lastUse })).toBe(claude('window', {}));
      expect(claude('auto', { lastUse })).toBe(claude('auto', {}));
    });

    it('has the window that you set, beside that of its last model', () => {
      expect(claude('window', { lastUse: opus, windowTokens: 300_000 })).toBe(
        `ok: 300,000 tokens, as you set it; 1,000,000, ${origin}`,
      );
      expect(claude('window', { lastUse: opus, windowTokens: 1_000_000 })).toBe(
        'ok: 1,000,000 tokens, as you set it',
      );
    });

    it('is said to compact by itself as it does with that model', () => {
      const own = { trigger: agents.claude.nativeTrigger({}), settings: [] };
      const native = (model?: string) => {
        const lastUse = model === undefined ? undefined : { ...opus, model };
        return rowIn({ checks: doctorOf('claude', own, { lastUse }) }, 'native');
      };
      expect(native()).toContain('but not with every model');
      expect(native('claude-opus-4-8')).toBeUndefined();
      expect(native('claude-sonnet-5')).toContain('ok: 934,000');
    });
  });

  it('that is behind a shim', () => {
    const found = { kind: 'found', file: '/b/claude', shims: ['/s/claude'] } as const;
    expect(claude('shim', { found })).toBe('ok: /s/claude starts ctxwrap, which then starts this program');
  });

  it.each<readonly [string, Parameters<typeof doctorOf>[2], string]>([
    ['tested', told('2.1.330'), 'ok: 2.1.330, a tested version'],
    [
      'newer',
      told('2.1.400'),
      `warn: 2.1.400 was not tested; 2.1.197 to ${newest} were → ctxwrap verify claude`,
    ],
    ['older', told('2.0.1'), `warn: 2.0.1 was not tested; 2.1.197 to ${newest} were → ctxwrap verify claude`],
    [
      'between tested ones',
      told('2.1.300'),
      `warn: 2.1.300 was not tested; ${before.toReversed().join(', ')} and ${newest} were → ctxwrap verify claude`,
    ],
    [
      'verified',
      { ...told('2.1.400'), verified: verifiedRecord('claude', '2.1.400') },
      'ok: 2.1.400, verified on this machine: passed 2 of 2 checks on 2026-11-22',
    ],
    [
      'not tested, and not right',
      { ...told('2.1.400'), verified: verifiedRecord('claude', '2.1.400', 1) },
      `warn: 2.1.400 was not tested; 2.1.197 to ${newest} were; ctxwrap verify passed only 1 of 2 checks on 2026-11-22, not check 2 → npm install -g @anthropic-ai/claude-code@${newest}`,
    ],
    [
      'tested, and not right here',
      { ...told('2.1.330'), verified: verifiedRecord('claude', '2.1.330', 1) },
      'warn: 2.1.330 is a tested version, but ctxwrap verify passed only 1 of 2 checks on 2026-11-22, not check 2 → ctxwrap verify claude',
    ],
    [
      'not told',
      { version: { kind: 'none' } },
      'warn: claude --version printed no version number → run claude --version and see what it prints',
    ],
    [
      'not told in time',
      { version: { kind: 'silent' } },
      'warn: claude --version did not answer in time → run claude --version and see what it prints',
    ],
  ])('whose version is %s', (_, more, expected) => {
    expect(claude('version', more)).toBe(expected);
  });

  it.each([
    ['readable', 'ok: /s'],
    ['missing', 'none: no sessions yet: /s does not exist'],
    ['unreadable', 'fail: ctxwrap cannot read /s, so it gets no numbers from claude → chmod u+rx /s'],
  ] as const)('whose session folder is %s', (state, expected) => {
    expect(claude('sessions', { sessions: { folder: '/s', state } })).toBe(expected);
  });

  it('with session files of other users, which the black box does not keep', () => {
    const sessions = { folder: '/s', state: 'readable', otherOwners: [1000, 7] } as const;
    const text = 'of other users (ids 1000, 7), which the black box does not keep, not even for root → run';
    expect(claude('black box', { sessions })).toContain(`warn: claude has session files ${text} claude`);
  });

  it('whose status line and hook are used or not', () => {
    expect(claude('status line', { official: { isUsed: true, text: 'so' } })).toBe('ok: so');
    expect(claude('status line', { official: { isUsed: false, text: 'so' } })).toBe('none: not used: so');
    expect(claude('hook', { context: { isUsed: true, text: 'so' } })).toBe('ok: so');
  });

  it('whose window is usual, or set by you', () => {
    expect(claude('window', {})).toBe('ok: 200,000 tokens, its usual window; each session reports its own');
    expect(claude('window', { windowTokens: 200_000 })).toBe('ok: 200,000 tokens, as you set it');
    expect(claude('window', { windowTokens: 1_000_000 })).toBe(
      'ok: 1,000,000 tokens, as you set it; usually 200,000',
    );
  });

  it('of your own, which may lack a package', () => {
    const toy = { ...agents.generic, name: 'toy', command: 'toy-cli' };
    const row = (...given: Parameters<typeof definedAgentSection>) =>
      rowIn(definedAgentSection(...given), 'program');
    expect(row(toy, { kind: 'found', file: '/b/toy-cli', shims: [] })).toBe(
      'ok: /b/toy-cli, as your configuration defines it',
    );
    const missing = { kind: 'missing', shims: [] } as const;
    expect(row(toy, missing)).toBe('none: toy-cli is not installed');
    expect(row({ ...toy, npmPackage: '@toy/cli' }, missing)).toBe(
      'none: toy-cli is not installed → npm install -g @toy/cli',
    );
  });
});
