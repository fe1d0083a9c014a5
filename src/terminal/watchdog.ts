import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** A separate process that restores the terminal if the wrapper is killed (SIGKILL). */
export interface Watchdog {
  /** sets the sequence to send then; called again whenever it changes */
  arm: (sequence: string) => void;
  /** the wrapper has restored the terminal: the process exits without doing anything */
  disarm: () => void;
}

/*
 * A shell script that reads lines from a pipe: `q` = exit, any other line = what to print when the pipe closes (facts/terminals.md §4).
 * It ignores every signal that a terminal or a killed process group sends, and TTOU so that stty works from the background.
 * The user's shell may show its prompt first: the script waits for that, restores the termios only if they are still what they were at
 * the first line (after `enterRawMode`), and sends SIGWINCH, at which the shell draws its prompt again at the cursor.
 */
const SCRIPT = `trap '' HUP INT QUIT TERM TSTP TTIN TTOU
s= r=
while IFS= read -r l; do
case $l in q) exit 0;; *) s=$l;; esac
[ -n "$r" ] || r=$(stty -g <&3 2>/dev/null)
done
printf "$s" >&3
sleep 0.1
[ "$(stty -g <&3 2>/dev/null)" != "$r" ] || stty "$0" <&3 2>/dev/null
[ "$1" -le 1 ] || kill -WINCH "$1" 2>/dev/null`;

/** A format for printf: every byte except letters, digits and a few signs as an octal escape. */
const printfFormat = (sequence: string): string =>
  [...Buffer.from(sequence)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9[;?]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
    })
    .join('');

const noWatchdog: Watchdog = { arm: () => undefined, disarm: () => undefined };

/** `termios` as `stty -g` prints it. If it cannot be started, the session continues without one. */
export const startWatchdog = (termios: string): Watchdog => {
  try {
    const tty = openSync('/dev/tty', 'r+');
    const shell = spawn('/bin/sh', ['-c', SCRIPT, termios, String(process.ppid)], {
      stdio: ['pipe', 'ignore', 'ignore', tty],
      detached: true,
    });
    closeSync(tty);
    shell.on('error', () => undefined);
    shell.stdin?.on('error', () => undefined);
    shell.unref();
    const send = (line: string): void => {
      if (shell.stdin?.writable) shell.stdin.write(`${line}\n`);
    };
    return { arm: (sequence) => send(printfFormat(sequence)), disarm: () => send('q') };
  } catch {
    return noWatchdog;
  }
};
