// foot in a sway without a display, which run.sh has started. It gives the text of its screen with the scrollback.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { launch, pause, PATIENCE, sizeOf, work } from './launch.js';

const folder = process.env.SWAY_RUNTIME;

/** Not in the environment of all: kitty and alacritty would open their windows there. */
const wayland = () => {
  const names = readdirSync(folder);
  return {
    XDG_RUNTIME_DIR: folder,
    WAYLAND_DISPLAY: names.find((name) => /^wayland-\d+$/.test(name)),
    SWAYSOCK: `${folder}/${names.find((name) => name.startsWith('sway-ipc.'))}`,
  };
};

const run = (file, ...args) =>
  execFileSync(file, args.map(String), { env: { ...process.env, ...wayland() } }).toString();

const KEYBOARD_MS = 150; // a key pressed before the window knows the new keyboard is lost

/** A key can be lost; the alternate screen has no scrollback, and the first of them does nothing there. */
const dumpKeys = ['F12', 'F11', 'F11'];

const settings = (file, { columns, rows }) => `
pad=0x0
font=monospace:size=6
initial-window-size-chars=${columns}x${rows}
[csd]
preferred=none
[scrollback]
lines=3000
[key-bindings]
pipe-scrollback=[sh -c "cat > ${file}.part && mv ${file}.part ${file}"] F12
pipe-visible=[sh -c "cat > ${file}.part && mv ${file}.part ${file}"] F11
`;

const openFoot = async ({ size, command, name }) => {
  const [config, file] = [`${work}/${name}.ini`, `${work}/${name}.scrollback`];
  writeFileSync(config, settings(file, size));
  const options = { command, name, env: wayland() };
  const started = await launch('foot', ['--config', config, '--app-id', name], options);
  await pause(300);
  const sway = (words) => run('swaymsg', `[app_id="^${name}$"] ${words}`);
  const windows = ({ nodes = [], floating_nodes: floating = [], ...node }) => [
    node,
    ...[...nodes, ...floating].flatMap(windows),
  ];
  const tree = JSON.parse(run('swaymsg', '-r', '-t', 'get_tree'));
  const { rect } = windows(tree).find((window) => window.app_id === name);
  const now = sizeOf(started.tty);
  const cell = { width: Math.floor(rect.width / now.columns), height: Math.floor(rect.height / now.rows) };
  const press = (...keys) => {
    sway('focus');
    run('wtype', '-s', KEYBOARD_MS * PATIENCE, ...keys);
  };
  return {
    ...started,
    resize: ({ columns, rows }) => sway(`resize set ${columns * cell.width} ${rows * cell.height}`),
    type: (text) => press(text.replace(/\n$/, ''), ...(text.endsWith('\n') ? ['-k', 'Return'] : [])),
    dump: async () => {
      rmSync(file, { force: true });
      for (let attempt = 0; attempt < 60 && !existsSync(file); attempt += 1) {
        if (attempt % 20 === 0) press('-k', dumpKeys[attempt / 20]);
        await pause(50);
      }
      return readFileSync(file, 'utf8');
    },
  };
};

export const waylandTerminals = { foot: openFoot };
