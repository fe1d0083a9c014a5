// tmux, and GNU screen inside a tmux that gives it its size.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { announced, pause, ttyOf, work } from './launch.js';

const literal = (text) => text.replace(/\n$/, '');

const openTmux = async ({ size, command, name, shell = announced(command, name) }) => {
  const socket = `${work}/${name}.tmux`;
  const tmux = (...args) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args.map(String)]).toString();
  const settings = ['set', '-g', 'status', 'off', ';', 'set', '-g', 'default-terminal', 'tmux-256color', ';'];
  const session = ['new-session', '-d', '-x', size.columns, '-y', size.rows, shell];
  tmux('start-server', ';', ...settings, 'set', '-g', 'history-limit', '3000', ';', ...session);
  const tty = await ttyOf(name);
  return {
    tty,
    resize: ({ columns, rows }) => tmux('resize-window', '-x', columns, '-y', rows),
    type: (text) => {
      tmux('send-keys', '-l', literal(text));
      if (text.endsWith('\n')) tmux('send-keys', 'Enter');
    },
    dump: async () => tmux('capture-pane', '-p', '-S', '-'),
    close: async () => {
      tmux('kill-server');
    },
  };
};

const openScreen = async ({ size, command, name }) => {
  const file = `${work}/${name}.hardcopy`;
  const settings = `${work}/screenrc`;
  writeFileSync(settings, 'startup_message off\naltscreen on\n');
  const session = name;
  const quoted = announced(command, name).replaceAll("'", `'\\''`);
  const shell = `env -u TMUX -u TMUX_PANE SCREENDIR=${work} screen -c ${settings} -U -h 3000 -S ${session} sh -c '${quoted}'`;
  const outer = await openTmux({ size, name, shell });
  const screen = (...args) =>
    execFileSync('screen', ['-S', session, '-p', '0', '-X', ...args], {
      env: { ...process.env, SCREENDIR: work },
    });
  return {
    ...outer,
    dump: async () => {
      rmSync(file, { force: true });
      screen('hardcopy', '-h', file);
      for (let attempt = 0; attempt < 40 && !existsSync(file); attempt += 1) await pause(50);
      await pause(50);
      return readFileSync(file, 'utf8');
    },
    close: async () => {
      screen('quit'); // the tmux around it ends with it
    },
  };
};

export const multiplexers = { tmux: openTmux, screen: openScreen };
