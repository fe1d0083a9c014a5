import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bin } from '../support/programs.js';
import { makeBench, runToEnd } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const cast = resolve(import.meta.dirname, '../fixtures/casts/claude/keys1.cast.gz');
const log = resolve(import.meta.dirname, '../fixtures/logs/claude/session-with-compaction.jsonl');
const commands = ['--help', '--version', 'ps', `context ${log}`, `replay ${cast}`, `replay --json ${cast}`];
const inShell = (script: string) =>
  runToEnd('/bin/bash', ['-c', script.replace('ctxwrap', `"${process.execPath}" "${bin}"`)], bench);

describe('output', () => {
  it.each(commands)('of %s that finds no room on the disk is an error in words', async (command) => {
    const { stderr, code } = await inShell(`ctxwrap ${command} > /dev/full`);
    expect({ stderr, code }).toEqual({
      stderr: 'ctxwrap: cannot write the output: no space left on device\n',
      code: 125,
    });
  });

  it.each(commands)('of %s that nobody reads is no error', async (command) => {
    const { stderr, stdout } = await inShell(`ctxwrap ${command} | true; echo "\${PIPESTATUS[0]}"`);
    expect({ stderr, stdout }).toEqual({ stderr: '', stdout: '0\n' });
  });

  it('for nobody, of what is wrong, leaves the status as it is', async () => {
    expect((await inShell('ctxwrap nonsense 2> /dev/full')).code).toBe(2);
  });
});
