// One section for each agent: is it there, is it known, what are its numbers, and what of its own would come first.
import { ladderOf } from '../../core/build-ladder.js';
import { fail, ok, warn } from '../../core/doctor-report.js';
import type { Check, CheckSection } from '../../core/doctor-report.js';
import type { LadderChoice } from '../../core/ladder.js';
import { nativeNotice } from '../../core/native-notice.js';
import { grouped } from '../../core/rung.js';
import { shellWord } from '../../core/shell-word.js';
import { thresholdsOf } from '../../core/thresholds.js';
import { dayOf } from '../../core/time.js';
import { isFullyVerified, scoreOf } from '../../core/verified-record.js';
import type { VerifiedRecord } from '../../core/verified-record.js';
import type { AgentHome } from '../../runtimes/agent-home.js';
import type { OwnCompaction } from '../../runtimes/own-compaction.js';
import type { Runtime } from '../../runtimes/runtime.js';
import { isTested, newerThanTested } from '../../runtimes/tested.js';
import type { FoundCommand } from '../../storage/find-command.js';

/** What was looked up of one agent. */
export interface AgentFacts {
  readonly runtime: Runtime;
  readonly home: AgentHome;
  readonly found: FoundCommand;
  /** what `--version` printed: a version, something else, or nothing in time */
  readonly version: { readonly kind: 'told'; readonly text: string } | { readonly kind: 'none' | 'silent' };
  /** what `ctxwrap verify` found with this version; undefined where it was not tried */
  readonly verified: VerifiedRecord | undefined;
  readonly sessions: { readonly folder: string; readonly state: 'readable' | 'missing' | 'unreadable' };
  /** where it compacts by itself, as its own settings have it */
  readonly own: OwnCompaction;
  /** how it is asked for its numbers; undefined for an agent that cannot be asked */
  readonly official: string | undefined;
  /** as the user has set it */
  readonly windowTokens: number | undefined;
  readonly choice: LadderChoice;
}

export const agentSection = (facts: AgentFacts): CheckSection => ({
  title: facts.runtime.name,
  checks: facts.found.kind === 'found' ? installed(facts) : [absent(facts)],
});

/** An agent that the user has described: what is known of it is in the configuration. */
export const ownAgentSection = (runtime: Runtime, found: FoundCommand): CheckSection => ({
  title: runtime.name,
  checks: [
    found.kind === 'found'
      ? ok('program', `${found.file}, as you have described it`)
      : warn(
          'program',
          `you have described it, and ${runtime.command ?? runtime.name} was not found`,
          runtime.npmPackage === undefined ? undefined : install(runtime),
        ),
  ],
});

const absent = ({ runtime, found }: AgentFacts): Check => {
  if (found.kind === 'missing' && found.shims.length > 0)
    return fail(
      'program',
      `${found.shims.join(', ')} starts ctxwrap, and there is no ${runtime.name} behind it`,
      install(runtime),
    );
  if (found.kind === 'not-executable')
    return fail(
      'program',
      `${found.file} cannot be run (${found.reason})`,
      `chmod +x ${shellWord(found.file)}`,
    );
  return ok('program', `not installed (${install(runtime)})`);
};

const install = ({ npmPackage, name }: Runtime): string => `npm install -g ${npmPackage ?? name}`;

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

const program = ({ found, runtime }: AgentFacts): Check =>
  found.kind === 'found' ? ok('program', found.file) : fail('program', `${runtime.name} was not found`);

const version = ({ version: said, home, runtime, verified }: AgentFacts): Check => {
  if (said.kind !== 'told') {
    const text = said.kind === 'silent' ? 'it did not tell its version in time' : 'it printed no version';
    return warn('version', text, `${runtime.command ?? ''} --version`);
  }
  if (verified && isFullyVerified(verified)) return ok('version', `${said.text}, which you have verified`);
  if (isTested(runtime, said.text)) return ok('version', `${said.text}, which the lab has played`);
  const text = `${said.text}; the lab has played ${home.played.join(', ')}`;
  const tested = newerThanTested(runtime, said.text) ?? home.played[0];
  return warn(
    'version',
    text,
    `where its numbers or its rest are not read right: ${install(runtime)}@${tested ?? 'latest'}`,
  );
};

