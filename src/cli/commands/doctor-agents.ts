import type { Agent } from '../../agents/agent.js';
import type { AgentHome, Retention } from '../../agents/home.js';
import type { OwnCompaction, OwnSetting } from '../../agents/own-compaction.js';
import { testedVersions, isTested, newestTestedBefore } from '../../agents/tested.js';
import { buildLadder, nativeTriggerNotice } from '../../core/build-ladder.js';
import { fail, none, ok, warn, type Check, type CheckSection } from '../../core/report/doctor-report.js';
import { type LadderChoice, groupDigits, listThresholds } from '../../core/ladder.js';
import { windowOrigin, type ModelUse } from '../../core/report/model-uses.js';
import { isFullyVerified, formatScore, type VerifiedRecord } from '../../core/report/records.js';
import { quoteForCopying } from '../../core/text.js';
import { formatDay } from '../../core/time.js';
import { shortenHome } from '../config/path.js';
import { type FoundCommand, obstacleReasons } from '../../storage/find-command.js';

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
  readonly sessions: {
    readonly folder: string;
    /** `no-sqlite`: they are in a database, which this Node cannot read */
    readonly state: 'readable' | 'missing' | 'unreadable' | 'no-sqlite';
    /** ids of other users whose session files lie there, so that the black box does not keep them; none where that is off */
    readonly otherOwners?: readonly number[];
  };
  /** where the agent compacts by itself, from its own settings */
  readonly own: OwnCompaction;
  /** the user's home folder */
  readonly userHome: string;
  /** how long the agent keeps its session files; undefined where it is not known to delete any */
  readonly retention: Retention | undefined;
  /** whether ctxwrap asks the agent for its numbers, and how or why not; undefined for an agent that cannot be asked */
  readonly official: { readonly isUsed: boolean; readonly text: string } | undefined;
  /** whether a hook adds context to the user's messages, and how or why not */
  readonly context: AgentFacts['official'];
  /** set by the user */
  readonly windowTokens: number | undefined;
  /** the model that it last ran with on this machine, if known */
  readonly lastUse: ModelUse | undefined;
  readonly choice: LadderChoice;
}

export const agentSection = (facts: AgentFacts): CheckSection => ({
  title: facts.agent.name,
  checks: facts.found.kind === 'found' ? installed(facts) : [absent(facts)],
});

/** An agent that the user has defined: everything known about it is in the configuration. */
export const definedAgentSection = (agent: Agent, found: FoundCommand): CheckSection => ({
  title: agent.name,
  checks: [
    found.kind === 'found'
      ? ok('program', `${found.file}, as your configuration defines it`)
      : absent({ agent, found }),
  ],
});

const absent = ({ agent, found }: Pick<AgentFacts, 'agent' | 'found'>): Check => {
  const { name, command = name } = agent;
  if (found.kind === 'missing' && found.shims.length > 0)
    return fail(
      'program',
      `${found.shims.join(', ')} starts ctxwrap, but ${command} itself is not installed`,
      install(agent),
    );
  if (found.kind === 'not-executable') {
    const fix = found.reason === 'permission' ? `chmod +x ${quoteForCopying(found.file)}` : undefined;
    return fail('program', `${found.file} cannot run: ${obstacleReasons[found.reason]}`, fix);
  }
  return none('program', command === name ? 'not installed' : `${command} is not installed`, install(agent));
};

/** Undefined for an agent of the user's own whose package is unknown. */
const install = ({ npmPackage }: Agent, version?: string): string | undefined =>
  npmPackage === undefined
    ? undefined
    : `npm install -g ${npmPackage}${version === undefined ? '' : `@${version}`}`;

const installed = (facts: AgentFacts): readonly Check[] => [
  ...program(facts),
  version(facts),
  sessions(facts),
  ...otherOwners(facts),
  ...(facts.retention ? [transcripts(facts, facts.retention)] : []),
  ...(facts.official ? [addition('status line', facts.official)] : []),
  ...(facts.context ? [addition('hook', facts.context)] : []),
  ...thresholds(facts),
  ...ownCompaction(facts),
];

const program = ({ found }: AgentFacts): readonly Check[] =>
  found.kind === 'found'
    ? [
        ok('program', found.file),
        ...found.shims.map((file) => ok('shim', `${file} starts ctxwrap, which then starts this program`)),
      ]
    : [];

const version = ({ version: answer, agent, verified }: AgentFacts): Check => {
  const { name, command = name } = agent;
  if (answer.kind !== 'told') {
    const text = answer.kind === 'silent' ? 'did not answer in time' : 'printed no version number';
    return warn('version', `${command} --version ${text}`, `run ${command} --version and see what it prints`);
  }
  if (verified) return verifiedVersion(agent, verified);
  if (isTested(agent, answer.text)) return ok('version', `${answer.text}, a tested version`);
  return warn('version', untested(agent, answer.text), `ctxwrap verify ${name}`);
};

const untested = (agent: Agent, version: string): string =>
  `${version} was not tested; ${testedVersions(agent, version)}`;

