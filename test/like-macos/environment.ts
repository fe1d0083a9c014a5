import { fileURLToPath } from 'node:url';

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/**
 * The environment of a program that a test starts: unchanged, except under `npm run test:like-macos`, which has every process of Node see what
 * it would see on macOS, and puts macOS' own forms of some commands before the others.
 */
export const asOnPlatform = <T extends string | undefined>(
  env: Readonly<Record<string, T>>,
): Record<string, T | string> => {
  if (!process.env['LIKE_MACOS']) return { ...env };
  return {
    ...env,
    PATH: `${pathOf('bin')}:${env['PATH'] ?? '/usr/bin:/bin'}`,
    NODE_OPTIONS: `--require ${pathOf('preload.cjs')}`,
  };
};
