import { fail, none, ok, warn, type Check, type CheckSection } from '../../core/report/doctor-report.js';
import { formatBytes } from '../../core/format.js';
import { quoteForCopying } from '../../core/text.js';
import { movingAway, type FolderObstacle } from '../../storage/errors.js';
import { OTHERS } from '../../storage/file-modes.js';
import type { ListedSession } from '../../storage/sessions.js';
import { linkRefusal } from '../../storage/state-folder.js';
import type { WholeConfiguration } from '../config/load.js';

// The sections of ctxwrap's own files: the state folder with its sessions, and the configuration.

export interface FolderFacts {
  readonly folder: string;
  /** undefined while the folder does not exist */
  readonly stats: { readonly mode: number; readonly isOwn: boolean; readonly isFolder: boolean } | undefined;
  /** why it cannot be created or written; undefined when it can */
  readonly obstacle: FolderObstacle | undefined;
  readonly sessions: readonly ListedSession[];
  /** undefined where it cannot be read */
  readonly blackBox: BlackBoxFacts | undefined;
  /** the user's home folder */
  readonly home: string;
}

export interface BlackBoxFacts {
  readonly isOn: boolean;
  readonly sessions: number;
  readonly usedBytes: number;
  readonly limitBytes: number;
  /** records that cannot be read */
  readonly damaged: number;
}

export const folderSection = (facts: FolderFacts): CheckSection => ({
  title: 'State',
  checks: facts.stats
    ? [folder({ ...facts, stats: facts.stats }), sessions(facts), blackBox(facts), ...evidence(facts)]
    : [absentFolder(facts), blackBox(facts)],
});

/** What is kept of session files, and how much room it takes. */
const blackBox = ({ blackBox: facts, folder: path }: FolderFacts): Check => {
  if (!facts) {
    const place = `${path}/checkpoints`;
    return warn('black box', `ctxwrap cannot read ${place}`, `chmod 700 ${quoteForCopying(place)}`);
  }
  const { isOn, sessions: count, usedBytes, limitBytes, damaged } = facts;
  const used = `${formatBytes(usedBytes)} of ${formatBytes(limitBytes)} used by ${count} session${count === 1 ? '' : 's'}`;
  if (damaged > 0)
    return warn(
      'black box',
      `${used}; ${damaged} record${damaged === 1 ? '' : 's'} cannot be read`,
      'ctxwrap checkpoint list',
    );
  if (isOn) return ok('black box', `on, ${used}`);
  return count === 0
    ? none('black box', 'off (your setting)')
    : none('black box', `off (your setting); ${used}`, 'ctxwrap checkpoint prune --all');
};

/** Moves ctxwrap's state for one run only; other programs use XDG_STATE_HOME too. */
const ELSEWHERE = 'XDG_STATE_HOME="$(mktemp -d)" ctxwrap doctor';

const absentFolder = ({ folder: path, obstacle, home }: FolderFacts): Check =>
  obstacle
    ? fail(
        'folder',
        `ctxwrap cannot create ${path} (${inTheWay(obstacle)})`,
        mending(obstacle, { home, elsewhere: ELSEWHERE }),
      )
    : ok('folder', `ctxwrap will create ${path} when it needs it`);

const inTheWay = ({ path, reason }: FolderObstacle): string => `${path}: ${reason}`;

/**
 * The fix for a state folder; `elsewhere` is the fix where the folder belongs to the system, or to another user outside this user's home.
 */
const mending = (
  { path, kind, isOwn }: FolderObstacle,
  { home, elsewhere }: { readonly home: string; readonly elsewhere: string },
): string => {
  const isInHome = path === home || path.startsWith(`${home}/`);
  if (OF_SYSTEM.test(path) || kind === 'device') return elsewhere;
  if (kind !== 'link' && !isOwn)
    return isInHome ? `sudo chown -h "$USER" ${quoteForCopying(path)}` : elsewhere;
  return kind === 'folder' ? `chmod u+rwx ${quoteForCopying(path)}` : movingAway(path);
};

const OF_SYSTEM = /^\/(?:$|(?:dev|etc|proc|sys|usr)(?:\/|$))/;

