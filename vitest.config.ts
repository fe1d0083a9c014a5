import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** They wait for the moment at which ctxwrap may type, as the bundle for the end-to-end tests does. */
const waiting = [
  'agent-actions',
  'restarter',
  'shortener',
  'shortening-faults',
  'switcher',
  'undo-by-channel',
].map((name) => `test/typing/${name}.test.ts`);
/** About /proc itself: left out where Linux is hidden. */
const aboutLinux = ['session-records', 'state-folder'].map((name) => `test/storage/${name}.test.ts`);
const isLinuxHidden = process.env['LIKE_MACOS'] !== undefined;
const waitShare = readFileSync('test/support/wait-share.json', 'utf8');

export default defineConfig({
  test: {
    // One process for many files: a fresh one for each of 250 would cost minutes, and nothing here keeps state in a module.
    isolate: false,
    // Tests with real programs mostly wait: for a countdown, a pause, a timeout.
    maxWorkers: availableParallelism() * 2,
    // npm run test:like-macos hides from the tests themselves what macOS does not have
    setupFiles: ['test/support/runs.ts', ...(isLinuxHidden ? ['test/like-macos/preload.cjs'] : [])],
    // Tests start real processes under real PTYs on machines that may be slow; nothing asserts a time.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    projects: [
      {
        extends: true,
        define: { WAIT_SHARE: waitShare },
        test: { name: 'short waits', include: waiting },
      },
      {
        extends: true,
        test: {
          name: 'real times',
          include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
          exclude: [...configDefaults.exclude, ...waiting, ...(isLinuxHidden ? aboutLinux : [])],
        },
      },
    ],
  },
});
