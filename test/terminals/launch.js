import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';

export const work = process.env.WORK;
export const PATIENCE = Number(process.env.PATIENCE ?? 1);

/** On a busy machine, PATIENCE=4 waits four times as long everywhere. */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms * PATIENCE));

/** A command line for `sh -c` that tells us its terminal first. */
export const announced = (command, name) => `tty >${work}/${name}.tty; exec ${command}`;

export const ttyOf = async (name) => {
  const file = `${work}/${name}.tty`;
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    if (text !== '') return text;
    await pause(50);
  }
  throw new Error(`${name} did not start`);
};

export const sizeOf = (tty) => {
  const fd = openSync(tty, 'r');
  const [rows, columns] = execFileSync('stty', ['size'], { stdio: [fd, 'pipe', 'ignore'] })
    .toString()
    .split(' ');
  closeSync(fd);
  return { rows: Number(rows), columns: Number(columns) };
};

/** Starts `program args… sh -c command`, a terminal that runs the command. */
export const launch = async (program, args, { command, name, env = {} }) => {
  const child = spawn(program, [...args, 'sh', '-c', announced(command, name)], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const tty = await ttyOf(name);
  return {
    pid: child.pid,
    tty,
    close: async () => {
      child.kill('SIGTERM');
      await Promise.race([gone, pause(2000)]);
      if (child.exitCode === null) child.kill('SIGKILL');
    },
  };
};
