import type { AgentHome, Agent } from '../../agents/agent.js';
import type { OwnCompaction } from '../../agents/own-compaction.js';
import { isTested, newestTestedBefore } from '../../agents/tested.js';
import { buildLadder, nativeTriggerNotice } from '../../core/build-ladder.js';
import {
  fail,
  ok,
  warn,
  type Check,
  type CheckSection,
  type TerminalAnswers,
} from '../../core/doctor-report.js';
import { quoteForCopying } from '../../core/text.js';
import { formatDay } from '../../core/time.js';
import { type LadderChoice, groupDigits, listThresholds } from '../../core/ladder.js';
import { isFullyVerified, formatScore, type VerifiedRecord } from '../../core/records.js';
import type { FolderObstacle } from '../../storage/errors.js';
import type { FoundCommand } from '../../storage/find-command.js';
import type { ListedSession } from '../../storage/sessions.js';
import type { ProbedTerminal } from '../../wrap/probes.js';
import type { WholeConfiguration } from '../config/load.js';
import { toFinding } from '../config/text.js';
import { isSwitchedOn } from '../session.js';

// One section per agent: is it installed, is its version tested, which numbers does it give, and does its own compaction come first.

/** What doctor has found out about one agent. */
export interface AgentFacts {
  readonly agent: Agent;
  readonly home: AgentHome;
  readonly found: FoundCommand;
  /** the output of `--version`: a version, something else, or nothing in time */
  readonly version: { readonly kind: 'told'; readonly text: string } | { readonly kind: 'none' | 'silent' };
  /** the result of `ctxwrap verify` for this version; undefined when it was not run */
  readonly verified: VerifiedRecord | undefined;
  readonly sessions: { readonly folder: string; readonly state: 'readable' | 'missing' | 'unreadable' };
  /** where the agent compacts by itself, from its own settings */
  readonly own: OwnCompaction;
  /** how ctxwrap asks the agent for its numbers; undefined for an agent that cannot be asked */
  readonly official: string | undefined;
  /** set by the user */
  readonly windowTokens: number | undefined;
  readonly choice: LadderChoice;
}

export const agentSection = (facts: AgentFacts): CheckSection => ({
  title: facts.agent.name,
  checks: facts.found.kind === 'found' ? installed(facts) : [absent(facts)],
});

/** An agent that the user has defined; everything known about it is in the configuration. */
export const definedAgentSection = (agent: Agent, found: FoundCommand): CheckSection => ({
  title: agent.name,
  checks: [
    found.kind === 'found'
      ? ok('program', `${found.file}, as you have described it`)
      : warn(
          'program',
          `you have described it, and ${agent.command ?? agent.name} was not found`,
          agent.npmPackage === undefined ? undefined : install(agent),
        ),
  ],
});

const absent = ({ agent, found }: AgentFacts): Check => {
  if (found.kind === 'missing' && found.shims.length > 0)
    return fail(
      'program',
      `${found.shims.join(', ')} starts ctxwrap, and there is no ${agent.name} behind it`,
      install(agent),
    );
  if (found.kind === 'not-executable')
    return fail(
      'program',
      `${found.file} cannot be run (${found.reason})`,
      `chmod +x ${quoteForCopying(found.file)}`,
    );
  return ok('program', `not installed (${install(agent)})`);
};

const install = ({ npmPackage, name }: Agent): string => `npm install -g ${npmPackage ?? name}`;

const installed = (facts: AgentFacts): readonly Check[] => [
  program(facts),
  ...shimsOf(facts).map((file) => ok('shim', `${file} starts ctxwrap; the agent itself is found behind it`)),
  version(facts),
  ...(facts.version.kind === 'told' ? [certificate(facts)] : []),
  sessions(facts),
  ...(facts.official === undefined ? [] : [ok('status line', facts.official)]),
  ...thresholds(facts),
  ...ownCompaction(facts),
];

const shimsOf = ({ found }: AgentFacts): readonly string[] => (found.kind === 'found' ? found.shims : []);

const program = ({ found, agent }: AgentFacts): Check =>
  found.kind === 'found' ? ok('program', found.file) : fail('program', `${agent.name} was not found`);

