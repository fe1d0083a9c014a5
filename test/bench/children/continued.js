// Looks like Claude Code that continues the newest session of its folder: it names the session in its file for this process, and draws a
// prompt.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const config = join(process.env.HOME, '.claude');
const [file] = readdirSync(join(config, 'projects', process.cwd().replaceAll(/[^a-zA-Z0-9]/g, '-')));
const sessions = join(config, 'sessions');
const own = join(sessions, `${process.pid}.json`);
mkdirSync(sessions, { recursive: true });
writeFileSync(
  own,
  JSON.stringify({
    pid: process.pid,
    sessionId: file.replace('.jsonl', ''),
    cwd: process.cwd(),
    startedAt: Date.now(),
    updatedAt: Date.now(),
    version: '2.1.330',
    kind: 'interactive',
    entrypoint: 'cli',
    status: 'idle',
  }),
);

const bar = '─'.repeat(process.stdout.columns);
const rows = ['● Done.', '', bar, '❯\u00a0', bar, '  ? for shortcuts · ← for agents'];
process.stdin.setRawMode(true);
process.stdin.on('data', () => {
  rmSync(own);
  process.exit(0);
});
process.stdout.write(`\x1b[H${rows.map((row) => `${row}\x1b[K`).join('\r\n')}\x1b[J\x1b[4;3H`);