/** A version that `ctxwrap verify` has tried on this machine. */
const verifiedVersion = (agent: Agent, record: VerifiedRecord): Check => {
  const { agentVersion, at, checks } = record;
  const score = `${formatScore(record)} checks on ${formatDay(at)}`;
  if (isFullyVerified(record))
    return ok('version', `${agentVersion}, verified on this machine: passed ${score}`);
  const failed = checks.filter(({ isGood }) => !isGood).map((each) => each.name);
  const failure = `ctxwrap verify passed only ${score}, not ${failed.join(', ')}`;
  return isTested(agent, agentVersion)
    ? warn('version', `${agentVersion} is a tested version, but ${failure}`, `ctxwrap verify ${agent.name}`)
    : warn(
        'version',
        `${untested(agent, agentVersion)}; ${failure}`,
        install(agent, newestTestedBefore(agent, agentVersion) ?? agent.home?.played[0]),
      );
};

const sessions = ({ sessions: { folder, state }, agent }: AgentFacts): Check => {
  switch (state) {
    case 'readable':
      return ok('sessions', folder);
    case 'missing':
      return none('sessions', `no sessions yet: ${folder} does not exist`);
    case 'no-sqlite':
      return warn(
        'sessions',
        `Node ${process.versions.node} cannot read the database in ${folder}: numbers come only from the screen, and past sessions cannot be read`,
        'install Node 22.13 or newer',
      );
    case 'unreadable':
      return fail(
        'sessions',
        `ctxwrap cannot read ${folder}, so it gets no numbers from ${agent.name}`,
        `chmod u+rx ${quoteForCopying(folder)}`,
      );
  }
};

const otherOwners = ({
  sessions: { otherOwners: ids = [] },
  agent: { name },
}: AgentFacts): readonly Check[] => {
  const [one, ...others] = ids;
  if (one === undefined) return [];
  const users = others.length > 0 ? `other users (ids ${ids.join(', ')})` : `another user (id ${one})`;
  const text = `${name} has session files of ${users}, which the black box does not keep, not even for root`;
  return [warn('black box', text, `run ${name} as their owner, or: ctxwrap config set blackbox off`)];
};

const SHORT_DAYS = 30; // kept no longer than this, a transcript may be gone when it is wanted

const transcripts = (
  { agent: { name }, userHome }: AgentFacts,
  { days, setting, userFile, given, meaning }: Retention,
): Check => {
  const file = shortenHome(given?.place ?? userFile, userHome);
  const from = given ? settingText({ ...given, place: file }) : 'its default';
  if (meaning !== undefined)
    return warn('transcripts', `${from}: ${meaning}`, `set ${setting} in ${file} to a number of days`);
  const time = days === 1 ? '1 day' : `${groupDigits(days)} days`;
  if (days > SHORT_DAYS) return ok('transcripts', `${name} keeps transcripts for ${time} (${from})`);
  const text = `${name} deletes transcripts after ${time} (${from})`;
  return warn('transcripts', text, `${given ? 'raise' : 'set'} ${setting} in ${file}`);
};

const settingText = ({ name, value, place }: OwnSetting): string => `${name} = ${value} in ${place}`;

/** What ctxwrap adds to a launch. */
const addition = (name: string, { isUsed, text }: NonNullable<AgentFacts['official']>): Check =>
  isUsed ? ok(name, text) : none(name, `not used: ${text}`);

/** The agent's own window: only a running session reports it, so until then as the last one knew it, or else the usual one. */
const ownWindow = ({ home, lastUse }: AgentFacts) => {
  const tokens = lastUse?.window?.windowTokens ?? home.usualWindowTokens;
  return {
    tokens,
    model: lastUse?.window && lastUse.model,
    origin: lastUse?.window ? windowOrigin(lastUse, lastUse.window) : undefined,
  };
};

const ladder = (facts: AgentFacts) => {
  const { agent, own, windowTokens, choice } = facts;
  const { tokens: ownTokens, model } = ownWindow(facts);
  return buildLadder({
    agent: agent.name,
    windowTokens: windowTokens ?? ownTokens,
    byUser: windowTokens === undefined ? undefined : { ownTokens },
    native: own.trigger,
    model,
    choice,
  });
};

const thresholds = (facts: AgentFacts): readonly Check[] => {
  const { own } = facts;
  const isForSome =
    ownWindow(facts).model === undefined &&
    own.trigger?.exceptions?.some(({ rule }) => rule === undefined) === true;
  return [
    ok('window', windowText(facts)),
    ...listThresholds(ladder(facts)).map(({ name, reason }) => {
      const some = name === 'native' && isForSome ? ', but not with every model' : '';
      return ok(name, `${reason.replace(/^[a-z]+ /, '')}${some}`);
    }),
  ];
};

const windowText = (facts: AgentFacts): string => {
  const { tokens, origin } = ownWindow(facts);
  const { windowTokens } = facts;
  const usual = groupDigits(tokens);
  if (windowTokens === undefined)
    return `${usual} tokens, ${origin ?? 'its usual window; each session reports its own'}`;
  const other = origin === undefined ? `usually ${usual}` : `${usual}, ${origin}`;
  return `${groupDigits(windowTokens)} tokens, as you set it${windowTokens === tokens ? '' : `; ${other}`}`;
};

/** Warns when settings make the agent compact before ctxwrap does, in the middle of its work. */
const ownCompaction = (facts: AgentFacts): readonly Check[] => {
  const { own, agent } = facts;
  const settings = own.settings.map(settingText).join(', ');
  const because = settings === '' ? '' : ` (${settings})`;
  if (!own.trigger) {
    return settings === ''
      ? []
      : [ok('own compaction', `${agent.name} does not compact on its own${because}`)];
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
  if (settings === '') return [];
  const ours = auto ? "ctxwrap's auto comes first" : 'with this ladder ctxwrap never compacts';
  return [ok('own compaction', `set by ${settings}; ${ours}`)];
};
