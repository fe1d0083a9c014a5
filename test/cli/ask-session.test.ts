// Commands that ask a running session, cut short at each of its steps: by Ctrl-C, by the death of the session, by answers that cannot be read.
// The session's half is played here.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Result } from '../../src/core/compaction/requests.js';
import { shortenedLine } from '../../src/core/compaction/shortened-session.js';
import type { RequestActions } from '../../src/worker/request-queue.js';
import { watchRequests, type Requests } from '../../src/worker/requests.js';
import { readCompactions } from '../../src/session-files/read-history.js';
import { findSources } from '../../src/session-files/session-sources.js';
import type { SwitchResult } from '../../src/typing/switcher.js';
import { ids, writeStores } from '../support/stored-sessions.js';
import { publishSession } from '../support/published.js';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench, start, type Bench } from './launcher.js';

const WAIT = { timeout: 60_000, interval: 20 };

let bench: Bench;
let wrapper: ChildProcess;
let requests: Requests | undefined;
let rollout: string;
beforeEach(async () => {
  bench = makeBench();
  writeStores(bench.folder);
  wrapper = spawn('sleep', ['1000']);
  const where = { env: {}, home: bench.folder, cwd: '/' };
  const { sources } = await findSources({ agents: [agents.codex], where });
  rollout = sources.find(({ path }) => path.includes(ids.codex))?.path ?? '';
  await publish({});
});
afterEach(async () => {
  wrapper.kill('SIGKILL');
  await requests?.stop();
  requests = undefined;
  bench.remove();
});

const stateFolder = (): string => join(bench.folder, '.local/state/ctxwrap');
const requestFile = (suffix: string): string => {
  const folder = join(stateFolder(), 'requests');
  const found = existsSync(folder) ? readdirSync(folder).find((name) => name.endsWith(suffix)) : undefined;
  return found === undefined ? '' : join(folder, found);
};
const answerHas = (state: string): Promise<void> =>
  vi.waitFor(() => expect(readFileSync(requestFile('.answer.json'), 'utf8')).toContain(state), WAIT);

/** The record of a running Codex whose conversation ctxwrap has shortened; the wrapper is a process that can be killed. */
const publish = async (more: object): Promise<void> =>
  publishSession(stateFolder(), {
    id: 'running',
    pid: wrapper.pid ?? 0,
    childPid: wrapper.pid ?? 0,
    runtime: 'codex',
    cwd: bench.folder,
    compactions: 2,
    compaction: { mode: 'auto' },
    logPath: rollout,
    agentSessionId: ids.codex,
    shortenedFrom: { id: ids.codex, path: rollout },
    ...more,
  });

type Step = (wait: Parameters<RequestActions['switch']>[1]) => Promise<SwitchResult>;

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
/** It waits until it is withdrawn. */
const waits: Step = async ({ signal }) => {
  if (!signal.aborted) await once(signal, 'abort');
  return { kind: 'refused', reason: 'withdrawn' };
};
const begins: Step = async ({ gate }) => {
  await gate?.begin();
  return never();
};

/** A session that does this, whatever is asked. */
const listen = (step: Step, brief?: RequestActions['brief']): void => {
  requests = watchRequests({
    stateFolder: stateFolder(),
    sessionId: 'running',
    now: Date.now,
    onEvent: () => undefined,
    onFailure: () => undefined,
    actions: {
      switch: (_, wait) => step(wait),
      brief: brief ?? ((_, wait) => step(wait) as Promise<never>),
      undo: (_, wait) => step(wait),
      shorten: (_, wait) => step(wait) as Promise<never>,
    },
  });
};

/** The same of what was to be given back as context; a request for a draft is refused. */
const listenForContext = (result: Result<'brief'>): void => {
  listen(waits, async ({ into }) =>
    into === 'context' ? result : { kind: 'refused', reason: 'that was no request for context' },
  );
};

const ask = (...args: readonly string[]) =>
  start(process.execPath, [bin, '--quiet', ...args], { env: bench.env, cwd: bench.folder });

/** What the agent may have been given, beside the session from before. */
const copies = (): readonly string[] =>
  readdirSync(dirname(rollout)).filter((name) => !name.includes(ids.codex));
const copyId = (): string => /[0-9a-f-]{36}(?=\.jsonl$)/.exec(copies()[0] ?? '')?.[0] ?? '';

const UNDONE_NOT = 'not undone in codex: request withdrawn; nothing was typed';

