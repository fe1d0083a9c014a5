import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { isRunning, placeFromPs, processesUpToShell, processStart } from '../../src/storage/processes.js';
import { hasPs } from '../support/programs.js';

describe('a recorded process', () => {
  it('counts as running while it exists', () => {
    expect(isRunning(process.pid, processStart(process.pid))).toBe(true);
  });

  it.skipIf(!existsSync('/proc/self/stat'))('is another one when its number began at another time', () => {
    expect(isRunning(process.pid, '1')).toBe(false);
  });

  it.skipIf(!existsSync('/proc/self/stat'))('does not count as running when it is a zombie', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      const [output] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(output.toString());
      await vi.waitFor(() => expect(processStart(pid)).toBeUndefined(), { timeout: 10_000 });
      expect(process.kill(pid, 0)).toBe(true);
      expect(isRunning(pid)).toBe(false);
    } finally {
      parent.kill();
    }
  });
});

describe('the processes up to the shell', () => {
  it('are the process, its job, and what has started the job', async () => {
    // job control gives `sh` a group of its own, with a child in the same group
    const outer = spawn('bash', ['-c', "set -m; sh -c 'sleep 60 & echo $$ $!; wait' & wait"], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let job = 0;
    try {
      const [output] = (await once(outer.stdout, 'data')) as [Buffer];
      const [script = 0, child = 0] = output.toString().split(' ').map(Number);
      job = script;
      expect(processesUpToShell(child)).toEqual([child, script, outer.pid]);
      if (!hasPs) return;
      expect(placeFromPs(child)).toEqual({ parent: script, group: script });
      expect(placeFromPs(script)).toEqual({ parent: outer.pid, group: script });
    } finally {
      if (job > 0) process.kill(-job, 'SIGKILL');
      outer.kill('SIGKILL');
    }
  });

  it('are only the process itself where nothing is known of it', () => {
    expect(processesUpToShell(2 ** 30)).toEqual([2 ** 30]);
    expect(placeFromPs(2 ** 30)).toBeUndefined();
  });
});
