import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** The built program, started as `node BIN …`; what it waits for on purpose, such as a countdown, takes a fifth of the time. */
export const bin = pathOf('../../dist-fast/bin/ctxwrap.js');

/** The program as users have it, with its real times. */
export const publishedBin = pathOf('../../bin/ctxwrap.js');

export const programPath = (name: string): string => pathOf(`../fixtures/programs/${name}`);

/** Whether git and ps are installed: the program does without them, and a container may have neither. */
export const hasGit = spawnSync('git', ['--version']).status === 0;
export const hasPs = spawnSync('ps', ['-p', `${process.pid}`]).status === 0;