describe('ctxwrap undo, cut short', () => {
  it('by Ctrl-C before the session has the request removes the copy, which nobody was told of', async () => {
    const { child, ended } = ask('undo');
    await vi.waitFor(() => expect(requestFile('.request.json')).not.toBe(''), WAIT);
    child.kill('SIGINT');
    const { stdout, signal } = await ended;
    expect([signal, stdout]).toEqual(['SIGINT', expect.stringContaining(`✗ ${UNDONE_NOT}\n`) as string]);
    expect(stdout).not.toContain('✓');
    expect(copies()).toEqual([]);
  });

  it('by Ctrl-C while it waits removes the copy, and the session types nothing afterwards', async () => {
    const { child, ended } = ask('undo');
    const afterwards = new Promise((resolve) => {
      listen(async ({ gate }) => {
        await ended;
        resolve(await gate?.begin());
        return never();
      });
    });
    await answerHas('waiting');
    child.kill('SIGINT');
    const { stdout, signal } = await ended;
    expect([signal, stdout]).toEqual(['SIGINT', expect.stringContaining(`✗ ${UNDONE_NOT}\n`) as string]);
    expect(await afterwards).toBe('withdrawn');
    expect(copies()).toEqual([]);
  });

  it('by Ctrl-C once it has begun keeps the copy, and says in one sentence what to do', async () => {
    listen(begins);
    const { child, ended } = ask('undo');
    await answerHas('begun');
    child.kill('SIGINT');
    const { stdout, signal } = await ended;
    expect(signal).toBe('SIGINT');
    expect(copies()).toHaveLength(1);
    expect(stdout).toBe(
      `✗ not known whether codex has gone back: you stopped waiting; if its window does not show it, type /resume ${copyId()} there\n`,
    );
  });

  it.each([
    ['waits', waits, 0, '✗ not undone in codex: the session has ended\n'],
    ['has begun', begins, 1, '✗ not known whether codex has gone back: the session has ended\n'],
  ] as const)(
    'by the death of a session that %s keeps a copy that may be in use',
    async (_, step, left, text) => {
      listen(step);
      const { ended } = ask('undo');
      await answerHas(step === waits ? 'waiting' : 'begun');
      wrapper.kill('SIGKILL');
      const { stdout, code } = await ended;
      expect(stdout.startsWith(text)).toBe(true);
      expect(stdout).toContain(
        `is in the session ${ids.codex}.\nTo continue it:\n  cd /proj/app-codex && ctxwrap codex resume ${ids.codex}\n`,
      );
      expect([code, stdout.includes('✓'), copies().length]).toEqual([1, false, left]);
    },
  );

  it.each([
    ['is not confirmed', async () => ({ kind: 'unknown', reason: 'the agent does not show it' }) as const],
    [
      'cannot be read',
      async () => {
        const answer = requestFile('.answer.json');
        unlinkSync(requestFile('.request.json'));
        writeFileSync(answer, '{"schema":"ctxwr');
        return never<SwitchResult>();
      },
    ],
  ] as const)('by an answer that %s keeps the copy', async (_, step) => {
    listen(async () => {
      await answerHas('waiting');
      return step();
    });
    const { stdout, code } = await ctxwrap(['--quiet', 'undo'], bench);
    expect(stdout).toMatch(
      /^✗ not known whether codex has gone back: [^\n]+; if its window .* type \/resume \S+ there\n$/,
    );
    expect([code, copies().length]).toEqual([1, 1]);
  });

  it('by the answer of a part that had to be restarted keeps the copy of what had begun', async () => {
    listen(begins);
    const { ended } = ask('undo');
    await answerHas('begun');
    const answers = watchRequests({
      stateFolder: stateFolder(),
      sessionId: 'running',
      now: Date.now,
      from: Date.now() + 1,
      onEvent: () => undefined,
      onFailure: () => undefined,
    });
    const { stdout, code } = await ended;
    await answers.stop();
    expect(stdout).toContain(
      'not known whether codex has gone back: ctxwrap had to restart a part of itself; ',
    );
    expect([code, copies().length]).toEqual([1, 1]);
  });

  it('by the session that refuses it, because another one waits, removes only its own copy', async () => {
    let isTaken = false;
    listen(async ({ gate }) => {
      if (isTaken) return { kind: 'refused', reason: 'another undo is already waiting' };
      isTaken = true;
      await gate?.begin();
      return never();
    });
    const first = ask('undo');
    await answerHas('begun');
    const [given] = copies();
    const { stdout, code } = await ctxwrap(['--quiet', 'undo'], bench);
    expect(stdout).toContain('✗ not undone in codex: another undo is already waiting\n');
    expect([code, copies()]).toEqual([1, [given]]);
    first.child.kill('SIGTERM');
    expect((await first.ended).signal).toBe('SIGTERM');
    expect(copies()).toEqual([given]);
  });

  it('tells programs the same', async () => {
    listen(async () => ({ kind: 'unknown', reason: 'not shown' }));
    const { stdout, code } = await ctxwrap(['undo', '--json'], bench);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { live: { id: 'running', outcome: 'unknown', words: 'not shown' } },
    ]);
  });

  it('of a compaction keeps the new session, and names it', async () => {
    await publish({ shortenedFrom: undefined });
    listen(begins);
    const { child, ended } = ask('undo');
    await answerHas('begun');
    child.kill('SIGINT');
    const { stdout } = await ended;
    expect(copies()).toHaveLength(1);
    expect(stdout).toMatch(new RegExp(`^✗ not known .*; if .*, type /resume ${copyId()} there\\n$`));
  });
});

