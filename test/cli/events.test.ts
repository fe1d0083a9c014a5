// `ctxwrap events`, through the built program: what other programs are told of sessions.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionRecord } from '../../src/core/report/records.js';
import { openEventJournal } from '../../src/storage/event-journal.js';
import { ensureSessionsFolder, writeSession } from '../../src/storage/sessions.js';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const WAIT = { timeout: 60_000, interval: 50 };
const stateFolder = (): string => join(bench.folder, '.local/state/ctxwrap');

interface Line {
  readonly session: string;
  readonly seq: number;
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A reader that parses each line; a torn one throws. */
const follow = (args: readonly string[] = []) => {
  const child = spawn(process.execPath, [bin, 'events', ...args, '--ndjson'], {
    env: bench.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  const ended = once(child, 'exit');
  return { child, lines, ended };
};

/** What a wrapper publishes of a session of its own. */
const publish = async (id: string) => {
  const record: SessionRecord = {
    schema: 'ctxwrap.session/1',
    id,
    version: '1',
    pid: process.pid,
    childPid: 1,
    runtime: 'demo',
    cwd: '/proj',
    startedAt: Date.now(),
    heartbeatAt: Date.now(),
    activity: 'ready',
    compactions: 0,
    thresholds: [],
  };
  const journal = openEventJournal({
    stateFolder: stateFolder(),
    session: id,
    snapshot: () => ({ type: 'state', state: record }),
    onFailure: (reason) => {
      throw new Error(reason);
    },
  });
  journal.append({ type: 'session-start', state: record }, Date.now());
  await journal.flushed();
  await writeSession(await ensureSessionsFolder(stateFolder()), record);
  return journal;
};

const seqsOf = (lines: readonly Line[], session: string): readonly number[] =>
  lines.filter((line) => line.session === session).map(({ seq }) => seq);

describe('ctxwrap events', () => {
  it('follows a real session from its state to its end, and then ends itself', async () => {
    const program = bench.program(
      'waiter',
      '#!/bin/sh\necho "session $CTXWRAP_SESSION"\nread line\nexit 3\n',
    );
    const terminal = inTerminal(process.execPath, [bin, '--', program], bench);
    await terminal.seen(/session \S+/);
    const id = /session (\S+)/.exec(terminal.output())?.[1] ?? '';
    await vi.waitFor(
      async () =>
        expect(JSON.parse((await ctxwrap(['ps', '--json'], bench)).stdout).sessions).toHaveLength(1),
      WAIT,
    );
    const reader = follow([id]);
    const everybody = follow();
    await vi.waitFor(() => expect([reader.lines[0], everybody.lines[0]]).not.toContain(undefined), WAIT);
    expect(reader.lines[0]).toMatchObject({
      schema: 'ctxwrap.event/1',
      session: id,
      type: 'state',
      state: { schema: 'ctxwrap.session/1', id, cwd: bench.folder },
    });
    terminal.type('done\r');
    await terminal.ended;
    expect(await reader.ended).toEqual([0, null]);
    expect(reader.lines.at(-1)).toMatchObject({ type: 'session-end', exit: { code: 3 } });
    await vi.waitFor(() => expect(everybody.lines.at(-1)?.type).toBe('session-end'), WAIT);
    everybody.child.kill();
    await everybody.ended;
    const ended = await ctxwrap(['events', id], bench);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/ended: 3\n$/);
  });

  it(
    'of 50 sessions, followed by 10 readers, come whole, in order and all',
    { timeout: 120_000 },
    async () => {
      const names = Array.from({ length: 50 }, (_, index) => `${process.pid}-s${index}`);
      const journals = await Promise.all(names.map(publish));
      const readers = Array.from({ length: 10 }, () => follow());
      await vi.waitFor(() => {
        for (const { lines } of readers) expect(new Set(lines.map(({ session }) => session)).size).toBe(50);
      }, WAIT);
      const times = 60;
      for (let time = 0; time < times; time += 1)
        for (const journal of journals) {
          const [before, activity] =
            time % 2 === 0 ? (['ready', 'busy'] as const) : (['busy', 'ready'] as const);
          journal.append(
            { type: 'activity', activity, before, asks: `${time} ${'ü'.repeat(time)}` },
            Date.now(),
          );
          if (time % 7 === 0) await journal.flushed();
        }
      for (const journal of journals) {
        journal.append({ type: 'session-end', exit: { code: 0 } }, Date.now());
        await journal.close();
      }
      await vi.waitFor(() => {
        for (const { lines } of readers)
          expect(lines.filter(({ type }) => type === 'session-end')).toHaveLength(50);
      }, WAIT);
      for (const { lines, child, ended } of readers) {
        expect(lines.some(({ type }) => type === 'dropped')).toBe(false);
        for (const name of names)
          expect(seqsOf(lines, name)).toEqual(Array.from({ length: times + 2 }, (_, index) => index + 1));
        child.kill();
        await ended;
      }
    },
  );

  it('cost a session nothing where the reader has stopped reading, and go on where it reads again', async () => {
    const journal = await publish('mine');
    const child = spawn(process.execPath, [bin, 'events', '--ndjson'], {
      env: bench.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { stdout } = child;
    let text = '';
    stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    await vi.waitFor(() => expect(text).toContain('\n'), WAIT);
    stdout.pause();
    const lines = 400; // more than a pipe holds
    for (let index = 0; index < lines; index += 1)
      journal.append({ type: 'conversation', agentSessionId: `${index} ${'x'.repeat(400)}` }, Date.now());
    journal.append({ type: 'session-end' }, Date.now());
    await journal.close(); // waits for nobody
    stdout.resume();
    await vi.waitFor(() => expect(text).toContain('session-end'), WAIT);
    const seqs = seqsOf(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      'mine',
    );
    expect(seqs).toEqual(Array.from({ length: lines + 2 }, (_, index) => index + 1));
    child.kill();
    await once(child, 'exit');
  });

  it('end quietly when their reader has gone', async () => {
    const journal = await publish('mine');
    const child = spawn(process.execPath, [bin, 'events', 'mine', '--ndjson'], {
      env: bench.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const ended = once(child, 'exit');
    const timer = setInterval(() => journal.append({ type: 'conversation' }, Date.now()), 50);
    expect(await ended).toEqual([0, null]);
    clearInterval(timer);
    await journal.close();
    expect(errors).toBe('');
  });

  it('of a session that is not there are refused, with those that are', async () => {
    const { code, stderr } = await ctxwrap(['events', 'nobody'], bench);
    expect(code).toBe(2);
    expect(stderr).toContain('nobody');
  });

  it('are refused where the folder of sessions cannot be used, in place of waiting for ever', async () => {
    mkdirSync(join(bench.folder, '.local/state'), { recursive: true });
    writeFileSync(stateFolder(), 'a file in its place');
    const { code, stderr } = await ctxwrap(['events'], bench);
    expect(code).toBe(2);
    expect(stderr).toContain('cannot read the sessions in');
  });
});
