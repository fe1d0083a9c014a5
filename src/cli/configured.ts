// A task with everything that the user has configured. A wrong value never keeps anything from starting: it does not count, and is told.
import { homeFolder } from '../storage/home-folder.js';
import { watchFile } from '../storage/watch-file.js';
import { detailOf, findingOf, noticeOf } from './config-messages.js';
import { withSettings } from './flag-settings.js';
import { ownRuntimes } from './own-runtimes.js';
import { readConfiguration, withHome } from './read-configuration.js';
import type { Configuration, Surroundings } from './read-configuration.js';
import type { Problem } from '../core/config/setting.js';
import type { Configured, Options, Task } from './request.js';
import { workingFolder } from './working-folder.js';

/** Where we are. */
export const surroundings = (): Surroundings => {
  const { env } = process;
  return { env, home: homeFolder(env), cwd: workingFolder() };
};

/** A configuration with the agents in it. */
export interface WholeConfiguration extends Configuration {
  readonly runtimes: Configured['runtimes'];
  readonly windows: Configured['windows'];
  readonly problems: readonly Problem[];
}

export const wholeConfiguration = (
  options: Options,
  given: readonly string[],
  around: Surroundings,
): WholeConfiguration => {
  const configuration = readConfiguration(options, given, around);
  const { settings, userPath: path, positionOf } = configuration;
  const { runtimes, windows, problems } = ownRuntimes(settings.values.runtimes ?? {}, { path, positionOf });
  return { ...configuration, runtimes, windows, problems: [...settings.problems, ...problems] };
};

/** The task as the user's files and environment have it. A demo shows how it is without them. */
export const configured = (task: Task): Task => {
  const { options, given = [] } = task;
  switch (task.kind) {
    case 'run':
    case 'context':
    case 'doctor':
      return { ...task, options: configure(options, given, surroundings()) };
    case 'replay': {
      // the settings of this user are not those of the recorded session
      const { configured: found } = configure(options, given, surroundings());
      return { ...task, options: { ...options, ...(found ? { configured: found } : {}) } };
    }
    default:
      return task;
  }
};

/** Only what may have been meant otherwise: names in the environment can belong to others. */
const isToldAtStart = ({ kind, origin }: Problem): boolean =>
  kind !== 'pending' && !(kind === 'unknown' && origin.layer === 'env');

/** The options with everything that holds in these surroundings. */
const configure = (options: Options, given: readonly string[], around: Surroundings): Options => {
  const whole = wholeConfiguration(options, given, around);
  const { settings, runtimes, windows, problems } = whole;
  const { values } = settings;
  const all = withSettings(options, values);
  const isLogGiven = given.includes('log');
  const findings = problems.filter(isToldAtStart).map(findingOf);
  const notice = noticeOf(findings);
  return {
    ...all,
    ...(all.log === undefined || isLogGiven ? {} : { log: withHome(all.log, around.home) }),
    configured: {
      runtimes,
      windows,
      ...(values.backend === undefined ? {} : { backend: values.backend }),
      ...(values['claude.million'] === undefined ? {} : { isMillion: values['claude.million'] }),
      notices: notice === undefined ? [] : [notice],
      details: problems.map((problem) => detailOf(findingOf(problem))),
      isLogGiven,
      watch: ({ onChange, onTrouble }) =>
        watchFile(whole.userPath, () => {
          const again = wholeConfiguration(options, given, around);
          const fault = again.problems.find(({ level }) => level === 'error');
          // half a file is what an editor may leave for a moment: what held before is better than what is left of it
          if (fault) onTrouble(detailOf(findingOf(fault)));
          else onChange(withSettings(options, again.settings.values));
        }),
    },
  };
};
