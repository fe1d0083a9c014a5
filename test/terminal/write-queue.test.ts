import { setImmediate as turn } from 'node:timers/promises';
import { constants, openSync } from 'node:fs';
import { WriteStream } from 'node:tty';
import { type IPty, spawn } from '@lydell/node-pty';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { makeWriteQueue, type WriteQueue } from '../../src/terminal/write-queue.js';
import { runs } from '../support/runs.js';

/** A queue into one side of a real pseudo-terminal in raw mode, whose other side is read only on command. */
interface Line {
  readonly queue: WriteQueue;
  readonly seen: { drained: number; gone: number };
  /** bytes that have been read */
  readonly received: () => number;
  readonly read: () => void;
  readonly hangUp: () => void;
  readonly close: () => void;
}

const countEvents = () => {
  const seen = { drained: 0, gone: 0 };
  return { seen, onDrained: () => void (seen.drained += 1), onHangUp: () => void (seen.gone += 1) };
};

/** Members of node-pty that its types lack. */
interface BytePty extends IPty {
  readonly fd: number;
  readonly _pty: string;
  readonly _socket: { readonly destroyed: boolean };
}

/** To a program, as the user's keys go to the agent: refused bytes are tried again. */
const openProgram = async (): Promise<Line> => {
  const script = `
    process.stdin.setRawMode(true);
    process.stdin.pause();
    process.stdin.on('data', (bytes) => process.stdout.write('<' + bytes.length + '>'));
    setInterval(() => undefined, 1_000_000);
    process.on('SIGUSR1', () => process.stdin.resume());
    process.stdout.write('ready');`;
  const pty = spawn(process.execPath, ['-e', script], { encoding: null }) as BytePty;
  let output = '';
  pty.onData((data) => (output += String(data)));
  let open = true;
  pty.onExit(() => (open = false));
  await vi.waitFor(() => expect(output).toContain('ready'), { timeout: 20_000 });
  const { seen, ...listener } = countEvents();
  const queue = makeWriteQueue({
    fd: pty.fd,
    isOpen: () => open && !pty._socket.destroyed,
    ...listener,
  });
  return {
    queue,
    seen,
    received: () => [...output.matchAll(/<(\d+)>/g)].reduce((sum, [, count]) => sum + Number(count), 0),
    read: () => process.kill(pty.pid, 'SIGUSR1'),
    hangUp: () => process.kill(pty.pid, 'SIGKILL'),
    close: () => pty.kill('SIGKILL'),
  };
};

/** To a terminal, as the agent's output goes: the system tells when it takes more. */
const openTerminal = async (): Promise<Line> => {
  const pty = spawn('sh', ['-c', 'stty raw -echo; printf ready; exec sleep 1000'], {
    encoding: null,
  }) as BytePty;
  let received = -'ready'.length;
  pty.onData((data) => (received += data.length));
  await vi.waitFor(() => expect(received).toBe(0), { timeout: 20_000 });
  pty.pause();
  const terminal = openSync(pty._pty, constants.O_WRONLY | constants.O_NOCTTY);
  const stream = new WriteStream(terminal); // opens the terminal anew
  const { _handle: handle } = stream as unknown as { readonly _handle: Handle };
  handle.setBlocking(false);
  const { seen, ...listener } = countEvents();
  stream.on('error', () => undefined);
  const queue = makeWriteQueue({
    fd: handle.fd,
    isOpen: () => !stream.destroyed,
    ...listener,
    streamed: (bytes, onDone) => void stream.write(bytes, onDone),
  });
  const close = (): void => {
    stream.destroy();
    pty.kill('SIGKILL');
  };
  return {
    queue,
    seen,
    received: () => received,
    read: () => pty.resume(),
    hangUp: () => (pty as unknown as { readonly destroy: () => void }).destroy(),
    close,
  };
};

interface Handle {
  readonly fd: number;
  readonly setBlocking: (isBlocking: boolean) => void;
}

describe.each([
  { line: 'a program', open: openProgram },
  { line: 'a terminal', open: openTerminal },
])('bytes for $line that does not read', ({ open }) => {
  it('wait in order without blocking the process, and are all read in the end', async () => {
    const { queue, seen, received, read, close } = await open();
    for (let count = 0; count < 100; count += 1) queue.write(Buffer.alloc(10_000, 0x61));
    expect(queue.pending()).toBeGreaterThan(500_000);
    for (let count = 0; count < 100; count += 1) await turn(); // the loop is alive
    expect(seen.drained).toBe(0);
    read();
    await queue.drained();
    await vi.waitFor(() => expect(received()).toBe(1_000_000), { timeout: 20_000 });
    expect(seen).toEqual({ drained: 1, gone: 0 });
    close();
  });

  it('are dropped when the queue is closed, which also resolves `drained`', async () => {
    const { queue, close } = await open();
    queue.write(Buffer.alloc(1_000_000, 0x61));
    const drained = queue.drained();
    queue.close();
    await drained;
    expect(queue.pending()).toBe(0);
    queue.write(Buffer.from('more'));
    expect(queue.pending()).toBe(0);
    close();
  });

  it('are written in pieces of any size, and none is lost', async () => {
    const { queue, received, read, close } = await open();
    let sent = 0;
    read();
    const sizes = fc.array(fc.integer({ min: 0, max: 30_000 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(sizes, async (pieces) => {
        for (const size of pieces) queue.write(Buffer.alloc(size, 0x62));
        sent += pieces.reduce((sum, size) => sum + size, 0);
        await queue.drained();
        await vi.waitFor(() => expect(received()).toBe(sent), { timeout: 20_000, interval: 2 });
      }),
      runs(20, 20261122),
    );
    close();
  });

  it('are dropped after a hang-up, which is reported once', async () => {
    const { queue, seen, hangUp, close } = await open();
    queue.write(Buffer.alloc(1_000_000, 0x61));
    hangUp();
    await queue.drained();
    queue.write(Buffer.from('more'));
    expect(queue.pending()).toBe(0);
    expect(seen.gone).toBeLessThanOrEqual(1);
    close();
  });
});
