// The channel of a parent that owns a session, over real sockets.
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { checkControlPlace } from '../../src/storage/control-place.js';
import { openControl, type Control } from '../../src/worker/control.js';

const WAIT = { timeout: 20_000, interval: 10 };
let folder: string;
let path: string;
let control: Control;
let taken: Event[];
let failures: string[];
let snapshots: number;
let details: string; // of the state
const sockets: Socket[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'control-'));
  path = join(folder, 'c.sock');
  [taken, failures, snapshots, details] = [[], [], 0, ''];
  control = open();
  await vi.waitFor(() => statSync(path), WAIT);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await control.close();
  rmSync(folder, { recursive: true });
});

const open = (): Control =>
  openControl({
    place: { path },
    session: 'me',
    isReplacement: false,
    strategies: ['auto', 'truncate'],
    snapshot: () => {
      snapshots += 1;
      return { type: 'state', state: { id: 'me', details } as never };
    },
    now: Date.now,
    onEvent: (event) => taken.push(event),
    onFailure: (reason) => failures.push(reason),
  });

interface Line {
  readonly type: string;
  readonly seq: number;
  readonly [key: string]: unknown;
}

const connect = () => {
  const socket = createConnection(path);
  sockets.push(socket);
  const lines: Line[] = [];
  createInterface({ input: socket }).on('line', (line) => lines.push(JSON.parse(line)));
  return { socket, lines };
};
const seen = (lines: readonly Line[], type: string) =>
  vi.waitFor(() => expect(lines.map((line) => line.type)).toContain(type), WAIT);