describe('ctxwrap undo in a running session that an earlier run has shortened', () => {
  it.each(['running', 'running#4'])('goes back to the longer one: %s', async (target) => {
    await publish({ shortenedFrom: undefined });
    const at = (await readCompactions({ agent: agents.codex, path: rollout }, 0)).at(-1)?.at ?? 0;
    const sizes = { preTokens: 90_000, postTokens: 14_000 };
    const line = shortenedLine({
      runtime: 'codex',
      strategy: 'truncate',
      id: ids.codex,
      at,
      from: rollout,
      ...sizes,
    });
    writeFileSync(join(stateFolder(), 'audit.jsonl'), `${line}\n`, { mode: 0o600 });
    listen(async () => ({ kind: 'switched', via: 'keys' }));
    const { stdout, code } = await ctxwrap(['undo', target, '--json'], bench);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { session: { id: ids.codex, path: rollout }, live: { outcome: 'switched' } },
    ]);
    expect(JSON.parse(stdout)).not.toHaveProperty('compaction');
  });
});

describe('ctxwrap undo in an agent that takes a checkpoint', () => {
  const gemini = (): string => join(bench.folder, '.gemini/tmp/app-gemini');
  const made = (): readonly string[] =>
    readdirSync(gemini(), { recursive: true, encoding: 'utf8' })
      .filter((name) => statSync(join(gemini(), name)).isFile())
      .toSorted();

  it.each([
    [
      'refused',
      0,
      1,
      /^✗ not undone in gemini: no\nThe earlier conversation, with your \d+ messages?, is in the session /,
    ],
    [
      'unknown',
      1,
      0,
      /^✗ not known whether gemini has gone back: no; if .*, type \/chat resume ctxwrap-\w{8} there\n$/,
    ],
  ] as const)('that is %s', async (kind, checkpoints, sessions, text) => {
    const before = made();
    const logPath = join(gemini(), before.find((name) => name.includes('60f4dd20')) ?? '');
    await publish({ runtime: 'gemini', logPath, agentSessionId: ids.gemini, shortenedFrom: undefined });
    listen(async () => ({ kind, reason: 'no' }));
    const { stdout, code } = await ctxwrap(['--quiet', 'undo'], bench);
    expect(stdout).toMatch(text);
    const fresh = made().filter((name) => !before.includes(name));
    expect(fresh.filter((name) => name.includes('ctxwrap-'))).toHaveLength(checkpoints);
    expect(fresh.filter((name) => name.includes('session-'))).toHaveLength(sessions);
    expect(code).toBe(1);
  });
});

