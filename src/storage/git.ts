import { execFile } from 'node:child_process';
import type { GitState } from '../core/conversation/checkpoint.js';
import { present } from '../core/present.js';

// What git says about a folder. It only reads: no lock, no refreshed index, no hook, no monitor, no question.

const TIMEOUT_MS = 3_000; // a repository on a slow disk must not delay a compaction
const MAX_BYTES = 4 * 1024 * 1024;
const MOST_FILES = 200;
const LONGEST_PATH = 400; // characters

/** A repository's own settings may name programs to run; none of them is run here. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.pager=cat'];
const QUIET = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_PAGER: 'cat', LC_ALL: 'C' };

type Env = Readonly<Record<string, string | undefined>>;

/** The commit and the changed files; undefined outside of a repository, without git, and if git does not answer in time. */
export const readGit = async (folder: string, env: Env): Promise<GitState | undefined> => {
  const [head, status] = await Promise.all([
    git(folder, env, ['rev-parse', '--verify', '--quiet', 'HEAD']),
    git(folder, env, ['status', '--porcelain=v1', '-z', '--no-renames', '--ignore-submodules=dirty']),
  ]);
  if (status === undefined) return undefined;
  const commit = /^[0-9a-f]{40,64}$/.exec(head?.trim() ?? '')?.[0];
  const paths = status.split('\0').filter((entry) => entry.length > 3);
  return {
    ...present({ head: commit }),
    dirty: paths.slice(0, MOST_FILES).map((entry) => entry.slice(3, 3 + LONGEST_PATH)),
    ...(paths.length > MOST_FILES ? { isCut: true } : {}),
  };
};

/** The folder's path in its repository, with a slash at its end; '' for the repository's own folder; undefined as for `readGit`. */
export const readGitPrefix = async (folder: string, env: Env): Promise<string | undefined> =>
  (await git(folder, env, ['rev-parse', '--show-prefix']))?.replace(/\n$/, '');

/** Its output; undefined if it fails, or has not ended in time. One that cannot even be killed, as on a dead network disk, is left behind. */
const git = (folder: string, env: Env, args: readonly string[]): Promise<string | undefined> =>
  new Promise((resolve) => {
    const options = {
      cwd: folder,
      env: { ...env, ...QUIET },
      maxBuffer: MAX_BYTES,
      encoding: 'utf8',
    } as const;
    try {
      const child = execFile('git', [...SAFE, ...args], options, (error, stdout) => {
        clearTimeout(timer);
        resolve(error ? undefined : stdout);
      });
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        child.stdout?.destroy();
        child.stderr?.destroy();
        child.unref();
        resolve(undefined);
      }, TIMEOUT_MS);
      child.stdin?.on('error', () => undefined);
      child.stdin?.end();
    } catch {
      resolve(undefined); // no such folder
    }
  });
