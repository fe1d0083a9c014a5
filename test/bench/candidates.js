// The ways to run one command that are compared, each as data: how it is started, and which processes it consists of.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What every budget is measured against. */
export const BARE = 'bare proxy';

const here = import.meta.dirname;
const bin = join(here, '../../bin/ctxwrap.js');

const quote = (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`;
const commandLine = (words) => words.map(quote).join(' ');

const isInstalled = (command) => spawnSync(command, ['-V'], { stdio: 'ignore' }).error === undefined;

const tmux = (folder) => {
  const config = join(folder, 'tmux.conf');
  const socket = join(folder, 'tmux.socket');
  writeFileSync(config, 'set -g status off\nset -sg escape-time 0\n');
  const base = ['tmux', '-S', socket, '-f', config];
  return {
    name: 'tmux',
    words: (command) => [...base, 'new-session', commandLine(command)],
    // one server draws for all clients
    helpers: () => {
      const [file, ...args] = [...base, 'display-message', '-p', '#{pid}'];
      return [Number(spawnSync(file, args, { encoding: 'utf8' }).stdout)];
    },
    close: () => spawnSync(base[0], [...base.slice(1), 'kill-server'], { stdio: 'ignore' }),
  };
};

const wrapper = (name, program) => ({
  name,
  words: (command) => [process.execPath, program, '--runtime', 'claude', '--', ...command],
  /** only of a build of ctxwrap: how it is started with these arguments */
  run: (args) => [process.execPath, program, ...args],
});

/** Every candidate that this machine has. `folder` is for the files of one run; `against` is the root of another build of ctxwrap. */
export const candidates = (folder, against) => {
  const all = [
    { name: 'alone', isAlone: true, words: (command) => command },
    { name: BARE, words: (command) => [process.execPath, join(here, 'bare-proxy.js'), ...command] },
    ...(against === undefined ? [] : [wrapper('before', join(against, 'bin/ctxwrap.js'))]),
    wrapper('ctxwrap', bin),
    {
      name: 'script',
      words: (command) => ['script', '-qfc', `exec ${commandLine(command)}`, '/dev/null'],
    },
    tmux(folder),
  ];
  return all
    .filter(({ name }) => (name !== 'script' && name !== 'tmux') || isInstalled(name))
    .map((each) => ({ helpers: () => [], close: () => undefined, ...each }));
};

/** The builds of ctxwrap among them. */
export const buildsOf = (all) => all.filter(({ run }) => run);

/** Names that are missing from the comparison, for a note below the table. */
export const missing = (found) =>
  ['script', 'tmux'].filter((name) => !found.some((each) => each.name === name));