const version = ({ version: said, home, agent, verified }: AgentFacts): Check => {
  if (said.kind !== 'told') {
    const text = said.kind === 'silent' ? 'it did not tell its version in time' : 'it printed no version';
    return warn('version', text, `${agent.command ?? ''} --version`);
  }
  if (verified && isFullyVerified(verified)) return ok('version', `${said.text}, which you have verified`);
  if (isTested(agent, said.text)) return ok('version', `${said.text}, which the lab has played`);
  const text = `${said.text}; the lab has played ${home.played.join(', ')}`;
  const tested = newestTestedBefore(agent, said.text) ?? home.played[0];
  return warn(
    'version',
    text,
    `where its numbers or its rest are not read right: ${install(agent)}@${tested ?? 'latest'}`,
  );
};

const certificate = ({ agent, verified }: AgentFacts): Check => {
  const { name } = agent;
  const command = `ctxwrap verify ${name}`;
  if (!verified) return ok('verified', `not verified: ${command}`);
  const { agentVersion, at } = verified;
  const text = `${agentVersion} on ${formatDay(at)}: ${formatScore(verified)}`;
  if (isFullyVerified(verified)) return ok('verified', text);
  const failed = verified.checks.filter(({ isGood }) => !isGood).map((each) => each.name);
  return warn('verified', `${text}, not ${failed.join(', ')}`, command);
};

const sessions = ({ sessions: { folder, state }, agent }: AgentFacts): Check => {
  switch (state) {
    case 'readable':
      return ok('sessions', folder);
    case 'missing':
      return ok('sessions', `${folder} is not there: no session so far`);
    case 'unreadable':
      return fail(
        'sessions',
        `${folder} cannot be read, so ${agent.name} has no numbers`,
        `chmod u+rx ${quoteForCopying(folder)}`,
      );
  }
};

/** Only a running session reports its window; until then the numbers assume a usual one, unless the user has set it. */
const ladder = ({ agent, home, own, windowTokens, choice }: AgentFacts) =>
  buildLadder({
    agent: agent.name,
    windowTokens: windowTokens ?? home.usualWindowTokens,
    byUser: windowTokens === undefined ? undefined : { ownTokens: home.usualWindowTokens },
    native: own.trigger,
    choice,
  });

const thresholds = (facts: AgentFacts): readonly Check[] => {
  const { home, windowTokens, own } = facts;
  const usual = groupDigits(home.usualWindowTokens);
  const window =
    windowTokens === undefined
      ? `told by each session; these are the numbers for ${usual} tokens, its usual window`
      : `${groupDigits(windowTokens)} tokens, the window you set; its own is usually ${usual}`;
  const isForSome = own.trigger?.exceptions?.some(({ rule }) => rule === undefined) === true;
  return [
    ok('window', window),
    ...listThresholds(ladder(facts)).map(({ name, reason }) => {
      const some = name === 'native' && isForSome ? ', not with every model' : '';
      return ok(name, `${reason.replace(/^[a-z]+ /, '')}${some}`);
    }),
  ];
};

/** Warns when settings make the agent compact before ctxwrap does, in the middle of its work. */
const ownCompaction = (facts: AgentFacts): readonly Check[] => {
  const { own, agent } = facts;
  const told = own.said.map(({ name, value, place }) => `${name} = ${value} in ${place}`).join(', ');
  const because = told === '' ? '' : `: ${told}`;
  if (!own.trigger) {
    return told === '' ? [] : [ok('own compaction', `${agent.name} does not compact by itself${because}`)];
  }
  const { auto, native } = ladder(facts);
  if (!native) return [];
  const notice = nativeTriggerNotice({ ...(auto ? { auto } : {}), native }, agent.name);
  if (auto && notice !== undefined && auto.asked === undefined) {
    const earlier = Math.floor((native.tokens * 0.95) / 1000);
    const fix = `ctxwrap --auto ${earlier}k ${agent.command ?? agent.name}`;
    return [warn('own compaction', `${notice}${because}`, fix)];
  }
  if (notice !== undefined) return [ok('own compaction', `${notice}${because}`)];
  if (told === '') return [];
  const ours = auto ? ', after our auto' : '; ours is only shown';
  return [ok('own compaction', `at ${groupDigits(native.tokens)}${ours}${because}`)];
};