const certificate = ({ runtime, verified }: AgentFacts): Check => {
  const { name } = runtime;
  const command = `ctxwrap verify ${name}`;
  if (!verified) return ok('verified', `not verified: ${command}`);
  const { agentVersion, at } = verified;
  const text = `${agentVersion} on ${dayOf(at)}: ${scoreOf(verified)}`;
  if (isFullyVerified(verified)) return ok('verified', text);
  const failed = verified.checks.filter(({ isGood }) => !isGood).map((each) => each.name);
  return warn('verified', `${text}, not ${failed.join(', ')}`, command);
};

const sessions = ({ sessions: { folder, state }, runtime }: AgentFacts): Check => {
  switch (state) {
    case 'readable':
      return ok('sessions', folder);
    case 'missing':
      return ok('sessions', `${folder} is not there: no session so far`);
    case 'unreadable':
      return fail(
        'sessions',
        `${folder} cannot be read, so ${runtime.name} has no numbers`,
        `chmod u+rx ${shellWord(folder)}`,
      );
  }
};

/** A session tells its window, and nobody before it: without the user's word the numbers are those of a usual one. */
const ladder = ({ runtime, home, own, windowTokens, choice }: AgentFacts) =>
  ladderOf({
    runtime: runtime.name,
    windowTokens: windowTokens ?? home.usualWindowTokens,
    byUser: windowTokens === undefined ? undefined : { ownTokens: home.usualWindowTokens },
    native: own.trigger,
    choice,
  });

const thresholds = (facts: AgentFacts): readonly Check[] => {
  const { home, windowTokens, own } = facts;
  const usual = grouped(home.usualWindowTokens);
  const window =
    windowTokens === undefined
      ? `told by each session; these are the numbers for ${usual} tokens, its usual window`
      : `${grouped(windowTokens)} tokens, the window you set; its own is usually ${usual}`;
  const isForSome = own.trigger?.exceptions?.some(({ rule }) => rule === undefined) === true;
  return [
    ok('window', window),
    ...thresholdsOf(ladder(facts)).map(({ name, reason }) => {
      const some = name === 'native' && isForSome ? ', not with every model' : '';
      return ok(name, `${reason.replace(/^[a-z]+ /, '')}${some}`);
    }),
  ];
};

/** The agent's own settings, or the user's for us, can make it compact before us, in the middle of its work. */
const ownCompaction = (facts: AgentFacts): readonly Check[] => {
  const { own, runtime } = facts;
  const told = own.said.map(({ name, value, place }) => `${name} = ${value} in ${place}`).join(', ');
  const because = told === '' ? '' : `: ${told}`;
  if (!own.trigger) {
    return told === '' ? [] : [ok('own compaction', `${runtime.name} does not compact by itself${because}`)];
  }
  const { auto, native } = ladder(facts);
  if (!native) return [];
  const notice = nativeNotice({ ...(auto ? { auto } : {}), native }, runtime.name);
  if (auto && notice !== undefined && auto.asked === undefined) {
    const earlier = Math.floor((native.tokens * 0.95) / 1000);
    const fix = `ctxwrap --auto ${earlier}k ${runtime.command ?? runtime.name}`;
    return [warn('own compaction', `${notice}${because}`, fix)];
  }
  if (notice !== undefined) return [ok('own compaction', `${notice}${because}`)];
  if (told === '') return [];
  const ours = auto ? ', after our auto' : '; ours is only shown';
  return [ok('own compaction', `at ${grouped(native.tokens)}${ours}${because}`)];
};