describe('the channel of a parent', () => {
  it('begins with the state, and carries commands in and events out', async () => {
    const { socket, lines } = connect();
    await seen(lines, 'state');
    await vi.waitFor(() => expect(statSync(path).mode & 0o777).toBe(0o600), WAIT);
    socket.write('{"do":"compact","id":"one","focus":"tests","force":true}\n{"do":"mo');
    socket.write(
      'de","mode":"ask"}\n{"do":"strategy","strategy":"truncate"}\n{"do":"pause"}\n{"do":"withdraw","id":"one"}\n\n{"do":"state"}\n',
    );
    await vi.waitFor(() => expect(lines).toHaveLength(2), WAIT);
    expect(taken).toEqual([
      { type: 'compact-requested', request: { id: 'one', force: true, focus: 'tests' } },
      { type: 'mode', mode: 'ask' },
      { type: 'strategy', strategy: 'truncate' },
      { type: 'postpone' },
      { type: 'compact-cancelled', id: 'one' },
    ]);
    control.emit({ type: 'tier', tier: 'warn', before: 'safe' });
    await seen(lines, 'tier');
    expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(lines[2]).toMatchObject({ schema: 'ctxwrap.event/1', session: 'me', tier: 'warn' });
  });

  it.each([
    ['no JSON', 'compact', /no JSON object/],
    [
      'no command',
      '{"do":"explode"}',
      /one of compact, withdraw, mode, strategy, pause, state, got "explode"/,
    ],
    [
      'a mode that a session cannot change to',
      '{"do":"mode","mode":"off"}',
      /one of auto, ask, warn, got "off"/,
    ],
    [
      'a strategy that the session cannot use',
      '{"do":"strategy","strategy":"summarize"}',
      /one of auto, truncate, got "summarize"/,
    ],
    ['an id that is none', '{"do":"compact","id":"../x"}', /id must be/],
    ['a focus that is no text', '{"do":"compact","focus":5}', /focus must be a text, got 5/],
    ['a force that is neither', '{"do":"compact","force":"yes"}', /force must be true or false, got "yes"/],
    ['nothing to withdraw', '{"do":"withdraw"}', /id must be .* got nothing/],
    ['a line without an end', 'x'.repeat(100_000), /at most 16384 bytes/],
  ])('answers a line with %s by an error, and goes on', async (_, line, message) => {
    const { socket, lines } = connect();
    socket.write(`${line}\n{"do":"pause"}\n`);
    await seen(lines, 'error');
    expect(lines.find(({ type }) => type === 'error')?.['message']).toMatch(message);
    await vi.waitFor(() => expect(taken).toEqual([{ type: 'postpone' }]), WAIT);
  });

  it('drops and counts events that the parent does not read, and then sends the state', async () => {
    const { socket, lines } = connect();
    await seen(lines, 'state');
    socket.pause();
    const asks = 'x'.repeat(2_000);
    const most = 2_000; // far more than a socket and the buffer hold
    for (let index = 0; index < most; index += 1)
      control.emit({ type: 'activity', activity: 'busy', before: 'ready', asks });
    socket.resume();
    await vi.waitFor(() => {
      control.emit({ type: 'mode', mode: 'ask', before: 'auto' });
      expect(lines.map(({ type }) => type)).toContain('dropped');
    }, WAIT);
    const at = lines.findIndex(({ type }) => type === 'dropped');
    await vi.waitFor(() => expect(lines[at + 1]?.type).toBe('state'), WAIT);
    expect(lines[at]?.['count']).toBe((lines[at]?.seq ?? 0) - (lines[at - 1]?.seq ?? 0));
    expect(lines[at + 1]?.seq).toBe((lines[at]?.seq ?? 0) + 1);
  });

  it('takes some commands of a flood a turn, in order, so that everything else goes on between them', async () => {
    const { socket, lines } = connect();
    await seen(lines, 'state');
    let [before, most, isOver] = [snapshots, 0, false];
    const turn = (): void => {
      most = Math.max(most, snapshots - before);
      before = snapshots;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const states = 20_000;
    socket.write('{"do":"state"}\n'.repeat(states));
    socket.write('{"do":"compact","id":"last"}\n');
    await vi.waitFor(() => expect(taken).toHaveLength(1), { timeout: 60_000 });
    isOver = true;
    expect(snapshots).toBe(states + 1);
    expect(most).toBeLessThanOrEqual(100);
  });

  it('makes no state that a parent does not read', async () => {
    const { socket, lines } = connect();
    await seen(lines, 'state');
    socket.pause();
    details = 'x'.repeat(10_000);
    socket.write(`${'{"do":"state"}\n'.repeat(3_000)}{"do":"pause"}\n`);
    await vi.waitFor(() => expect(taken).toEqual([{ type: 'postpone' }]), WAIT);
    expect(snapshots).toBeLessThan(1_000); // of 256 KB and what the sockets hold
  });

  it('withdraws what a parent has asked for when that goes away', async () => {
    const { socket, lines } = connect();
    await seen(lines, 'state');
    socket.end('{"do":"compact","id":"one"}\n');
    await vi.waitFor(() => expect(taken.at(-1)).toEqual({ type: 'compact-cancelled', id: 'one' }), WAIT);
  });

  it('ends with the session, and leaves no socket', async () => {
    const { socket, lines } = connect();
    await seen(lines, 'state');
    const ended = new Promise((done) => socket.once('close', done));
    control.emit({ type: 'session-end', exit: { code: 0 } });
    await control.close();
    await ended;
    expect(lines.at(-1)?.type).toBe('session-end');
    expect(() => statSync(path)).toThrow('ENOENT');
  });

  it('is closed while it still opens, without a failure and without a socket', async () => {
    for (let times = 0; times < 30; times += 1) {
      await control.close();
      expect(() => statSync(path)).toThrow('ENOENT');
      await checkControlPlace({ path }); // takes as long as opening one
      control = open();
      if (times % 2 === 0) await vi.waitFor(() => statSync(path), { ...WAIT, interval: 0 });
    }
    await control.close();
    await checkControlPlace({ path });
    expect(() => statSync(path)).toThrow('ENOENT');
    expect(failures).toEqual([]);
  });

  it('takes the place of a socket that a killed session has left, and of nothing else', async () => {
    await control.close();
    const server = createServer().listen(path);
    await vi.waitFor(() => statSync(path), WAIT);
    await expect(checkControlPlace({ path })).rejects.toThrow('in use');
    const left = join(folder, 'left.sock');
    server.close();
    writeFileSync(path, 'mine');
    await expect(checkControlPlace({ path })).rejects.toThrow('is not a socket');
    await expect(checkControlPlace({ path: left })).resolves.toBeUndefined();
    rmSync(path);
    control = open();
    await vi.waitFor(() => statSync(path), WAIT);
    await seen(connect().lines, 'state');
    expect(failures).toEqual([]);
  });

  it('keeps the requests of two parents apart', async () => {
    const [one, two] = [connect(), connect()];
    await Promise.all([seen(one.lines, 'state'), seen(two.lines, 'state')]);
    one.socket.write('{"do":"compact","id":"1"}\n');
    await vi.waitFor(() => expect(taken).toHaveLength(1), WAIT);
    two.socket.end('{"do":"compact","id":"1"}\n');
    await seen(two.lines, 'error');
    await vi.waitFor(() => expect(two.socket.destroyed).toBe(true), WAIT);
    control.emit({ type: 'refused', request: '1', reason: 'busy' });
    one.socket.write('{"do":"compact","id":"1"}\n'); // it was answered, so the id is free
    await vi.waitFor(() => expect(taken).toHaveLength(2), WAIT);
    expect(taken.map(({ type }) => type)).toEqual(['compact-requested', 'compact-requested']);
  });

  it('is refused through a link, and in what is no folder', async () => {
    writeFileSync(join(folder, 'file'), '', { mode: 0o600 });
    await expect(checkControlPlace({ path: join(folder, 'file', 'x') })).rejects.toThrow('is not a folder');
    symlinkSync(folder, join(folder, 'link'));
    await expect(checkControlPlace({ path: join(folder, 'link', 'x') })).rejects.toThrow('symbolic link');
  });

  it('is refused in a folder that others may enter, and on a descriptor that is none', async () => {
    chmodSync(folder, 0o755);
    await expect(checkControlPlace({ path })).rejects.toThrow('other users can enter');
    await expect(checkControlPlace({ fd: 1 })).rejects.toThrow('from 3 to 15');
    const file = openSync(join(folder, 'file'), 'w'); // too high, or of a file
    await expect(checkControlPlace({ fd: file })).rejects.toThrow('--control');
    closeSync(file);
  });
});
