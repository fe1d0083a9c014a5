// One section for each agent: is it there, is it known, what are its numbers, and what of its own would come first.
import { ladderOf } from '../../core/build-ladder.js';
import { fail, ok, warn } from '../../core/doctor-report.js';
import type { Check, CheckSection } from '../../core/doctor-report.js';
import { nativeTokens } from '../../core/ladder-limits.js';
import type { LadderChoice } from '../../core/ladder.js';
import { grouped } from '../../core/rung.js';
import { shellWord } from '../../core/shell-word.js';
import { thresholdsOf } from '../../core/thresholds.js';
import { dayOf } from '../../core/time.js';
import { isFullyVerified, scoreOf } from '../../core/verified-record.js';
import type { VerifiedRecord } from '../../core/verified-record.js';
import type { AgentHome, OwnSetting } from '../../runtimes/agent-home.js';
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
  readonly setting: OwnSetting | undefined;
  /** how it is asked for its numbers; undefined for an agent that cannot be asked */
  readonly official: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
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

const windowOf = ({ home, windowTokens }: AgentFacts): number => windowTokens ?? home.usualWindowTokens;

const ladder = (facts: AgentFacts) =>
  ladderOf({
    runtime: facts.runtime.name,
    windowTokens: windowOf(facts),
    native: facts.runtime.nativeTrigger(facts.env),
    choice: facts.choice,
  });

const thresholds = (facts: AgentFacts): readonly Check[] => {
  const window = facts.windowTokens === undefined ? 'its usual window' : 'the window you set';
  return [
    ok('window', `${grouped(windowOf(facts))} tokens, ${window}`),
    ...thresholdsOf(ladder(facts)).map(({ name, reason }) => ok(name, reason.replace(/^[a-z]+ /, ''))),
  ];
};

/** The agent's own settings can make it compact before us, in the middle of its work. */
const ownCompaction = (facts: AgentFacts): readonly Check[] => {
  const { setting, runtime } = facts;
  if (!setting) return [];
  const { file, name, value, trigger } = setting;
  const told = `${name} = ${value} in ${file}`;
  const own = trigger && nativeTokens(windowOf(facts), trigger);
  if (own === undefined) return [ok('own compaction', `${runtime.name} does not compact by itself: ${told}`)];
  const { auto } = ladder(facts);
  if (!auto) return [ok('own compaction', `at ${grouped(own)}; ours is only shown: ${told}`)];
  const isLater = auto.unit === 'tokens' && own > auto.value;
  if (isLater) return [ok('own compaction', `at ${grouped(own)}, after our auto: ${told}`)];
  const earlier = Math.floor((own * 0.95) / 1000);
  return [
    warn(
      'own compaction',
      `${runtime.name} compacts by itself at ${grouped(own)}, before our auto: ${told}`,
      `ctxwrap --auto ${earlier}k ${runtime.command ?? runtime.name}`,
    ),
  ];
};
