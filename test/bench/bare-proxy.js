// The least that a wrapper with node-pty can do: bytes both ways, nothing looked at. What ctxwrap adds is measured against it.
import { spawn } from '@lydell/node-pty';

const [file = 'sh', ...args] = process.argv.slice(2);
const [cols, rows] = process.stdout.getWindowSize();
const pty = spawn(file, args, { cols, rows, env: process.env, encoding: null });

process.stdin.setRawMode(true);
process.stdin.on('data', (bytes) => pty.write(bytes));
pty.onData((bytes) => process.stdout.write(bytes));
process.on('SIGWINCH', () => pty.resize(...process.stdout.getWindowSize()));
pty.onExit(({ exitCode }) => {
  process.stdin.setRawMode(false);
  process.exit(exitCode);
});
