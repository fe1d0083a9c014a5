// xterm, kitty and alacritty under Xvfb, without a window manager. Each gives the text of its screen with the scrollback.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { launch, pause, sizeOf, work } from './launch.js';

const xdo = (...args) =>
  execFileSync('xdotool', args.map(String), { stdio: ['ignore', 'pipe', 'ignore'] }).toString();

const windowOf = async (pid) => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      const [id] = xdo('search', '--onlyvisible', '--pid', pid).trim().split('\n');
      if (id) return id;
    } catch {
      // not mapped yet
    }
    await pause(50);
  }
  throw new Error('no window appeared');
};

const geometryOf = (id) => {
  const text = xdo('getwindowgeometry', '--shell', id);
  return { width: Number(/WIDTH=(\d+)/.exec(text)[1]), height: Number(/HEIGHT=(\d+)/.exec(text)[1]) };
};

const keys = (id, names) => {
  xdo('windowfocus', '--sync', id);
  xdo('key', '--delay', 30, ...names);
};

/** What the three have in common: sizes in pixels of the window, keys through the focus. */
const inWindow = async (program, args, { command, name, env }) => {
  const started = await launch(program, args, { command, name, env });
  const id = await windowOf(started.pid);
  await pause(300);
  const now = sizeOf(started.tty);
  const pixels = geometryOf(id);
  const cell = {
    width: Math.floor(pixels.width / now.columns),
    height: Math.floor(pixels.height / now.rows),
  };
  const resize = ({ columns, rows }) => xdo('windowsize', id, columns * cell.width, rows * cell.height);
  return {
    ...started,
    resize,
    type: (text) => {
      xdo('windowfocus', '--sync', id);
      xdo('type', '--delay', 5, text.replace(/\n$/, ''));
      if (text.endsWith('\n')) xdo('key', 'Return');
    },
    keys: (names) => keys(id, names),
    shoot: (file) => execFileSync('import', ['-window', id, file]),
  };
};

const quietly = async (file, produce) => {
  rmSync(file, { force: true });
  produce();
  for (let attempt = 0, last = -1; attempt < 40; attempt += 1) {
    await pause(50);
    const size = existsSync(file) ? statSync(file).size : -1;
    if (size > 0 && size === last) break;
    last = size;
  }
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

/** Prints itself on request: all pages, that is scrollback and screen (CSI ? 11 i). */
const openXterm = async (options) => {
  const file = `${work}/${options.name}.print`;
  const resources = {
    printerCommand: `sh -c "cat > ${file}"`,
    printerControlMode: '0',
    printAttributes: '0',
    printerFormFeed: 'false',
    saveLines: '3000',
    internalBorder: '0',
    scrollBar: 'false',
    allowWindowOps: 'true',
  };
  const { columns, rows } = options.size;
  const looks = ['-u8', '-fn', 'fixed', '-geometry', `${columns}x${rows}`];
  const args = Object.entries(resources).flatMap(([key, value]) => ['-xrm', `*${key}: ${value}`]);
  const terminal = await inWindow('xterm', [...looks, ...args, '-e'], {
    ...options,
    env: { TERM: 'xterm-256color' },
  });
  return { ...terminal, dump: () => quietly(file, () => writeFileSync(terminal.tty, '\x1b[?11i')) };
};

const kittySettings = [
  'allow_remote_control=yes',
  'font_size=8',
  'window_padding_width=0',
  'confirm_os_window_close=0',
];

const openKitty = async (options) => {
  const socket = `unix:${work}/${options.name}.kitty`;
  const { columns, rows } = options.size;
  const size = [
    'remember_window_size=no',
    `initial_window_width=${columns}c`,
    `initial_window_height=${rows}c`,
  ];
  const settings = [...kittySettings, ...size].flatMap((each) => ['-o', each]);
  const args = ['--config', 'NONE', '--listen-on', socket, ...settings];
  const terminal = await inWindow('kitty', args, options);
  const ask = (...words) => execFileSync('kitty', ['@', '--to', socket, ...words]).toString();
  return { ...terminal, dump: async () => ask('get-text', '--extent', 'all') };
};

/* The vi mode of alacritty selects everything; the selection is read from the clipboard. */
const alacrittyKeys = `
scrolling: { history: 3000 }
font: { size: 7 }
key_bindings:
  - { key: F1, action: ToggleViMode }
  - { key: F2, mode: Vi, action: ScrollToTop }
  - { key: F3, mode: Vi, action: ToggleLineSelection }
  - { key: F4, mode: Vi, action: ScrollToBottom }
  - { key: F6, mode: Vi, action: Low }
  - { key: F5, mode: Vi, action: Copy }
  - { key: F7, mode: Vi, action: ClearSelection }
`;

const openAlacritty = async (options) => {
  const config = `${work}/${options.name}.yml`;
  const { columns, rows } = options.size;
  writeFileSync(config, `${alacrittyKeys}window: { dimensions: { columns: ${columns}, lines: ${rows} } }\n`);
  const terminal = await inWindow('alacritty', ['--config-file', config, '-e'], options);
  const copy = async () => {
    terminal.keys(['F1', 'F2', 'F3', 'F4', 'F6', 'F5', 'F7', 'F1']);
    await pause(150);
    return execFileSync('xclip', ['-o', '-selection', 'clipboard'], { timeout: 2000 }).toString();
  };
  return { ...terminal, dump: copy };
};

export const xTerminals = { xterm: openXterm, kitty: openKitty, alacritty: openAlacritty };
