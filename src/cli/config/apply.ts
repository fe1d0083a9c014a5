import { envNames } from '../../core/config/keys.js';
import { pathExists, projectConfigPath } from '../../storage/config-paths.js';
import { watchFile } from '../../storage/watch.js';
import type { ConfigListener, Configured, Options, Task } from '../request.js';
import type { watchConfiguration } from './load.js';
import { configPath, currentContext, type ConfigContext } from './path.js';

// Whether anything is configured. What reads a configuration is loaded only then: nobody who has none waits for it.

/** The task as the user's files and environment have it. A demo shows how it is without them. */
export const applyConfiguration = async (task: Task): Promise<Task> => {
  switch (task.kind) {
    case 'run':
    case 'context':
    case 'doctor':
    case 'complete':
    case 'init':
      return { ...task, options: await withConfiguration(task.options) };
    case 'replay': {
      // the settings of this user are not those of the recorded session
      const { values, isModeGiven } = task.options;
      return { ...task, options: { ...(await withConfiguration(task.options)), values, isModeGiven } };
    }
    default:
      return task;
  }
};

const withConfiguration = async (options: Options): Promise<Options> => {
  const around = currentContext();
  if (!isConfigured(options, around)) return { ...options, configured: nothing(options, around) };
  return (await import('./load.js')).configure(options, around);
};

const isConfigured = (options: Options, around: ConfigContext): boolean => {
  const { path, isNamed } = configPath(options, around);
  return (
    isNamed ||
    options.flags['env.file'] !== undefined ||
    pathExists(path) ||
    pathExists(projectConfigPath(around.cwd)) ||
    envNames.some(({ name }) => around.env[name] !== undefined)
  );
};

/** A file can still be made while the session runs. */
const nothing = (options: Options, around: ConfigContext): Configured => ({
  runtimes: [],
  windows: {},
  notices: [],
  details: [],
  watch: (listener) => {
    const look = lookerFor(listener, options);
    return watchFile(configPath(options, around).path, () => {
      void look().catch((error: unknown) => listener.onTrouble(String(error)));
    });
  },
});

const lookerFor = (listener: ConfigListener, options: Options): (() => Promise<void>) => {
  let tell: ReturnType<typeof watchConfiguration> | undefined;
  return async () => {
    const load = await import('./load.js');
    tell ??= load.watchConfiguration(listener, { isThere: false });
    tell(load.readWholeConfiguration(options, currentContext()));
  };
};
