import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uuidInPath } from '../../src/agents/files.js';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench, screenSize } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
let cast: string;
beforeEach(() => {
  bench = makeBench();
  cast = join(bench.folder, 'a.cast');
});
afterEach(() => bench.remove());

const wrapped = (...args: string[]) => inTerminal(process.execPath, [bin, ...args], bench);

const readCast = () => {
  const [header, ...events] = readFileSync(cast, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const textOf = (kind: string): string =>
    events.map(([, each, data]) => (each === kind ? data : '')).join('');
  return { header, output: textOf('o'), input: textOf('i') };
};

describe('a recorded session', () => {
  const agent =
    "#!/bin/sh\nstty -echo; printf 'ready> '\nread -r line\nprintf '\\033[1m%s\\033[m\\n' \"$line\"; exit 5\n";

  it('holds what the child wrote, at the size it had, and no footer and no keys', async () => {
    bench.program('claude', agent);
    const terminal = wrapped('--record', cast, 'claude');
    await terminal.seen(/ready> /);
    terminal.type('secret\r');
    expect((await terminal.ended).exitCode).toBe(5);
    const { header, output, input } = readCast();
    expect(header).toMatchObject({ version: 2, width: screenSize.columns, height: screenSize.rows - 1 });
    expect(output.replaceAll('\r', '')).toBe('ready> \u001b[1msecret\u001b[m\n');
    expect(input).toBe('');
  });

  it('holds the keys with --record-input', async () => {
    bench.program('claude', agent);
    const terminal = wrapped('--record', cast, '--record-input', 'claude');
    await terminal.seen(/ready> /);
    terminal.type('hello\r');
    await terminal.ended;
    expect(readCast().input).toContain('hello\r');
  });

  it.runIf(existsSync('/dev/full'))(
    'ends like any other when the disk is full, with a word about it',
    async () => {
      bench.program('claude', '#!/bin/sh\necho fine; exit 5\n');
      const told = wrapped('--record', '/dev/full', 'claude');
      expect((await told.ended).exitCode).toBe(5);
      expect(told.output()).toContain('ctxwrap: the recording is incomplete: no space left on device');
      const quiet = wrapped('-q', '--record', '/dev/full', 'claude');
      expect((await quiet.ended).exitCode).toBe(5);
      expect(quiet.output()).toContain('fine');
      expect(quiet.output()).not.toContain('the recording');
    },
  );

  it('is not begun where nothing is wrapped, which only the log says', async () => {
    bench.program('claude', '#!/bin/sh\necho fine\n');
    const log = join(bench.folder, 'a.log');
    expect(await ctxwrap(['--record', cast, '--log', log, 'claude'], bench)).toMatchObject({
      stdout: 'fine\n',
      stderr: '',
    });
    expect(existsSync(cast)).toBe(false);
    expect(readFileSync(log, 'utf8')).toMatch(
      /^\S+ info not wrapped: stdin is not a terminal; not recorded\n$/,
    );
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });
});

describe('the child of a wrapped session', () => {
  it.each(['TERM', 'KILL', 'SEGV'])('ended by %s: the same signal ends us', async (name) => {
    bench.program('claude', `#!/bin/sh\nulimit -c 0\nkill -${name} $$\n`);
    const { signal } = await wrapped('claude').ended;
    expect(signal).toBe({ TERM: 15, KILL: 9, SEGV: 11 }[name]);
  });

  it('gets its own arguments, --help included', async () => {
    bench.program('claude', '#!/bin/sh\necho "args:$*"\n');
    const terminal = wrapped('--runtime', 'generic', 'claude', '--help', '-p', '--', '--mode', 'x');
    await terminal.ended;
    expect(terminal.output()).toContain('args:--help -p -- --mode x');
  });
});

describe('a state folder that is refused', () => {
  it.each([
    ['a link to a folder that others may write', (folder: string) => symlinkSync('/tmp', folder)],
    ['a file', (folder: string) => writeFileSync(folder, '')],
  ])('is said in the footer where it is %s', async (_, make) => {
    mkdirSync(join(bench.folder, '.local/state'), { recursive: true });
    make(join(bench.folder, '.local/state/ctxwrap'));
    bench.program('claude', '#!/bin/sh\nread line\n');
    const terminal = wrapped('claude');
    await terminal.seen(/state folder refused, nothing is recorded · ctxwrap doctor/);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(0);
  });
});

describe('the demo', () => {
  it('runs its agent under the same wrapper and leaves no file behind', async () => {
    bench.env['TMPDIR'] = bench.folder;
    const terminal = wrapped('demo', '--interactive');
    await terminal.seen(/demo agent[^]*\/quit/);
    const ofDemo = () => readdirSync(bench.folder).filter((name) => name.startsWith('ctxwrap-demo-'));
    expect(ofDemo()).toHaveLength(1);
    const [file = ''] = readdirSync(join(bench.folder, ofDemo()[0] ?? ''));
    expect(uuidInPath(file)).toBeDefined(); // as a real agent's: what ctxwrap records of it is found by its id
    terminal.type('/quit\r');
    expect((await terminal.ended).exitCode).toBe(0);
    expect(ofDemo()).toEqual([]);
  });
});
