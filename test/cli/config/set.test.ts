// `ctxwrap config set`, `unset` and `edit`, which change the user's file.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyNames } from '../../../src/core/config/keys.js';
import { userFileOf, writeConfig } from './config-file.js';
import { ctxwrapHere } from '../../support/command-here.js';
import { bin } from '../../support/programs.js';
import { ctxwrap, inTerminal, makeBench, runToEnd, type Bench, type Ended } from '../launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const userFile = (): string => userFileOf(bench);
const write = (text: string, path = userFile()): void => writeConfig(bench, text, path);
const text = (path = userFile()): string => readFileSync(path, 'utf8');
const config = (...args: readonly string[]): Promise<Ended> => ctxwrapHere(['config', ...args], bench);
const started = (...args: readonly string[]): Promise<Ended> => ctxwrap(['config', ...args], bench);
const HERE = '~/.config/ctxwrap/config.jsonc';

describe('the audit log', () => {
  it('has a line for each change, with the names of the keys and without their values', async () => {
    await config('set', 'notify.command', 'mail -s secret');
    await config('set', 'notify.command', 'mail -s secret');
    await config('unset', 'notify.command');
    await config('unset', 'notify.command');
    const lines = readFileSync(join(bench.folder, '.local/state/ctxwrap/audit.jsonl'), 'utf8');
    const read = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(read).toMatchObject([
      { schema: 'ctxwrap.configuration/1', by: 'config set', keys: ['notify.command'] },
      { schema: 'ctxwrap.configuration/1', by: 'config unset', keys: ['notify.command'] },
    ]);
    expect(lines).not.toContain('secret');
  });
});

