import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { isRunning, processStart } from '../../src/storage/processes.js';

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
    } finally {
      parent.kill();
    }
  });
});
