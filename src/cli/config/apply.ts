import { envNames } from '../../core/config/keys.js';
import { pathExists, projectConfigPath } from '../../storage/config-paths.js';
import { watchFile } from '../../storage/watch.js';
import type { ConfigListener, Configured, Options, Task } from '../request.js';
import type { watchConfiguration } from './load.js';
import { configPath, currentContext, type ConfigContext } from './path.js';

// Checks whether anything is configured, and only then loads the code that reads configurations, so that nobody else waits for it.

/** The task with the user's files and environment applied, if it uses them. */
export const applyConfiguration = async (task: Task): Promise<Task> => {
  const use = task.kind === 'run' ? 'all' : task.configuration;
  if (use === 'none') return task;
  const configured = await withConfiguration(task.options);
  const { values, isModeGiven } = task.options;
  return { ...task, options: use === 'all' ? configured : { ...configured, values, isModeGiven } };
};

export const withConfiguration = async (options: Options): Promise<Options> => {
  const around = currentContext();
  if (!isConfigured(options, around)) return { ...options, configured: nothing(options, around) };
  return (await import('./load.js')).configure(options, around);
};

const isConfigured = (options: Options, around: ConfigContext): boolean => {
  const { path, isNamed } = configPath(options, around);
  return (
    isNamed ||
    options.flags['env.file'] !== undefined ||
    options.flags.strategy !== undefined || // it may need other settings
    pathExists(path) ||
    pathExists(projectConfigPath(around.cwd)) ||
    envNames.some(({ name }) => around.env[name] !== undefined)
  );
};

/** No settings yet, but a file may be created while the session runs. */
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
    tell ??= load.watchConfiguration(listener, { isThere: false, options });
    tell(await load.readWholeConfiguration(options, currentContext()));
  };
};
