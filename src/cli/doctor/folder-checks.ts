import { fail, ok, warn } from '../../core/doctor-report.js';
import type { Check, CheckSection } from '../../core/doctor-report.js';
import { shellWord } from '../../core/shell-word.js';
import type { FolderObstacle } from '../../storage/folder-obstacle.js';
import type { ListedSession } from '../../storage/session-records.js';

export interface FolderFacts {
  readonly folder: string;
  /** undefined while it is not there */
  readonly stats: { readonly mode: number; readonly isOwn: boolean; readonly isFolder: boolean } | undefined;
  /** what keeps it from being made or written */
  readonly obstacle: FolderObstacle | undefined;
  readonly sessions: readonly ListedSession[];
  /** the user's own folder */
  readonly home: string;
}

const OTHERS = 0o077;

export const folderSection = (facts: FolderFacts): CheckSection => ({
  title: 'State',
  checks: facts.stats ? [folder(facts), ...records(facts)] : [absent(facts)],
});

/** For one run: other programs keep their state there, too. */
const ELSEWHERE = 'XDG_STATE_HOME="$(mktemp -d)" ctxwrap doctor';

const absent = ({ folder: path, obstacle, home }: FolderFacts): Check =>
  obstacle
    ? fail(
        'folder',
        `${path} cannot be made: ${inTheWay(obstacle)}`,
        mending(obstacle, { home, elsewhere: ELSEWHERE }),
      )
    : ok('folder', `${path} is not there yet`);

export const inTheWay = ({ path, reason }: FolderObstacle): string => `${path}: ${reason}`;

/** `elsewhere` is what to do where it is the system's, or another user's and not in the user's own folder. */
export const mending = (
  { path, kind, isOwn }: FolderObstacle,
  { home, elsewhere }: { readonly home: string; readonly elsewhere: string },
): string => {
  const isInHome = path === home || path.startsWith(`${home}/`);
  if (OF_SYSTEM.test(path) || kind === 'device') return elsewhere;
  if (kind !== 'link' && !isOwn) return isInHome ? `sudo chown -h "$USER" ${shellWord(path)}` : elsewhere;
  return kind === 'folder' ? `chmod u+rwx ${shellWord(path)}` : movingAway(path);
};

const movingAway = (path: string): string => `mv ${shellWord(path)} ${shellWord(`${path}.old`)}`;

const OF_SYSTEM = /^\/(?:$|(?:dev|etc|proc|sys|usr)(?:\/|$))/;

const folder = ({ folder: path, stats, obstacle, home }: FolderFacts): Check => {
  if (stats && !stats.isFolder) return fail('folder', `${path} is a link or no folder`, movingAway(path));
  if (stats && !stats.isOwn)
    return fail('folder', `${path} belongs to another user`, `sudo chown -R "$USER" ${shellWord(path)}`);
  if (obstacle)
    return fail(
      'folder',
      `nothing can be written into ${inTheWay(obstacle)}`,
      mending(obstacle, { home, elsewhere: ELSEWHERE }),
    );
  if (stats && (stats.mode & OTHERS) !== 0)
    return warn('folder', `others can look into ${path}`, `chmod 700 ${shellWord(path)}`);
  return ok('folder', `${path}, for you alone`);
};

const records = ({ sessions }: FolderFacts): readonly Check[] => {
  const count = (liveness: ListedSession['liveness']): number =>
    sessions.filter((each) => each.liveness === liveness).length;
  const stale = count('stale');
  return [
    ok('sessions', `${count('live')} running, ${count('ended') + count('dead')} over`),
    ...(stale > 0
      ? [
          warn(
            'silent',
            `${stale} ${stale === 1 ? 'session has' : 'sessions have'} not answered for a minute`,
            'ctxwrap ps --all',
          ),
        ]
      : []),
    ...sessions.flatMap(({ record, liveness }) => (liveness === 'live' ? evidence(record) : [])),
  ];
};

const witnesses = ['records', 'screen', 'state'] as const;

/** Which witnesses of an agent that runs now are understood. */
const evidence = ({ runtime, pid, evidence: understood }: ListedSession['record']): readonly Check[] => {
  if (!understood) return [];
  const signs = witnesses.map((each) => `${each} ${understood[each] ? '✓' : '–'}`);
  return [ok('evidence', `${runtime} (process ${pid}): ${signs.join(', ')}`)];
};
