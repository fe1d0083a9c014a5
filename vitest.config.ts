import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // One process for many files: a fresh one for each of 250 would cost minutes, and nothing here keeps state in a module.
    isolate: false,
    // Tests with real programs mostly wait: for a countdown, a pause, a timeout.
    maxWorkers: availableParallelism() * 2,
    // makes more of the properties that leave their number of runs to fast-check
    setupFiles: process.env['FUZZ'] === undefined ? [] : ['test/support/runs.ts'],
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    // Tests start real processes under real PTYs on machines that may be slow; nothing asserts a time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
