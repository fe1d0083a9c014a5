// Whose a port is, by the kernel's tables, with real processes and real connections.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { portOwner } from '../../src/storage/port-owner.js';

const WAIT = { timeout: 20_000, interval: 5 };

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

const listen = async (port: number, host: string): Promise<Server> => {
  const server = createServer((socket) => closers.push(() => socket.destroy())).listen(port, host);
  closers.push(() => server.close());
  await once(server, 'listening');
  return server;
};
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A server behind a shell, as an agent that is started by a script. The pid is that of the shell. */
const spawnServer = async (port: number, host: string) => {
  const script = `require('net').createServer(() => {}).listen(${port}, '${host}', function () { console.log(process.pid, this.address().port) })`;
  const child = spawn('sh', ['-c', '"$0" -e "$1" & wait', process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  closers.push(() => void kill(child));
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  const [server = 0, found = 0] = output.toString().split(' ').map(Number);
  return { shell: child.pid ?? 0, server, port: found };
};

/** The child has a group of its own. */
const kill = ({ pid }: ChildProcess): boolean => pid !== undefined && process.kill(-pid, 'SIGKILL');

const spawnStranger = (): number => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  closers.push(() => void kill(child));
  return child.pid ?? 0;
};

const connectTo = async (port: number, host = '127.0.0.1'): Promise<Socket> => {
  const socket = connect(port, host).on('error', () => undefined);
  closers.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
};

describe.skipIf(!existsSync('/proc/self/net/tcp'))('the owner of a port (skipped without /proc)', () => {
  it.each(['127.0.0.1', '0.0.0.0'])(
    'is the process that listens on %s, and takes the connection',
    async (host) => {
      const port = portOf(await listen(0, host));
      expect(portOwner(process.pid, port)).toBe('own');
      const { localPort } = await connectTo(port);
      await vi.waitFor(() => expect(portOwner(process.pid, port, localPort)).toBe('own'), WAIT);
    },
  );

  it.skipIf(!existsSync('/proc/self/net/tcp6'))(
    'is found where it listens on IPv6 and takes connections of IPv4, too (skipped without IPv6)',
    async () => {
      const port = portOf(await listen(0, '::'));
      for (const host of ['127.0.0.1', '::1']) {
        const { localPort } = await connectTo(port, host);
        await vi.waitFor(() => expect(portOwner(process.pid, port, localPort)).toBe('own'), WAIT);
      }
    },
  );

  it('is also a process above the one that listens, and no other', async () => {
    const { shell, server, port } = await spawnServer(0, '127.0.0.1');
    const { localPort } = await connectTo(port);
    await vi.waitFor(() => expect(portOwner(shell, port, localPort)).toBe('own'), WAIT);
    expect(portOwner(server, port, localPort)).toBe('own');
    expect(portOwner(spawnStranger(), port, localPort)).toBe('foreign');
  });

  it('is foreign where another process listens at another address of this port', async () => {
    const { shell, port } = await spawnServer(0, '127.0.0.1');
    const { localPort } = await connectTo(port);
    await vi.waitFor(() => expect(portOwner(shell, port, localPort)).toBe('own'), WAIT);
    await listen(port, '127.0.0.2');
    expect(portOwner(shell, port, localPort)).toBe('foreign');
  });

  it('is not known yet while nobody has taken the connection', async () => {
    const { shell, server, port } = await spawnServer(0, '127.0.0.1');
    process.kill(server, 'SIGSTOP');
    const { localPort } = await connectTo(port); // the kernel answers for it
    expect(portOwner(shell, port, localPort)).toBe('waiting');
    process.kill(server, 'SIGCONT');
    await vi.waitFor(() => expect(portOwner(shell, port, localPort)).toBe('own'), WAIT);
  });

  it('is never the process that listens after another one has taken the connection', async () => {
    const first = await listen(0, '127.0.0.1');
    const port = portOf(first);
    const [{ localPort }] = await Promise.all([connectTo(port), once(first, 'connection')]);
    first.close(); // the connection stays open
    const { shell } = await spawnServer(port, '127.0.0.1');
    expect(portOwner(shell, port)).toBe('own');
    expect(portOwner(shell, port, localPort)).toBe('waiting');
  });

  it('is hidden where nothing listens, or there is no such connection', async () => {
    const server = await listen(0, '127.0.0.1');
    const port = portOf(server);
    expect(portOwner(process.pid, port, 1)).toBe('hidden');
    server.close();
    await once(server, 'close');
    expect(portOwner(process.pid, port)).toBe('hidden');
  });
});
