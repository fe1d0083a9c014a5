// Options with everything that the user has configured. A wrong value never keeps anything from starting: it does not count, and is told.
import { watchFile } from '../../storage/watch-file.js';
import { withHome } from './path.js';
import { settingsLine } from './text.js';
import type { Surroundings } from './path.js';
import { findingOf } from './findings.js';
import { detailOf, noticeOf } from './messages.js';
import { withSettings } from './flag-settings.js';
import { kindOf } from '../../core/config/few-problems.js';
import type { Problem } from '../../core/config/setting.js';
import type { ConfigListener, Options } from '../request.js';
import { wholeConfiguration } from './whole-configuration.js';
import type { WholeConfiguration } from './whole-configuration.js';

/** Only what may have been meant otherwise: names in the environment, as of a backend, can belong to others. */
const isToldAtStart = (problem: Problem): boolean => {
  const kind = kindOf(problem);
  return kind !== 'pending' && kind !== 'capacity' && !(kind === 'unknown' && problem.origin.layer === 'env');
};

/** The options with everything that holds in these surroundings. */
export const configure = (options: Options, given: readonly string[], around: Surroundings): Options => {
  const whole = wholeConfiguration(options, given, around);
  const { settings, runtimes, windows, problems } = whole;
  const { values } = settings;
  const all = withSettings(options, settings);
  const isLogGiven = given.includes('log');
  const notice = noticeIn(problems);
  return {
    ...all,
    ...(all.log === undefined || isLogGiven ? {} : { log: withHome(all.log, around.home) }),
    configured: {
      runtimes,
      windows,
      ...(values.backend === undefined ? {} : { backend: values.backend }),
      ...(values['claude.million'] === undefined ? {} : { isMillion: values['claude.million'] }),
      notices: notice === undefined ? [] : [notice],
      told: settingsLine(settings.effective),
      details: problems.map((problem) => detailOf(findingOf(problem))),
      isLogGiven,
      isTextLogged: values['debug.text'] ?? false,
      isNativeHeld: values['hold.native'] ?? false,
      watch: (listener) => {
        const tell = changeTeller(listener, options, { notice, isThere: whole.isThere });
        return watchFile(whole.userPath, () => tell(wholeConfiguration(options, given, around)));
      },
    },
  };
};

const noticeIn = (problems: readonly Problem[]): string | undefined =>
  noticeOf(problems.filter(isToldAtStart));

/** How it was when the session began. */
interface Before {
  /** the user has seen it already */
  readonly notice?: string | undefined;
  readonly isThere: boolean;
}

/** Tells what holds now, or why it does not. */
export const changeTeller = (
  { onChange, onNotice, onTrouble }: ConfigListener,
  options: Options,
  before: Before,
): ((now: WholeConfiguration) => void) => {
  let { notice: last, isThere: wasThere } = before;
  return ({ problems, settings, userPath, isThere }) => {
    wasThere ||= isThere;
    const isGone = wasThere && !isThere;
    const notice = isGone ? GONE : noticeIn(problems);
    if (notice !== undefined && notice !== last) onNotice(notice);
    last = notice;
    const unread = problems.find(isUnread);
    // half a file, or none, is what an editor may leave for a moment: what held before is better than what is left of it
    if (isGone) onTrouble(`configuration: ${userPath} is not there any more`);
    else if (unread) onTrouble(detailOf(findingOf(unread)));
    else onChange(withSettings(options, settings), settingsLine(settings.effective));
  };
};

const GONE = 'the configuration is gone: what it said holds until the end of this session';

/** The user's own file; what is wrong in one that is read does not count, as at a start. */
const isUnread = ({ kind, origin }: Problem): boolean =>
  origin.layer === 'user' && (kind === 'syntax' || kind === 'file');
