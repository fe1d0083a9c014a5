import { ok, fail, warn } from '../../core/doctor-report.js';
import type { CheckSection } from '../../core/doctor-report.js';
import { findingOf } from '../config-messages.js';
import type { WholeConfiguration } from '../configure.js';

/** What `ctxwrap config check` says, shortly. */
export const configSection = (
  { userPath, problems }: Pick<WholeConfiguration, 'userPath' | 'problems'>,
  isThere: boolean,
): CheckSection => ({
  title: 'Configuration',
  checks: [
    ok('file', isThere ? userPath : `${userPath} is not there: nothing is configured`),
    ...problems.map((problem) => {
      const { level, what, where, why, fix } = findingOf(problem);
      const text = `${what} (${where}): ${why}`;
      return level === 'error' ? fail('value', text, fix) : warn('value', text, fix);
    }),
  ],
});