type Env = Readonly<Record<string, string | undefined>>;

const LEAST_NODE = 20; // `engines` in package.json

export interface SystemFacts {
  readonly node: string;
  readonly platform: string;
  readonly arch: string;
  readonly env: Env;
  /** why node-pty cannot open a pseudo-terminal; undefined when it can */
  readonly ptyFailure: string | undefined;
}

export const systemSection = ({ node, platform, arch, env, ptyFailure }: SystemFacts): CheckSection => ({
  title: 'System',
  checks: [
    Number.parseInt(node, 10) >= LEAST_NODE
      ? ok('node', `Node ${node}`)
      : fail('node', `Node ${node} is older than ${LEAST_NODE}`, `install Node ${LEAST_NODE} or newer`),
    platform === 'linux' || platform === 'darwin'
      ? ok('platform', `${platform} ${arch}`)
      : fail('platform', `${platform} is neither Linux nor macOS`, 'use ctxwrap on Linux or macOS'),
    ptyFailure === undefined
      ? ok('pty', 'a pseudo-terminal can be opened')
      : fail('pty', `no pseudo-terminal: ${ptyFailure}`, 'npm install -g ctxwrap'),
    ...switchedOff(env),
  ],
});

const switchedOff = (env: Env): readonly Check[] => [
  ...(isSwitchedOn(env['CTXWRAP_DISABLE'])
    ? [
        warn(
          'disabled',
          'CTXWRAP_DISABLE is set: agents run with nothing in between',
          'unset CTXWRAP_DISABLE',
        ),
      ]
    : []),
  ...(env['CTXWRAP_SESSION']
    ? [ok('inside', `this shell is inside the session ${env['CTXWRAP_SESSION']}`)]
    : []),
];

const LEAST_ROWS = 8;
const LEAST_COLUMNS = 20; // in a narrower terminal the footer is hidden

/** `terminal` is undefined where input or output is not a terminal. */
export const terminalSection = (env: Env, terminal: ProbedTerminal | undefined): CheckSection => {
  if (!terminal) {
    const text = 'input or output is no terminal, so it was not asked';
    return { title: 'Terminal', checks: [warn('terminal', text, 'run ctxwrap doctor in a terminal')] };
  }
  const { size, answers } = terminal;
  return {
    title: 'Terminal',
    checks: [kind(env, answers), room(size), answering(answers), colours(env), letters(env)],
  };
};

const kind = (env: Env, { name }: TerminalAnswers): Check => {
  const term = env['TERM'] ?? '';
  if (term === '' || term === 'dumb') {
    return fail('terminal', `TERM is "${term}": agents run unwrapped`, 'export TERM=xterm-256color');
  }
  const inside = env['TMUX'] ? ', inside tmux' : env['STY'] ? ', inside screen' : '';
  return ok('terminal', `${name ?? env['TERM_PROGRAM'] ?? 'a terminal'} (TERM=${term}${inside})`);
};

const room = ({ columns, rows }: { readonly columns: number; readonly rows: number }): Check =>
  rows >= LEAST_ROWS && columns >= LEAST_COLUMNS
    ? ok('size', `${columns} × ${rows}`)
    : warn(
        'size',
        `${columns} × ${rows} is too small for a footer`,
        `make it at least ${LEAST_COLUMNS} × ${LEAST_ROWS}`,
      );

const answering = ({ answers, synchronized, kittyKeyboard }: TerminalAnswers): Check => {
  if (!answers) {
    const text =
      'it answers no questions within a second: the footer may be drawn at a wrong row at the start';
    return warn('answers', text, 'use a terminal that answers CSI c, or --no-footer');
  }
  const can = [
    ...(synchronized ? ['frames at once (2026)'] : []),
    ...(kittyKeyboard ? ["kitty's keyboard protocol"] : []),
  ];
  return ok('answers', can.length > 0 ? `it answers, and has ${can.join(' and ')}` : 'it answers');
};

