import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'test/**/*.test.tsx'],
    // Tests start real processes under real PTYs on machines that may be slow; nothing asserts a time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
