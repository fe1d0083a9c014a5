import { envNames } from '../../core/config/env-names.js';
import { isThere, projectConfigPath } from '../../storage/config-paths.js';
import { watchFile } from '../../storage/watch.js';
import type { ConfigListener, Options, Task } from '../request.js';
import type { changeTeller } from './load.js';
import { configPath, surroundings, type Surroundings } from './path.js';

// Whether anything is configured. What reads a configuration is loaded only then: nobody who has none waits for it.

/** The task as the user's files and environment have it. A demo shows how it is without them. */
export const configured = async (task: Task): Promise<Task> => {
  switch (task.kind) {
    case 'run':
    case 'context':
    case 'doctor':
    case 'complete':
    case 'init':
      return { ...task, options: await withConfiguration(task) };
    case 'replay': {
      // the settings of this user are not those of the recorded session
      const { configured: found } = await withConfiguration(task);
      return { ...task, options: { ...task.options, ...(found ? { configured: found } : {}) } };
    }
    default:
      return task;
  }
};

const withConfiguration = async ({ options, given = [] }: Task): Promise<Options> => {
  const around = surroundings();
  if (!isConfigured(options, around)) {
    const isModeGiven = given.includes('mode');
    return {
      ...options,
      ...(isModeGiven ? { isModeGiven } : {}),
      configured: nothing(options, given, around),
    };
  }
  return (await import('./load.js')).configure(options, given, around);
};

const isConfigured = (options: Options, around: Surroundings): boolean => {
  const { path, isNamed } = configPath(options, around);
  return (
    isNamed ||
    options.envFile !== undefined ||
    isThere(path) ||
    isThere(projectConfigPath(around.cwd)) ||
    envNames.some(({ name }) => around.env[name] !== undefined)
  );
};

/** A file can still be made while the session runs. */
const nothing = (
  options: Options,
  given: readonly string[],
  around: Surroundings,
): NonNullable<Options['configured']> => ({
  runtimes: [],
  windows: {},
  notices: [],
  details: [],
  isLogGiven: true,
  watch: (listener) => {
    const look = lookerFor(listener, options, given);
    return watchFile(configPath(options, around).path, () => {
      void look().catch((error: unknown) => listener.onTrouble(String(error)));
    });
  },
});

const lookerFor = (
  listener: ConfigListener,
  options: Options,
  given: readonly string[],
): (() => Promise<void>) => {
  let tell: ReturnType<typeof changeTeller> | undefined;
  return async () => {
    const { wholeConfiguration } = await import('./load.js');
    tell ??= (await import('./load.js')).changeTeller(listener, options, { isThere: false });
    tell(wholeConfiguration(options, given, surroundings()));
  };
};
