import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';

// One shell beside the wrapper. While the wrapper still loads it reads the terminal's settings (termios), later it changes what Node
// cannot change, and it restores the terminal if the wrapper is killed (SIGKILL).

/** The shell beside the wrapper. */
export interface SttyProcess {
  /** termios of the terminal before the wrapper changed it, as `stty -g` prints it; '' if it cannot be read */
  readonly termios: string;
  /** resolves when output processing (OPOST) is off: raw mode leaves ONLCR on, which would turn the child's LF into CR LF */
  disableOutputProcessing: () => Promise<void>;
  /** sets the sequence that restores the terminal if the wrapper is killed; called again whenever it changes */
  arm: (sequence: string) => void;
  /** the same, for what changes with every read of a flood: within 4 ms after the last one, unless `arm` is called before */
  armSoon: (sequence: () => string) => void;
  /** the wrapper has restored the terminal, or never changed it: the shell exits without doing anything */
  disarm: () => void;
}

/*
 * It prints the termios, then reads lines from a pipe: `q` = exit, `o` = turn output processing off and print a line, any other line =
 * what to print when the pipe closes (docs/facts/terminals.md#reset). It ignores every signal that a terminal or a killed process group sends,
 * and TTOU so that stty works from the background.
 * If the wrapper was killed before it had set raw mode and sent such a line, there is nothing to restore. A parent with job control, which
 * has given the wrapper a process group of its own, is a shell that may show its prompt first: the script waits for that, and restores the
 * termios only if they are still what they were in raw mode. Any other parent (`sh -c`, npm) never restores them, and the shell above it
 * would keep what it finds, so they are restored at once. Before the line `o` raw mode is known by its missing signals (isig), which a
 * shell's own line editing keeps. SIGWINCH has the shell draw its prompt again at the cursor.
 */
const SCRIPT = `trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE
t=$(stty -g <&3 2>/dev/null)
printf '%s\\n' "$t"
s= r= j=1
group() { l= g=; read -r l <"/proc/$1/stat"; l=\${l##*) }; set -- $l; g=$3; }
group "$PPID"; o=$g; group "$0"
[ -z "$o" ] || [ "$o" != "$g" ] || j=
while IFS= read -r l; do
case $l in
q) exit 0;;
o) stty -opost <&3 2>/dev/null; echo; r=$(stty -g <&3 2>/dev/null);;
*) s=$l;;
esac
done
[ -n "$r$s" ] || exit 0
[ -n "$r" ] || case $(stty -a <&3 2>/dev/null) in *" -isig"*) r=$(stty -g <&3 2>/dev/null);; esac
[ -n "$s" ] || j=1
[ -n "$j" ] || stty "$t" <&3 2>/dev/null
printf "$s" >&3
if [ -n "$j" ]; then
sleep 0.03
[ "$(stty -g <&3 2>/dev/null)" != "$r" ] || stty "$t" <&3 2>/dev/null
fi
[ "$0" -le 1 ] || kill -WINCH "$0" 2>/dev/null`;

const ANSWER_MS = 1_000; // a shell that takes longer is not awaited

/** A format for printf: every byte except letters, digits and a few signs as an octal escape. */
const printfFormat = (sequence: string): string =>
  [...Buffer.from(sequence)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9[;?]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
    })
    .join('');

/** Resolves with the next lines that the process prints, in order; with undefined once it prints nothing more, or too late. */
const lineReader = (shell: ChildProcess): (() => Promise<string | undefined>) => {
  const waiting: ((line: string | undefined) => void)[] = [];
  let text = '';
  shell.stdout?.setEncoding('latin1').on('data', (more: string) => {
    const lines = (text + more).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) waiting.shift()?.(line);
  });
  const giveUp = (): void => {
    for (const resolve of waiting.splice(0)) resolve(undefined);
  };
  shell.stdout?.on('error', giveUp);
  shell.stdout?.on('close', giveUp);
  shell.on('error', giveUp);
  return () =>
    new Promise((resolve) => {
      const timer = setTimeout(giveUp, ANSWER_MS);
      waiting.push((line) => {
        clearTimeout(timer);
        resolve(line);
      });
    });
};

const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

const spawnShell = (): ChildProcess => {
  const tty = openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY);
  try {
    return spawn('/bin/sh', ['-c', SCRIPT, String(process.ppid)], {
      stdio: ['pipe', 'pipe', 'ignore', tty],
      detached: true,
    });
  } finally {
    closeSync(tty);
  }
};

const ARM_MS = 4; // the shell needs a core for each sequence

/** Tells the shell what restores the terminal. */
const makeArming = (send: (line: string) => void) => {
  let armedAt = -Infinity;
  let last: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => clearTimeout(timer);
  const arm = (sequence: string): void => {
    cancel();
    armedAt = performance.now();
    if (sequence !== last) send(printfFormat(sequence));
    last = sequence;
  };
  return {
    arm,
    armSoon: (sequence: () => string): void => {
      cancel();
      const waitMs = armedAt + ARM_MS - performance.now();
      if (waitMs <= 0) arm(sequence());
      else timer = setTimeout(() => arm(sequence()), waitMs).unref();
    },
    cancel,
  };
};

/** Starts the shell. If that fails the session continues without: then the terminal is not restored after a SIGKILL. */
export const startSttyProcess = async (): Promise<SttyProcess> => {
  try {
    const shell = spawnShell();
    const readLine = lineReader(shell);
    shell.stdin?.on('error', () => undefined);
    shell.unref();
    const send = (line: string): void => {
      if (shell.stdin?.writable) shell.stdin.write(`${line}\n`);
    };
    const { arm, armSoon, cancel } = makeArming(send);
    return {
      termios: (await readLine()) || stty('-g'),
      disableOutputProcessing: async () => {
        send('o');
        await readLine(); // undefined from a terminal that does not read: stty waits for it, and nobody else must
        if (hasEnded(shell)) stty('-opost');
      },
      arm,
      armSoon,
      disarm: () => {
        cancel();
        send('q');
      },
    };
  } catch {
    return withoutShell();
  }
};

const stty = (...args: readonly string[]): string =>
  spawnSync('stty', args, { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).stdout?.trim() ?? '';

const withoutShell = (): SttyProcess => ({
  termios: stty('-g'),
  disableOutputProcessing: async () => void stty('-opost'),
  arm: () => undefined,
  armSoon: () => undefined,
  disarm: () => undefined,
});