const colours = (env: Env): Check => {
  if (env['NO_COLOR']) return ok('colours', 'none, as NO_COLOR says');
  const isTrue = /^(?:truecolor|24bit)$/.test(env['COLORTERM'] ?? '');
  return ok('colours', isTrue ? 'true colour' : (env['TERM'] ?? '').includes('256') ? '256' : '16');
};

const letters = (env: Env): Check => {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return /utf-?8/i.test(locale)
    ? ok('letters', locale)
    : warn(
        'letters',
        `the locale "${locale}" is not UTF-8: the footer is drawn in ASCII`,
        'export LANG=C.UTF-8',
      );
};

export interface FolderFacts {
  readonly folder: string;
  /** undefined while the folder does not exist */
  readonly stats: { readonly mode: number; readonly isOwn: boolean; readonly isFolder: boolean } | undefined;
  /** why it cannot be created or written; undefined when it can */
  readonly obstacle: FolderObstacle | undefined;
  readonly sessions: readonly ListedSession[];
  /** the user's home folder */
  readonly home: string;
}

const OTHERS = 0o077;

export const folderSection = (facts: FolderFacts): CheckSection => ({
  title: 'State',
  checks: facts.stats ? [folder(facts), ...records(facts)] : [absentInFolderChecks(facts)],
});

/** Moves ctxwrap's state for one run only; other programs use XDG_STATE_HOME too. */
const ELSEWHERE = 'XDG_STATE_HOME="$(mktemp -d)" ctxwrap doctor';

const absentInFolderChecks = ({ folder: path, obstacle, home }: FolderFacts): Check =>
  obstacle
    ? fail(
        'folder',
        `${path} cannot be made: ${inTheWay(obstacle)}`,
        mending(obstacle, { home, elsewhere: ELSEWHERE }),
      )
    : ok('folder', `${path} is not there yet`);

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

const movingAway = (path: string): string => `mv ${quoteForCopying(path)} ${quoteForCopying(`${path}.old`)}`;

const OF_SYSTEM = /^\/(?:$|(?:dev|etc|proc|sys|usr)(?:\/|$))/;

const folder = ({ folder: path, stats, obstacle, home }: FolderFacts): Check => {
  if (stats && !stats.isFolder) return fail('folder', `${path} is a link or no folder`, movingAway(path));
  if (stats && !stats.isOwn)
    return fail(
      'folder',
      `${path} belongs to another user`,
      `sudo chown -R "$USER" ${quoteForCopying(path)}`,
    );
  if (obstacle)
    return fail(
      'folder',
      `nothing can be written into ${inTheWay(obstacle)}`,
      mending(obstacle, { home, elsewhere: ELSEWHERE }),
    );
  if (stats && (stats.mode & OTHERS) !== 0)
    return warn('folder', `others can look into ${path}`, `chmod 700 ${quoteForCopying(path)}`);
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

/** Which sources of a running agent are understood. */
const evidence = ({
  runtime: agent,
  pid,
  evidence: understood,
}: ListedSession['record']): readonly Check[] => {
  if (!understood) return [];
  const signs = witnesses.map((each) => `${each} ${understood[each] ? '✓' : '–'}`);
  return [ok('evidence', `${agent} (process ${pid}): ${signs.join(', ')}`)];
};

export interface ConfigFacts extends Pick<WholeConfiguration, 'userPath' | 'problems'> {
  readonly isThere: boolean;
  /** why the file's folder cannot be created or written; undefined when it can */
  readonly obstacle: FolderObstacle | undefined;
  /** the user's home folder */
  readonly home: string;
}

const CONFIG_CHECKS_ELSEWHERE = 'export CTXWRAP_CONFIG="$(mktemp -d)/config.jsonc"';

/** A short form of `ctxwrap config check`. */
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
            mending(obstacle, { home, elsewhere: CONFIG_CHECKS_ELSEWHERE }),
          ),
        ]
      : []),
    ...problems.map((problem) => {
      const { level, what, where, why, fix } = toFinding(problem);
      const text = `${what} (${where}): ${why}`;
      return level === 'error' ? fail('value', text, fix) : warn('value', text, fix);
    }),
  ],
});