describe('config set', () => {
  it('creates the file for the user alone, and says what it did', async () => {
    expect(await started('set', 'warn', '75%')).toEqual({
      code: 0,
      stdout: `warn: not set → 75% in ${HERE}\n`,
      stderr: '',
      signal: null,
    });
    expect(text()).toBe('{\n  "warn": "75%"\n}\n');
    const modes = [dirname(userFile()), userFile()].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600]);
    expect(readdirSync(dirname(userFile()))).toEqual(['config.jsonc']);
  });

  it('says it where running sessions do not follow, and shows sizes as they are written', async () => {
    const said = await config('set', 'hotkey', 'C-g');
    expect(said.stdout).toBe(`hotkey: not set → C-g in ${HERE} (from the next start)\n`);
    await config('set', 'blackbox.limit', '500MB');
    expect((await config('show', 'blackbox.limit')).stdout).toContain('"500MB"');
    await config('set', 'blackbox.limit', '1234567890');
    expect((await config('show', 'blackbox.limit')).stdout).toContain('"1234567890"');
  });

  it('keeps everything else in it, its permissions, and the previous text', async () => {
    const before = '\uFEFF// mine\r\n{\r\n  "warn": "70%", // low\r\n  "mode": "ask"\r\n}\r\n';
    write(before);
    chmodSync(userFile(), 0o644);
    expect(await config('set', 'warn', '75%')).toMatchObject({ stdout: `warn: 70% → 75% in ${HERE}\n` });
    expect(text()).toBe(before.replace('70%', '75%'));
    expect(text(`${userFile()}.bak`)).toBe(before);
    expect(statSync(userFile()).mode & 0o777).toBe(0o644);
    expect(await config('set', 'warn', '75%')).toMatchObject({ stdout: `warn: already 75% in ${HERE}\n` });
    expect(text(`${userFile()}.bak`)).toBe(before);
  });

  it.each([
    ['mode', 'ASK', 'ask'],
    ['footer', 'no', false],
    ['window', '200000', 200_000],
    ['window', '200k', '200k'],
    ['warn', '150000', 150_000],
    ['hotkey', '^G', '^G'],
    ['focus', 'the "failing" tests', 'the "failing" tests'],
    ['notify.on', 'hard, failure', ['hard', 'failure']],
    ['footer.items', '', []],
    ['log', '~/ctxwrap.log', '~/ctxwrap.log'],
  ])('writes %s %j as %j', async (key, given, written) => {
    expect(await config('set', key, given)).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(text())).toEqual({ [key]: written });
    expect(await config('check')).toMatchObject({ code: 0 });
  });

  it.each([
    [['mdoe', 'ask'], 'unknown key "mdoe"', 'did you mean mode?'],
    [
      ['strategy', 'trunkate'],
      'strategy must be one of auto, truncate, summarize, clustering, got "trunkate"',
      'try ctxwrap config set strategy truncate',
    ],
    [
      ['enableProactiveCompact', 'true'],
      'unknown key "enableProactiveCompact"',
      'its name here is proactive: ctxwrap config set proactive VALUE',
    ],
    [
      ['chatCompression.contextPercentageThreshold', '0.7'],
      'unknown key "chatCompression.contextPercentageThreshold"',
      'its name here is auto: ctxwrap config set auto 70%',
    ],
    [
      ['mode', 'aks'],
      'mode must be one of auto, ask, warn, off, got "aks"',
      'try ctxwrap config set mode ask',
    ],
    [['warn', '80'], /^warn must be a percentage .*, got "80"$/, 'try ctxwrap config set warn 80%'],
    [
      ['window', '5'],
      'window must be a number of tokens from 1k to 10M, got "5"',
      'try ctxwrap config set window 1k',
    ],
    [
      ['footer', 'ture'],
      'footer must be true, false or quiet, got "ture"',
      'try ctxwrap config set footer true',
    ],
    [
      ['notify.on', 'hrad,auto'],
      /^notify.on must be a list of auto, hard, /,
      'try ctxwrap config set notify.on hard,auto',
    ],
    [['log', 'my log'], /^log must be an absolute path/, /^try ctxwrap config set log '\/.*\/my log'$/],
    [['hotkey', 'x'], /^hotkey must be Ctrl with a letter/, /^try ctxwrap config set hotkey /],
    [
      ['notNow', 'ctrl-]'],
      'Ctrl-] cannot both open the overview and say "not now": it is already the hotkey',
      'try ctxwrap config set notNow Esc, or another key',
    ],
    [
      ['focus', 'x'.repeat(300)],
      /^focus must be a text of at most 200 characters, or evidence, got "x{60}"$/,
      /config set focus/,
    ],
    [
      ['runtimes', '{}'],
      'runtimes holds objects, which cannot be set on a command line',
      'ctxwrap config edit',
    ],
    [['warn'], 'ctxwrap config set needs <value>', 'see ctxwrap config set --help'],
  ])('%j is refused with what would be right', async (args, message, hint) => {
    const { code, stdout, stderr } = await config('set', ...args);
    const [first = '', second = ''] = stderr.split('\n').map((line) => line.replace(/^ctxwrap: /, ''));
    expect([code, stdout]).toEqual([2, '']);
    expect(first).toMatch(message);
    expect(second).toMatch(hint);
    expect(existsSync(userFile())).toBe(false);
  });

  it('overwrites no file that it cannot read', async () => {
    for (const broken of ['{ "mode": "ask"\n  "warn": 1 }', '[]']) {
      write(broken);
      for (const args of [
        ['set', 'warn', '75%'],
        ['unset', 'mode'],
      ])
        expect(await config(...args)).toMatchObject({
          code: 2,
          stdout: '',
          stderr: expect.stringMatching(
            /is not valid JSONC \(line \d, column \d.*: .*\n.*ctxwrap config edit\n$/,
          ),
        });
      expect(text()).toBe(broken);
    }
    chmodSync(userFile(), 0o666);
    expect(await config('set', 'warn', '75%')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('every user can write to it'),
    });
    expect(readdirSync(dirname(userFile()))).toEqual(['config.jsonc']);
  });

  it('loses none of several that run at a time', async () => {
    write('// mine\n{\n}\n');
    const pairs = [
      ['warn', '70%'],
      ['auto', '80%'],
      ['hard', '90%'],
      ['mode', 'ask'],
      ['tips', 'false'],
    ] as const;
    const all = await Promise.all(pairs.map(([key, value]) => started('set', key, value)));
    expect(all.map(({ code, stderr }) => [code, stderr])).toEqual(pairs.map(() => [0, '']));
    expect(JSON.parse(text().replace('// mine', ''))).toEqual({
      warn: '70%',
      auto: '80%',
      hard: '90%',
      mode: 'ask',
      tips: false,
    });
  });

  it('says what else keeps the value from its effect', async () => {
    bench.env['CTXWRAP_WARN'] = '60%';
    write('{ "auto": "65%" }');
    expect(await config('set', 'warn', '75%')).toMatchObject({
      code: 0,
      stderr: 'ctxwrap: warn is still "60%" here, set by CTXWRAP_WARN\n',
    });
    delete bench.env['CTXWRAP_WARN'];
    expect(await config('set', 'warn', '76%')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('warn is 76%, which is higher than auto'),
    });
    expect(await ctxwrap(['-q', 'config', 'set', 'warn', '77%'], bench)).toMatchObject({ stderr: '' });
  });

  it('changes the file that was named, and names it in its hints', async () => {
    const named = join(bench.folder, 'my own.jsonc');
    const set = (value: string) => ctxwrapHere(['--config', named, 'config', 'set', 'mode', value], bench);
    expect(await set('ask')).toMatchObject({ stdout: 'mode: not set → ask in ~/my own.jsonc\n' });
    expect((await set('aks')).stderr).toContain(`try ctxwrap --config '${named}' config set mode ask\n`);
    expect(existsSync(userFile())).toBe(false);
  });

  const canGiveUp = spawnSync('setpriv', ['--version']).status === 0;
  it.skipIf(process.getuid?.() !== 0 || !canGiveUp)(
    'says when the folder cannot be written, and leaves the file',
    async () => {
      write('{}');
      chmodSync(dirname(userFile()), 0o500);
      const command = [
        '--bounding-set=-dac_override,-dac_read_search',
        process.execPath,
        bin,
        'config',
        'set',
        'warn',
        '75%',
      ];
      expect(await runToEnd('setpriv', command, bench)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`cannot write the configuration "${userFile()}": permission denied`),
      });
      expect([text(), readdirSync(dirname(userFile()))]).toEqual(['{}', ['config.jsonc']]);
    },
  );

  it.skipIf(process.getuid?.() !== 0)('leaves a file of another user alone', async () => {
    write('{}');
    chownSync(userFile(), 12_345, 12_345);
    expect(await config('set', 'warn', '75%')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it belongs to another user'),
    });
    expect(text()).toBe('{}');
  });
});

