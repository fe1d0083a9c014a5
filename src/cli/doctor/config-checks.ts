import { ok, fail, warn } from '../../core/doctor-report.js';
import type { CheckSection } from '../../core/doctor-report.js';
import type { FolderObstacle } from '../../storage/folder-obstacle.js';
import { findingOf } from '../config/findings.js';
import type { WholeConfiguration } from '../config/whole-configuration.js';
import { inTheWay, mending } from './folder-checks.js';

export interface ConfigFacts extends Pick<WholeConfiguration, 'userPath' | 'problems'> {
  readonly isThere: boolean;
  /** what keeps the file's folder from being made or written */
  readonly obstacle: FolderObstacle | undefined;
  /** the user's own folder */
  readonly home: string;
}

const ELSEWHERE = 'export CTXWRAP_CONFIG="$(mktemp -d)/config.jsonc"';

/** What `ctxwrap config check` says, shortly. */
export const configSection = ({
  userPath,
  problems,
  isThere,
  obstacle,
  home,
}: ConfigFacts): CheckSection => ({
  title: 'Configuration',
  checks: [
    ok('file', isThere ? userPath : `${userPath} is not there: nothing is configured`),
    ...(obstacle
      ? [
          warn(
            'folder',
            `config init could not write: ${inTheWay(obstacle)}`,
            mending(obstacle, { home, elsewhere: ELSEWHERE }),
          ),
        ]
      : []),
    ...problems.map((problem) => {
      const { level, what, where, why, fix } = findingOf(problem);
      const text = `${what} (${where}): ${why}`;
      return level === 'error' ? fail('value', text, fix) : warn('value', text, fix);
    }),
  ],
});