describe('the other commands, cut short', () => {
  const shorten = ['compact', '--strategy', 'truncate'] as const;

  it.each([
    [
      ['recall', '--into', 'draft'],
      'not known whether the draft is in the prompt of codex: you stopped waiting; look there',
    ],
    [shorten, 'not known whether codex has the shorter conversation: you stopped waiting; ctxwrap context '],
  ] as const)('%j by Ctrl-C once it has begun: nobody knows', async (args, text) => {
    listen(begins);
    const { child, ended } = ask(...args);
    await answerHas('begun');
    child.kill('SIGINT');
    expect(await ended).toMatchObject({
      signal: 'SIGINT',
      stdout: expect.stringContaining(`✗ ${text}`) as string,
    });
  });

  it.each([
    [['recall', '--into', 'draft'], 'no draft in codex: request withdrawn; nothing was typed'],
    [shorten, 'not shortened: request withdrawn; nothing was typed'],
  ] as const)('%j by Ctrl-C while it waits: nothing is typed', async (args, text) => {
    listen(waits);
    const { child, ended } = ask(...args);
    await answerHas('waiting');
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ signal: 'SIGINT', stdout: `✗ ${text}\n` });
  });

  it.each([
    [
      ['recall', '--into', 'draft'],
      'not known whether the draft was in the prompt of codex: the session has ended; nothing was sent\n',
    ],
    [
      shorten,
      `not known whether codex has the shorter conversation: the session has ended; the whole conversation is unchanged\nTo continue it:\n  ctxwrap codex resume ${ids.codex}\n`,
    ],
  ] as const)('%j by the death of a session that has begun: nobody knows', async (args, text) => {
    listen(begins);
    const { ended } = ask(...args);
    await answerHas('begun');
    wrapper.kill('SIGKILL');
    expect(await ended).toMatchObject({ code: 1, stdout: `✗ ${text}` });
  });

  it('compact --strategy by the last answer of a session that has begun: its agent has ended', async () => {
    listen(begins);
    const { ended } = ask(...shorten);
    await answerHas('begun');
    await requests?.stop();
    const text = 'the session has ended; the whole conversation is unchanged\n';
    expect(await ended).toMatchObject({ code: 1, stdout: expect.stringContaining(text) as string });
  });

  it('compact by Ctrl-C once it has begun: nobody knows', async () => {
    listen(waits);
    const { child, ended } = ask('compact');
    await answerHas('waiting');
    requests?.applyEffect({ type: 'type-compact', isQueued: false });
    await answerHas('begun');
    child.kill('SIGINT');
    expect(await ended).toMatchObject({
      signal: 'SIGINT',
      stdout: '✗ outcome unknown: you stopped waiting; ctxwrap history shows whether it has compacted\n',
    });
  });
});

describe('recall --into', () => {
  const words = '2 lines given back with your next message';
  const reason = 'this agent takes it only as a draft: ctxwrap recall --into draft';

  it.each([
    [{ kind: 'given', words }, 0, `✓ codex: ${words}\n`],
    [{ kind: 'refused', reason }, 1, `✗ not given back to codex: ${reason}\n`],
    [{ kind: 'unknown', reason: 'no answer' }, 1, '✗ not known whether codex was given it: no answer\n'],
  ] as const)('context is asked of the session, and its answer told: %j', async (result, code, stdout) => {
    listenForContext(result);
    expect(await ctxwrap(['--quiet', 'recall', '--into', 'context'], bench)).toMatchObject({ code, stdout });
  });

  it('says nothing of waiting where it is refused at once', async () => {
    listenForContext({ kind: 'refused', reason });
    const { stderr } = await ctxwrap(['recall', '--into', 'context'], bench);
    expect(stderr).toBe('');
  });

  it.each([[['recall', '--into', 'draft']], [['brief']]])('draft is asked for by %j', async (given) => {
    listen(waits, async ({ into }) =>
      into === 'draft' ? { kind: 'drafted' } : { kind: 'refused', reason: 'no draft was asked for' },
    );
    const stdout = '✓ a draft is in the prompt of codex; nothing was sent\n';
    expect(await ctxwrap(['--quiet', ...given], bench)).toMatchObject({ code: 0, stdout });
  });
});

it('a command says while it waits when it is too late to withdraw it', async () => {
  listen(begins);
  const terminal = inTerminal(process.execPath, [bin, 'recall', '--into', 'draft'], bench);
  await terminal.seen(/it is being carried out: too late to withdraw it/);
  terminal.type('\x03');
  expect((await terminal.ended).signal).toBe(2);
});

it('a command inside the agent does not wait for it, and its request outlives it', async () => {
  listen(waits);
  bench.env['CTXWRAP_SESSION'] = 'running';
  const { stdout, code } = await ctxwrap(['--quiet', 'undo'], bench);
  expect([code, stdout]).toEqual([0, 'the agent goes back as soon as it is idle\n']);
  expect(requestFile('.request.json')).not.toBe('');
  expect(copies()).toHaveLength(1);
});