describe('a file that is a link into a folder of dot files', () => {
  const target = (): string => join(bench.folder, 'dotfiles/mine.jsonc');
  beforeEach(() => {
    write('{ "mode": "ask" } // mine\n', target());
    mkdirSync(dirname(userFile()), { recursive: true });
    symlinkSync('../../dotfiles/mine.jsonc', userFile());
  });

  it('is read and changed, and stays a link', async () => {
    expect(await config('set', 'mode', 'warn')).toMatchObject({
      stdout: `mode: ask → warn in ${HERE}\n`,
      stderr: '',
    });
    expect(await config('set', 'tips', 'no')).toMatchObject({ code: 0 });
    expect(await config('unset', 'tips')).toMatchObject({ code: 0 });
    expect(text(target())).toBe('{ "mode": "warn" } // mine\n');
    expect(readlinkSync(userFile())).toBe('../../dotfiles/mine.jsonc');
    expect(readdirSync(dirname(target()))).toEqual(['mine.jsonc']);
    expect(await config('init')).toMatchObject({ code: 0 });
    expect(lstatSync(userFile()).isSymbolicLink()).toBe(true);
    expect(text(target())).toContain('// "warn"');
  });

  it('is opened by its own name, so that no editor replaces the link, and comes back to that', async () => {
    bench.env['EDITOR'] = bench.program('mine', '#!/bin/sh\necho "$1"\nrm "$1"\necho "{" > "$1"\n');
    const { code, stdout } = await started('edit');
    expect([code, stdout.split('\n')[0]]).toEqual([1, target()]);
    const [, back = 'false'] = /^to go back: (.*)$/m.exec(stdout) ?? [];
    spawnSync('sh', ['-c', back]);
    expect(text()).toBe('{ "mode": "ask" } // mine\n');
    expect(lstatSync(userFile()).isSymbolicLink()).toBe(true);
  });

  it('is not touched where others may write it', async () => {
    chmodSync(dirname(target()), 0o775);
    expect(await config('set', 'mode', 'warn')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        `it is a symbolic link, and other users can write to ${dirname(target())}\nctxwrap: fix it with: chmod go-w ${dirname(target())}\n`,
      ),
    });
    expect(text(target())).toBe('{ "mode": "ask" } // mine\n');
  });
});

describe('config unset', () => {
  it('removes the key and nothing else', async () => {
    write('{\n  // why\n  "warn": "70%",\n  "mode": "ask"\n}\n');
    expect(await started('unset', 'warn')).toMatchObject({
      code: 0,
      stdout: `warn: 70% → not set in ${HERE}\n`,
      stderr: '',
    });
    expect(text()).toBe('{\n  // why\n  "mode": "ask"\n}\n');
    expect(text(`${userFile()}.bak`)).toContain('70%');
    expect(await config('unset', 'warn')).toMatchObject({
      code: 0,
      stdout: `warn: already not set in ${HERE}\n`,
    });
  });

  it('makes no file', async () => {
    expect(await config('unset', 'runtimes')).toMatchObject({ code: 0 });
    expect(existsSync(dirname(userFile()))).toBe(false);
    expect(await config('unset', 'mdoe')).toMatchObject({ code: 2 });
  });
});