const folder = ({
  folder: path,
  stats: { mode, isOwn, isFolder },
  obstacle,
  home,
}: FolderFacts & { readonly stats: NonNullable<FolderFacts['stats']> }): Check => {
  if (!isFolder)
    return fail('folder', linkRefusal(path) ?? `${path} must be a folder, not a file`, movingAway(path));
  if (!isOwn)
    return fail(
      'folder',
      `${path} belongs to another user`,
      `sudo chown -R "$USER" ${quoteForCopying(path)}`,
    );
  if (obstacle)
    return fail(
      'folder',
      `ctxwrap cannot write to ${inTheWay(obstacle)}`,
      mending(obstacle, { home, elsewhere: ELSEWHERE }),
    );
  if ((mode & OTHERS) !== 0)
    return warn('folder', `other users can access ${path}`, `chmod 700 ${quoteForCopying(path)}`);
  return ok('folder', `${path}, private to you`);
};

const sessions = ({ sessions: listed }: FolderFacts): Check => {
  const count = (liveness: ListedSession['liveness']): number =>
    listed.filter((each) => each.liveness === liveness).length;
  const [stale, failed] = [count('stale'), count('failed')];
  const troubles = [
    ...(stale > 0 ? [`${stale} not responding for more than a minute`] : []),
    ...(failed > 0 ? [`${failed} in which ctxwrap has failed`] : []),
  ];
  const counts = [`${count('live')} running`, ...troubles, `${count('ended') + count('dead')} ended`];
  const text = counts.join(', ');
  return troubles.length === 0 ? ok('sessions', text) : warn('sessions', text, 'ctxwrap ps --all');
};

const witnesses = ['records', 'screen', 'state'] as const;

/** Which sources of each running agent are understood. */
const evidence = ({ sessions: listed }: FolderFacts): readonly Check[] =>
  listed.flatMap(({ record: { runtime: agent, pid, evidence: understood }, liveness }) => {
    if (liveness !== 'live' || !understood) return [];
    const signs = witnesses.map((each) => `${each} ${understood[each] ? '✓' : '–'}`);
    return [ok('evidence', `${agent} (pid ${pid}): ${signs.join(', ')}`)];
  });

export interface ConfigFacts extends Pick<WholeConfiguration, 'userPath' | 'problems' | 'isThere'> {
  /** why the file's folder cannot be created or written; undefined when it can */
  readonly obstacle: FolderObstacle | undefined;
  /** the user's home folder */
  readonly home: string;
  /** where `metrics.textfile` is set */
  readonly metrics?: MetricsFacts | undefined;
}

export interface MetricsFacts {
  readonly folder: string;
  readonly isThere: boolean;
  /** why a session cannot write there; undefined when it can */
  readonly obstacle: FolderObstacle | undefined;
}

/** A session only logs that its metrics cannot be written. */
const metricsCheck = ({ folder: path, isThere, obstacle }: MetricsFacts): Check => {
  if (obstacle)
    return warn(
      'metrics',
      `sessions cannot write to ${path} (${inTheWay(obstacle)})`,
      'ctxwrap config set metrics.textfile FOLDER',
    );
  return isThere
    ? ok('metrics', `each session keeps a file in ${path}`)
    : warn('metrics', `${path} does not exist`, `mkdir -p ${quoteForCopying(path)}`);
};

const CONFIG_ELSEWHERE = 'export CTXWRAP_CONFIG="$(mktemp -d)/config.jsonc"';

/** A short form of `ctxwrap config check`. */
export const configSection = ({
  userPath,
  problems,
  isThere,
  obstacle,
  home,
  metrics,
}: ConfigFacts): CheckSection => ({
  title: 'Configuration',
  checks: [
    ...(problems.some(({ origin }) => origin.place === userPath) ? [] : [configFile(userPath, isThere)]),
    ...(obstacle
      ? [
          warn(
            'folder',
            `ctxwrap config init cannot write the file (${inTheWay(obstacle)})`,
            mending(obstacle, { home, elsewhere: CONFIG_ELSEWHERE }),
          ),
        ]
      : []),
    ...problems.map(({ level, what, where, why, fix }) => {
      const text = `${what} (${where}): ${why}`;
      return level === 'error' ? fail('value', text, fix) : warn('value', text, fix);
    }),
    ...(metrics ? [metricsCheck(metrics)] : []),
  ],
});

const configFile = (path: string, isThere: boolean): Check =>
  isThere ? ok('file', path) : none('file', `${path} does not exist, so the defaults apply`);
