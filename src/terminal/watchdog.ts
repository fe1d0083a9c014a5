import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Restores the terminal when this program is killed without a chance to do it itself. */
export interface Watchdog {
  /** what to send then; told again whenever it changes */
  arm: (sequence: string) => void;
  /** everything has been restored: go away without doing anything */
  dismiss: () => void;
}

/*
 * A shell that reads lines from a pipe: `q` = go, anything else = what to print when the pipe closes (facts/terminals.md §4).
 * It ignores every signal that a terminal or a killed process group sends, and TTOU so that stty works from the background.
 * A shell above us may be quicker and show its prompt first: it is given the time to, termios are put back only where they still are
 * what they were when the first line came (after `hold`), and a change of size makes it draw its prompt again where the cursor is.
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

/** As a format for printf: every byte that is not a plain letter or digit as an octal escape. */
const printfFormat = (sequence: string): string =>
  [...Buffer.from(sequence)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9[;?]/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
    })
    .join('');

const noWatchdog: Watchdog = { arm: () => undefined, dismiss: () => undefined };

/** `termios` as `stty -g` prints it. Where it can't be started the session goes on without one. */
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
    return { arm: (sequence) => send(printfFormat(sequence)), dismiss: () => send('q') };
  } catch {
    return noWatchdog;
  }
};
