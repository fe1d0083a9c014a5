// What node-pty's addon alone gains: the same bare proxy through its public interface, and through the addon with ctxwrap's own reads and writes.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, root } from './bundle.js';
import { BARE } from './candidates.js';
import { measureLatency } from './measure-latency.js';
import { measureThroughput } from './measure-throughput.js';

// as test/bench/bare-proxy.js, line by line
const SOURCE = `
import { openNativePty } from './src/terminal/native-pty.js';
import { makeWriteQueue } from './src/terminal/write-queue.js';

const [file = 'sh', ...args] = process.argv.slice(2);
const [columns, rows] = process.stdout.getWindowSize();
const ignore = () => undefined;
const pty = openNativePty({ file, args, cwd: process.cwd(), env: process.env, columns, rows }).read({
  onData: (bytes) => process.stdout.write(new Uint8Array(bytes)), // the next read overwrites them
  onClose: ignore,
  onExit: (exitCode) => {
    process.stdin.setRawMode(false);
    process.exit(exitCode);
  },
});
const queue = makeWriteQueue({ fd: pty.fd, isOpen: () => !pty.isClosed(), onDrained: ignore, onHangUp: ignore });
process.stdin.setRawMode(true);
process.stdin.on('data', queue.write);
process.on('SIGWINCH', () => pty.resize(...process.stdout.getWindowSize()));
`;

const addonProxy = async (folder) => {
  const place = pathToFileURL(join(root, 'package.json')).href; // node-pty is found from there
  const outfile = await bundle(folder, 'addon-proxy', SOURCE, { 'import.meta.url': JSON.stringify(place) });
  return {
    name: 'addon alone',
    words: (command) => [process.execPath, outfile, ...command],
    helpers: () => [],
  };
};

/** Echo in ms, at rest and beside a flood, and processor time for 1 GB of recordings in s: of both proxies, the public interface first. */
export const measurePty = async (all, { folder, rounds, stream }) => {
  const both = [
    { ...all.find(({ name }) => name === BARE), name: 'public interface' },
    await addonProxy(folder),
  ];
  const echoes = await measureLatency(both, rounds);
  const outputs = await measureThroughput(both, stream, rounds);
  return echoes.map((row, index) => ({ ...outputs[index], ...row }));
};
