// Makes a process on Linux see what one on macOS would: another platform, no /proc, no watched folders, bash as /bin/sh. By `--require`, before
// anything else of each thread. Programs that macOS has in another form stand in `bin/`, for PATH.
const childProcess = require('node:child_process');
const fs = require('node:fs');
const { Module, syncBuiltinESMExports } = require('node:module');
const os = require('node:os');
const { dirname, join } = require('node:path');

const SYSTEM_SHELL = '/bin/sh';
const SHELL = '/bin/bash'; // what /bin/sh is on macOS, where it obeys POSIX
const linux = process.platform;

Object.defineProperty(process, 'platform', { value: 'darwin' });
os.platform = () => 'darwin';
os.type = () => 'Darwin';

const isInProc = (path) => typeof path === 'string' && /^\/proc(?:\/|$)/.test(path);
const missing = (call, path) =>
  Object.assign(new Error(`ENOENT: no such file or directory, ${call} '${path}'`), {
    code: 'ENOENT',
    errno: -2,
    syscall: call,
    path,
  });

const hideProc = (module, fail) => {
  for (const [name, call] of Object.entries(module)) {
    if (typeof call !== 'function' || /^[A-Z_]|^watch/.test(name)) continue;
    const hiding = (path, ...rest) =>
      isInProc(path) ? fail(missing(name.replace(/Sync$/, ''), path), name, rest) : call(path, ...rest);
    module[name] = Object.assign(hiding, call);
  }
};
hideProc(fs, (error, name, rest) => {
  if (name === 'existsSync') return false;
  const done = rest.at(-1);
  if (typeof done === 'function') return void process.nextTick(done, error);
  if (rest.some((each) => each?.throwIfNoEntry === false)) return undefined;
  throw error;
});
hideProc(fs.promises, (error) => Promise.reject(error));

fs.watch = () => {
  throw Object.assign(new Error('ENOSYS: function not implemented, watch'), { code: 'ENOSYS' });
};

/** The shell and its script: what it would read below /proc is not there. */
const shellOf = (file, args) =>
  file === SYSTEM_SHELL
    ? [SHELL, ['--posix', ...args.map((each) => each.replaceAll('/proc/', '/no-proc/'))]]
    : [file, args];
for (const name of ['spawn', 'spawnSync', 'execFile', 'execFileSync']) {
  const call = childProcess[name];
  const calling = (file, ...rest) =>
    Array.isArray(rest[0]) ? call(...shellOf(file, rest[0]), ...rest.slice(1)) : call(file, ...rest);
  childProcess[name] = Object.assign(calling, call, {
    [Symbol.for('nodejs.util.promisify.custom')]: call[Symbol.for('nodejs.util.promisify.custom')],
  });
}
syncBuiltinESMExports();

// the native part of node-pty is that of Linux; on macOS another program starts the child, which is the same here
const resolve = Module._resolveFilename;
const ADDON = /^@lydell\/node-pty-darwin-(\w+)\/(pty\.node|spawn-helper)$/;
Module._resolveFilename = (request, ...rest) => {
  const [, arch, part] = ADDON.exec(request) ?? [];
  if (part === undefined) return resolve(request, ...rest);
  const addon = resolve(`@lydell/node-pty-${linux}-${arch}/pty.node`, ...rest);
  return part === 'pty.node' ? addon : join(dirname(addon), part);
};
const load = Module._extensions['.node'];
Module._extensions['.node'] = (module, path) => {
  load(module, path);
  const { fork } = module.exports;
  if (path.endsWith('/pty.node') && fork)
    module.exports = {
      ...module.exports,
      fork: (file, args, ...rest) => fork(...shellOf(file, args), ...rest),
    };
};
