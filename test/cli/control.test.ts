// `--control`, through the built program: a parent that owns a session.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bin, programPath } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const WAIT = { timeout: 60_000, interval: 50 };
/** Tells whether it has got descriptor 3, and waits for a line. */
const AGENT =
  '#!/bin/sh\nif { true >&3; } 2>/dev/null; then echo got it; else echo none; fi\nread line\nexit 3\n';
const typesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line).type);

describe('--control', () => {
  it('on a descriptor gives the parent events and takes its commands; the agent does not get it', async () => {
    const events = join(bench.folder, 'events');
    const args = [
      programPath('control-parent.js'),
      events,
      bin,
      '--control',
      '3',
      '--',
      bench.program('agent', AGENT),
    ];
    const terminal = inTerminal(process.execPath, args, bench);
    await terminal.seen(/none/);
    const types = () => typesIn(existsSync(events) ? readFileSync(events, 'utf8') : '');
    await vi.waitFor(() => expect(types()).toEqual(expect.arrayContaining(['state', 'error', 'mode'])), WAIT);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(3);
    expect(types().at(-1)).toBe('session-end');
  });

  it('on a socket serves who connects, and ends with the session', async () => {
    mkdirSync(join(bench.folder, 'own'), { mode: 0o700 });
    const path = join(bench.folder, 'own/c.sock');
    const terminal = inTerminal(
      process.execPath,
      [bin, '--control', path, '--', bench.program('agent', AGENT)],
      bench,
    );
    await vi.waitFor(() => expect(existsSync(path)).toBe(true), WAIT);
    const socket = createConnection(path);
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString()));
    await vi.waitFor(() => expect(typesIn(text)).toContain('state'), WAIT);
    socket.write('{"do":"mode","mode":"ask"}\n');
    await vi.waitFor(() => expect(typesIn(text)).toContain('mode'), WAIT);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(3);
    await vi.waitFor(() => expect(typesIn(text).at(-1)).toBe('session-end'), WAIT);
    expect(existsSync(path)).toBe(false);
  });

  it('has the agent compacted, and the parent and every reader of events hear of all of it', async () => {
    bench.env['CTXWRAP_DEMO_LOG'] = join(bench.folder, 'demo.jsonl');
    const [path, folder] = [
      join(bench.folder, 'own/c.sock'),
      join(bench.folder, '.local/state/ctxwrap/events'),
    ];
    const bounds = ['--mode', 'warn', '--warn', '20k', '--auto', '30k', '--hard', '190k'];
    const terminal = inTerminal(
      process.execPath,
      [
        bin,
        ...bounds,
        '--runtime',
        'demo',
        '--control',
        path,
        '--',
        process.execPath,
        programPath('demo-like.js'),
      ],
      bench,
    );
    await terminal.seen(/25%/);
    const socket = createConnection(path);
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString()));
    await vi.waitFor(() => expect(typesIn(text)).toContain('state'), WAIT);
    socket.write('{"do":"compact","id":"mine"}\n');
    await vi.waitFor(() => expect(typesIn(text)).toContain('outcome'), WAIT);
    terminal.type('\x03\x03');
    await terminal.ended;
    const events = (lines: string) =>
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    const [name = ''] = readdirSync(folder);
    for (const told of [events(text), events(readFileSync(join(folder, name), 'utf8'))]) {
      const about = told.filter(({ request }) => request === 'mine');
      expect(about).toMatchObject([
        { type: 'attempt' },
        { type: 'outcome', attempt: { outcome: 'verified', isManual: true } },
      ]);
      expect(told).toContainEqual(expect.objectContaining({ type: 'tier', tier: 'safe', before: 'auto' }));
      expect(told.map(({ seq }) => seq)).toEqual(told.map((_, index) => index + 1));
      expect(told.at(-1)).toMatchObject({ type: 'session-end', exit: { code: 0 } });
    }
  });

  it('in a folder that other users can enter is refused before the agent starts', async () => {
    mkdirSync(join(bench.folder, 'open'), { mode: 0o755 });
    const path = join(bench.folder, 'open/c.sock');
    const terminal = inTerminal(
      process.execPath,
      [bin, '--control', path, '--', bench.program('agent', AGENT)],
      bench,
    );
    expect((await terminal.ended).exitCode).toBe(2);
    expect(terminal.output()).toContain('other users can enter');
    expect(terminal.output()).not.toContain('none');
  });

  it('without a terminal makes no channel, and the program runs as it is', async () => {
    const path = join(bench.folder, 'c.sock');
    const agent = bench.program('agent', '#!/bin/sh\necho plain\n');
    expect((await ctxwrap(['--control', path, '--', agent], bench)).stdout).toBe('plain\n');
    expect(existsSync(path)).toBe(false);
  });
});
