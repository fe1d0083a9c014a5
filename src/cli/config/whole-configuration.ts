import { fewOf } from '../../core/config/few-problems.js';
import type { Problem } from '../../core/config/setting.js';
import { ownRuntimes } from './own-runtimes.js';
import type { Surroundings } from './path.js';
import { readConfiguration } from './read-configuration.js';
import type { Configuration } from './read-configuration.js';
import type { Configured, Options } from '../request.js';

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
  return { ...configuration, runtimes, windows, problems: fewOf([...settings.problems, ...problems]) };
};
