import { setImmediate as turn } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { makeWriteQueue } from '../../src/terminal/write-queue.js';
import { runs } from '../support/runs.js';

/** A real pseudo-terminal in raw mode, with a program that reads only on command. */
const openPty = async () => {
  const script = `
    process.stdin.setRawMode(true);
    process.stdin.pause();
    process.stdin.on('data', (bytes) => process.stdout.write('<' + bytes.length + '>'));
    setInterval(() => undefined, 1_000_000);
    process.on('SIGUSR1', () => process.stdin.resume());
    process.stdout.write('ready');`;
  const pty = spawn(process.execPath, ['-e', script], { encoding: null });
  let output = '';
  pty.onData((data) => (output += String(data)));
  let open = true;
  pty.onExit(() => (open = false));
  await vi.waitFor(() => expect(output).toContain('ready'), { timeout: 20_000 });
  const seen = { drained: 0, gone: 0 };
  const queue = makeWriteQueue({
    fd: (pty as unknown as { fd: number }).fd,
    isOpen: () => open && !(pty as unknown as { _socket: { destroyed: boolean } })._socket.destroyed,
    onDrained: () => (seen.drained += 1),
    onHangUp: () => (seen.gone += 1),
  });
  const received = (): number =>
    [...output.matchAll(/<(\d+)>/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  return { pty, queue, seen, received, signal: (name: NodeJS.Signals) => process.kill(pty.pid, name) };
};

describe('bytes for a terminal whose program does not read', () => {
  it('wait in order without blocking the process, and are all read in the end', async () => {
    const { pty, queue, seen, received, signal } = await openPty();
    for (let count = 0; count < 100; count += 1) queue.write(Buffer.alloc(10_000, 0x61));
    expect(queue.pending()).toBeGreaterThan(500_000);
    for (let count = 0; count < 100; count += 1) await turn(); // the loop is alive
    expect(seen.drained).toBe(0);
    signal('SIGUSR1');
    await queue.drained();
    await vi.waitFor(() => expect(received()).toBe(1_000_000), { timeout: 20_000 });
    expect(seen).toEqual({ drained: 1, gone: 0 });
    pty.kill('SIGKILL');
  });

  it('are dropped when the queue is closed, which also resolves `drained`', async () => {
    const { pty, queue } = await openPty();
    queue.write(Buffer.alloc(1_000_000, 0x61));
    const drained = queue.drained();
    queue.close();
    await drained;
    expect(queue.pending()).toBe(0);
    queue.write(Buffer.from('more'));
    expect(queue.pending()).toBe(0);
    pty.kill('SIGKILL');
  });

  it('are written in pieces of any size, and none is lost', async () => {
    const { pty, queue, received, signal } = await openPty();
    let sent = 0;
    signal('SIGUSR1');
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
    pty.kill('SIGKILL');
  });

  it('are dropped after a hang-up, which is reported once', async () => {
    const { pty, queue, seen, signal } = await openPty();
    queue.write(Buffer.alloc(1_000_000, 0x61));
    signal('SIGKILL');
    await queue.drained();
    queue.write(Buffer.from('more'));
    expect(queue.pending()).toBe(0);
    expect(seen.gone).toBeLessThanOrEqual(1);
    pty.kill('SIGKILL');
  });
});
