// What `ctxwrap hook` prints, run by a shell as the agents run it, through the built program.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sessionRecord } from '../../src/core/report/records.js';
import { writeSession } from '../../src/storage/sessions.js';
import { watchRequests } from '../../src/worker/requests.js';
import type { Requests } from '../../src/worker/requests.js';
import { sessionAfter, tokens } from '../support/sessions.js';
import { bin } from '../support/programs.js';
import { ctxwrap, makeBench, runToEnd } from './launcher.js';
import type { Bench } from './launcher.js';

const WAIT = { timeout: 60_000, interval: 50 };

let bench: Bench;
let asked: readonly string[] = [];
let watching: readonly Requests[] = [];
beforeEach(() => {
  [asked, watching] = [[], []];
  bench = makeBench();
  bench.program('ctxwrap', `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
});
afterEach(async () => {
  for (const each of watching) await each.stop();
  bench.remove();
});

const stateFolder = (): string => join(bench.folder, '.local/state/ctxwrap');
/** A session that others can see, with so many of 200,000 tokens. */
const publish = async (id: string, used: number, heartbeatAt = Date.now()): Promise<void> => {
  const folder = join(stateFolder(), 'sessions');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const identity = {
    id,
    version: '1',
    pid: process.pid,
    childPid: 1,
    runtime: 'claude',
    cwd: '/',
    startedAt: 1,
  };
  const state = sessionAfter([[1, tokens('log', used)]]);
  await writeSession(folder, sessionRecord(identity, state, { compaction: { mode: 'warn' } }, heartbeatAt));
  const onEvent = (): void => void (asked = [...asked, id]);
  const more = { now: Date.now, onEvent, onFailure: () => undefined };
  watching = [...watching, watchRequests({ stateFolder: stateFolder(), sessionId: id, ...more })];
};

/** As the agent's shell runs it: in the environment of this session, with JSON on its standard input. */
const shell = (command: string, session: string | undefined, ...args: readonly string[]) => {
  const env = { ...bench.env, ...(session === undefined ? {} : { CTXWRAP_SESSION: session }) };
  return runToEnd('/bin/sh', ['-c', command, ...args], { ...bench, env }, '{"hook_event_name":"Stop"}');
};

const hookOf = async (event: string): Promise<{ readonly command: string; readonly matcher?: string }> => {
  const { stdout } = await ctxwrap(['hook', 'claude'], bench);
  const [{ matcher, hooks }] = JSON.parse(stdout).hooks[event];
  return { matcher, command: hooks[0].command };
};

const notifyOf = async (): Promise<readonly string[]> => {
  const { stdout } = await ctxwrap(['hook', 'codex'], bench);
  const [, command = ''] = /^notify = \["sh", "-c", '''(.*)'''\]\n$/.exec(stdout) ?? [];
  return ['sh', '-c', command];
};

describe('a hook of Claude’s', () => {
  it.each(['Stop', 'PreCompact', 'SessionStart'])(
    '%s does and says nothing without ctxwrap',
    async (event) => {
      await publish('other', 190_000);
      const { command } = await hookOf(event);
      expect(await shell(command, undefined)).toMatchObject({ code: 0, stdout: '', stderr: '' });
      expect(asked).toEqual([]);
    },
  );

  it.each(['Stop', 'PreCompact', 'SessionStart'])('%s ends well although ctxwrap does not', async (event) => {
    const { command } = await hookOf(event);
    bench.program('ctxwrap', '#!/bin/sh\necho wrong >&2\nexit 2\n');
    expect(await shell(command, 'mine')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('Stop asks its own session to compact, of several, when that one has reached warn', async () => {
    await publish('other', 10_000);
    await publish('mine', 150_000);
    const { command } = await hookOf('Stop');
    expect(await shell(command, 'mine')).toMatchObject({ code: 0, stdout: '', stderr: '' });
    await vi.waitFor(() => expect(asked).toEqual(['mine']), WAIT);
  });

  it('Stop asks for nothing below warn', async () => {
    await publish('other', 190_000);
    await publish('mine', 10_000);
    const { command } = await hookOf('Stop');
    await shell(`${command}\nwait`, 'mine');
    expect(asked).toEqual([]);
  });

  it('Stop asks no other session where its own is not seen, also if that one is the only one', async () => {
    await publish('other', 190_000);
    const { command } = await hookOf('Stop');
    await shell(`${command}\nwait`, 'mine');
    expect(asked).toEqual([]);
  });

  it('PreCompact keeps how full the window is, and adds nothing to the summary', async () => {
    await publish('other', 190_000);
    await publish('mine', 150_000);
    const { command } = await hookOf('PreCompact');
    expect(await shell(command, 'mine')).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const kept = JSON.parse(readFileSync(join(stateFolder(), 'before-compaction.json'), 'utf8'));
    expect(kept).toMatchObject({
      schema: 'ctxwrap.context/1',
      session: { id: 'mine' },
      reading: { usedTokens: 150_000 },
    });
  });

  it('SessionStart tells the model, after a compaction only', async () => {
    await publish('mine', 150_000);
    const { command, matcher } = await hookOf('SessionStart');
    expect(matcher).toBe('compact');
    const { stdout, code } = await shell(command, 'mine');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Used    150,000 tokens')]);
  });
});

describe('Codex’s notify', () => {
  it('asks its own session to compact, whatever Codex puts behind it', async () => {
    await publish('other', 10_000);
    await publish('mine', 150_000);
    const [, , command = ''] = await notifyOf();
    const turn = '{"type":"agent-turn-complete","last-assistant-message":"it\'s done"}';
    expect(await shell(command, 'mine', turn)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    await vi.waitFor(() => expect(asked).toEqual(['mine']), WAIT);
  });
});

describe('ctxwrap hold', () => {
  const hold = (input: string, session = 'mine') =>
    runToEnd(
      process.execPath,
      [bin, 'hold'],
      { ...bench, env: { ...bench.env, CTXWRAP_SESSION: session } },
      input,
    );
  const AUTO = '{"hook_event_name":"PreCompact","trigger":"auto"}';

  it('blocks below hard what the agent begins by itself', async () => {
    await publish('mine', 168_000);
    expect(await hold(AUTO)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'ctxwrap: 168000 tokens used, held until 177000\n',
    });
  });

  it.each([
    ['at hard', AUTO, 177_000, 'mine'],
    ['what somebody asked for', '{"trigger":"manual"}', 168_000, 'mine'],
    ['what it does not understand', 'not JSON', 168_000, 'mine'],
    ['another session', AUTO, 168_000, 'gone'],
    ['a name that is none', AUTO, 168_000, '../mine'],
  ])('lets through %s', async (_, input, used, session) => {
    await publish('mine', used);
    expect(await hold(input, session)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('lets through what a silent wrapper cannot judge', async () => {
    await publish('mine', 168_000, Date.now() - 120_000);
    expect(await hold(AUTO)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('ctxwrap hook', () => {
  it('knows no other agents', async () => {
    const { stderr, code } = await ctxwrap(['hook', 'gemini'], bench);
    expect([code, stderr]).toEqual([2, expect.stringContaining('claude')]);
  });
});
