import { formatTokens } from '../format.js';
import { strategyNames } from '../strategies/names.js';
import { nearestWord } from '../text.js';
import { backendStrategy, backendWindow } from './backends.js';
import { ladderChoice, type Values } from './keys.js';
import type { EffectiveValue } from './merge.js';
import { fixAt, problemAt, type Problem } from './problem.js';
import { findSummariserFault, noSummariser } from './summariser.js';

// Which strategy shortens conversations, and why the configured one cannot. What cannot work is found when the configuration is read: at
// auto, nothing could take its place any more.

/** What decides about the strategy. */
interface StrategyValues {
  readonly strategy?: string;
  readonly backend?: string;
  readonly mode: string;
  readonly 'summariser.url'?: string;
}

/** The strategy that compactions use; undefined for the agent's own command. `isModeGiven`: the user has set the mode. */
export const strategyInUse = (values: StrategyValues, isModeGiven: boolean): string | undefined => {
  const { strategy, backend, mode } = values;
  if (strategy !== undefined) return strategy === 'auto' ? undefined : strategy;
  if (!isModeGiven || mode !== 'auto') return undefined;
  const usual = backendStrategy(backend);
  return usual === 'summarize' && values['summariser.url'] === undefined ? undefined : usual;
};

interface SessionStart {
  readonly isModeGiven: boolean;
  /** as `assumedWindow` has it; undefined where none is assumed */
  readonly assumedTokens: number | undefined;
  /** it takes a shortened conversation while it runs */
  readonly agent: { readonly name: string; readonly canSwitch: boolean };
}

/** What `backend` and `strategy` change, for the start of a session: a line for each that has something to say. */
export const strategyNotices = (
  values: Values,
  { isModeGiven, assumedTokens, agent }: SessionStart,
): readonly string[] => {
  const { strategy, backend } = values;
  const inUse = strategyInUse(values, isModeGiven);
  const isByBackend = strategyInUse({ ...values, 'summariser.url': 'agent' }, isModeGiven) !== undefined;
  const usual = backendWindow({});
  const [window, before] = [assumedTokens ?? usual, usual].map(formatTokens);
  const hasShares = values.ladder === undefined && ladderChoice(values).preset === 'percent';
  const changes = [
    ...(window === before ? [] : [`${window}? (not ${before})`]),
    ...(hasShares ? ['auto at 85%'] : []),
    ...(strategy !== undefined || !isByBackend
      ? []
      : [inUse === undefined ? 'strategy auto (no summariser)' : `strategy ${inUse}`]),
  ];
  const isUnusable = inUse !== undefined && !agent.canSwitch;
  return [
    ...(backend === undefined || changes.length === 0 ? [] : [`backend ${backend}: ${changes.join(', ')}`]),
    ...(isUnusable ? [`strategy ${inUse} is not used: ${whyUnused(inUse, values, agent.name)}`] : []),
  ];
};

const whyUnused = (strategy: string, { strategies }: Values, agent: string): string =>
  knownStrategies(strategies).includes(strategy)
    ? `${agent} cannot switch to another session`
    : NO_SUCH_STRATEGY;

/**
 * The module of a strategy of the user's own, or undefined where there is no such file; the path may begin with `~/`. Without its text where that
 * is too long or cannot be read.
 */
export type ReadModule = (path: string) => { readonly text?: string } | undefined;

/** By which a module can export what it does not name with the keyword `export`: those of CommonJS, and escapes. */
const OTHER_WAYS = /require|exports|module|this|arguments|eval|\\/;
/** `default` may have any properties, and `*` passes on what another file exports. */
const MAY_BE_COMPACT = /compact|default|\*/;

/**
 * Whether it certainly exports no `compact`: it is not run when a configuration is read, so that a configuration runs nothing. What remains is
 * found when it is loaded (session-files/find-strategy.ts).
 */
const hasNoCompact = (text: string): boolean => {
  const at = text.indexOf('export');
  return !OTHER_WAYS.test(text) && (at < 0 || !MAY_BE_COMPACT.test(text.slice(at)));
};

const findModuleFault = (path: string, readModule: ReadModule): Omit<StrategyFault, 'fix'> | undefined => {
  const found = readModule(path);
  if (!found) return { reason: `there is no file ${path}`, short: `there is no file ${path}` };
  return found.text !== undefined && hasNoCompact(found.text)
    ? { reason: `${path} exports no function "compact"`, short: 'its module exports no "compact"' }
    : undefined;
};

/** Names that the setting may have: with those of the user's own. */
export const knownStrategies = (own: object = {}): readonly string[] => [
  'auto',
  ...strategyNames,
  ...Object.keys(own),
];

const NO_SUCH_STRATEGY = 'no such strategy';

interface StrategyFault {
  /** a sentence without a full stop */
  readonly reason: string;
  /** the same in few words */
  readonly short: string;
  /** a command that fixes it, where another setting is missing */
  readonly fix?: string;
  /** the strategy that the user may have meant */
  readonly meant?: string | undefined;
}

type FaultValues = Pick<
  Values,
  'strategy' | 'strategies' | 'summariser.url' | 'summariser.model' | 'summariser.remote'
>;

const findStrategyFault = (values: FaultValues, readModule: ReadModule): StrategyFault | undefined => {
  const { strategy = 'auto', strategies: own = {} } = values;
  const known = knownStrategies(own);
  if (!known.includes(strategy))
    return {
      reason: `there is no strategy of that name; there are ${known.join(', ')}`,
      short: NO_SUCH_STRATEGY,
      meant: nearestWord(strategy, known),
    };
  const module = Object.hasOwn(own, strategy) ? own[strategy] : undefined;
  if (module !== undefined) return findModuleFault(module, readModule);
  if (strategy !== 'summarize') return undefined;
  if (values['summariser.url'] === undefined) return { ...noSummariser, short: noSummariser.reason };
  return findSummariserFault(values);
};

/** The strategies that can be used with these settings, and `auto`, the agent's own command. A module of the user's own is not read. */
export const usableStrategies = (values: FaultValues): readonly string[] =>
  knownStrategies(values.strategies).filter(
    (strategy) => findStrategyFault({ ...values, strategy }, () => ({})) === undefined,
  );

/** The settings with the agent's own command in place of a strategy that cannot work, and what is wrong with it. */
export const withUsableStrategy = (
  effective: readonly EffectiveValue[],
  values: Values,
  readModule: ReadModule,
): { readonly effective: readonly EffectiveValue[]; readonly problems: readonly Problem[] } => {
  const fault = findStrategyFault(values, readModule);
  const given = effective.find(({ key }) => key === 'strategy');
  if (!fault || !given) return { effective, problems: [] };
  const { key, value, origin, overrides } = given;
  const { reason, short, meant = 'auto' } = fault;
  const other = origin.layer === 'user' ? `ctxwrap config set strategy ${meant}` : fixAt(origin, meant);
  const used: EffectiveValue = {
    key,
    value: 'auto',
    origin: { layer: 'default' },
    overrides: [{ key, value, origin }, ...overrides],
  };
  const problem = problemAt(origin, {
    kind: 'unusable',
    level: 'error',
    key,
    what: `strategy ${String(value)} is not used`,
    short: `strategy ${String(value)} is not used: ${short}`,
    why: `${reason}; the agent's own command is used`,
    fix: fault.fix ?? other,
  });
  return { effective: effective.map((each) => (each === given ? used : each)), problems: [problem] };
};
