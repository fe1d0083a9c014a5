// A supervisor of agents: starts three demo agents in tmux, follows their events, has each compacted as soon as it reaches warn, and ends
// when all have. It reads no screen and needs no other process. `node examples/tmux-supervisor.mjs` takes about a minute; it needs tmux.
import { execFile, execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { followEvents } from 'ctxwrap';

const AGENTS = 3;
const ctxwrap = fileURLToPath(new URL('../bin/ctxwrap.js', import.meta.url));
const tmux = (...args) =>
  execFileSync('tmux', ['-L', `supervisor-${process.pid}`, ...args], { encoding: 'utf8' });

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

for (let index = 0; index < AGENTS; index += 1) {
  const how = index === 0 ? ['new-session', '-d', '-x', '100', '-y', '30'] : ['new-window', '-d'];
  tmux(...how, process.execPath, ctxwrap, 'demo');
}
const pids = new Set(tmux('list-panes', '-a', '-F', '#{pane_pid}').trim().split('\n').map(Number));

const ours = new Set(); // sessions, by id
const done = new Set();
let running = AGENTS;
const ask = (session) =>
  execFile(process.execPath, [ctxwrap, 'compact', '--no-wait', session], (error) => {
    if (error) console.log(`${session} was not asked: ${error.message}`);
  });

try {
  for await (const event of followEvents({ signal: stop.signal })) {
    const { session, type } = event;
    if (type === 'session-start' || type === 'state') if (pids.has(event.state.pid)) ours.add(session);
    if (!ours.has(session)) continue; // another session of this user
    if (type === 'tier') console.log(`${session} ${event.before ?? 'unknown'} → ${event.tier}`);
    if (type === 'tier' && event.tier === 'warn') ask(session);
    if (type === 'outcome') console.log(`${session} ${event.attempt.words}`);
    if (type === 'outcome' && event.attempt.outcome === 'verified') done.add(session);
    if (type === 'session-end') running -= 1;
    if (done.size === AGENTS || running === 0) break; // or they ended before
  }
} finally {
  tmux('kill-server');
}
console.log(`${done.size} of ${AGENTS} agents have compacted`);
process.exit(done.size === AGENTS ? 0 : 1);