describe('config edit', () => {
  /** An editor that replaces the file it is given. */
  const editor = (name: string, made: string): string =>
    bench.program(
      name,
      `#!/bin/sh\nprintf '%s\\n' "$@" > ${bench.folder}/args\nfor file; do :; done\ncat > "$file" <<'END'\n${made}\nEND\n`,
    );
  const given = (): string => text(join(bench.folder, 'args'));

  it('opens the file in VISUAL, with the arguments in it, and checks it', async () => {
    write('{ "mode": "ask" }\n');
    editor('ed it', '{ "mode": "warn" }');
    bench.env['VISUAL'] = `'${bench.folder}/ed it' --wait "two words"`;
    bench.env['EDITOR'] = 'false';
    expect(await started('edit')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `${HERE}: no problems found\n`,
    });
    expect(given()).toBe(`--wait\ntwo words\n${userFile()}\n`);
    expect([text(), text(`${userFile()}.bak`)]).toEqual(['{ "mode": "warn" }\n', '{ "mode": "ask" }\n']);
  });

  it('takes EDITOR, else vi', async () => {
    write('{}\n');
    editor('vi', '{}');
    bench.env['EDITOR'] = editor('mine', '{}');
    bench.env['VISUAL'] = ' ';
    expect(await started('edit')).toMatchObject({ code: 0, stdout: `${HERE}: not changed\n` });
    rmSync(join(bench.folder, 'args'));
    delete bench.env['EDITOR'];
    expect(await started('edit')).toMatchObject({ code: 0 });
    expect(given()).toBe(`${userFile()}\n`);
    expect(existsSync(`${userFile()}.bak`)).toBe(false);
  });

  it('opens a file with all keys as comments where there is none', async () => {
    bench.env['EDITOR'] = 'true';
    expect(await started('edit')).toMatchObject({ code: 0, stdout: `${HERE}: no problems found\n` });
    expect(text().match(/^ {2}\/\/ "/gm)).toHaveLength(keyNames.length);
    expect(existsSync(join(dirname(userFile()), 'config.schema.json'))).toBe(true);
  });

  it.each([
    ['{ "mode": "ask"\n  "warn": 5 }', ':2:3\n', 'comma expected'],
    ['{\n  "mode": "atuo"\n}', ':2:11\n', 'error: mode is "atuo"'],
    ['{\n  "mdoe": "auto"\n}', ':2:11\n', 'did you mean mode?'],
  ])('says where %j is wrong, and how to go back', async (made, where, what) => {
    const before = '{ "mode": "ask" }\n';
    write(before);
    bench.env['EDITOR'] = editor('mine', made);
    const { code, stdout, stderr } = await started('edit');
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).toContain(`where  ${userFile()}${where}`);
    expect(stdout).toContain(what);
    const [, back = 'false'] = /^to go back: (.*)$/m.exec(stdout) ?? [];
    spawnSync('sh', ['-c', back]);
    expect(text()).toBe(before);
  });

  it('offers no way back to a file that was wrong before, and says that one is gone', async () => {
    write('{ "mode": ');
    bench.env['EDITOR'] = 'true';
    const { code, stdout } = await started('edit');
    expect([code, stdout.includes('value expected'), stdout.includes('go back')]).toEqual([1, true, false]);
    bench.env['EDITOR'] = 'rm';
    expect(await started('edit')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^~.* no longer exists\nto go back: mv /),
    });
  });

  it.each([
    ['no-such-editor', 'was not found'],
    ['exit 3;', 'ended with status 3'],
    ['kill -TERM $$;', 'was ended by SIGTERM'],
    ['/', 'cannot be run'],
  ])('says how the editor "%s" failed', async (name, how) => {
    write('{}\n');
    bench.env['EDITOR'] = name;
    const { code, stdout, stderr } = await started('edit');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      `ctxwrap: the editor "${name}" ${how}\nctxwrap: set VISUAL or EDITOR to another one\n`,
    );
  });

  it('leaves Ctrl-C to the editor', async () => {
    write('{}\n');
    bench.env['EDITOR'] = bench.program(
      'mine',
      '#!/bin/sh\ntrap "echo caught; exit 0" INT\necho ready\nwhile :; do sleep 0.05; done\n',
    );
    const terminal = inTerminal(process.execPath, [bin, 'config', 'edit'], bench);
    await terminal.seen(/ready/);
    terminal.type('\x03');
    expect((await terminal.ended).exitCode).toBe(0);
    expect(terminal.output()).toMatch(/caught[^]*not changed/);
  });

  it('opens no file that belongs to someone else, or to everybody', async () => {
    mkdirSync(dirname(userFile()), { recursive: true });
    writeFileSync(userFile(), '{}');
    chmodSync(userFile(), 0o666);
    bench.env['EDITOR'] = editor('mine', '{}');
    expect(await started('edit')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('every user can write to it'),
    });
    expect(existsSync(join(bench.folder, 'args'))).toBe(false);
  });
});
