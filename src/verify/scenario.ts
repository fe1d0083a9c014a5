import { percentText, tokensText } from '../core/format.js';
import { countAt, listAt, parseRecord, recordAt, textAt } from '../core/json.js';
import type { TriedAgent } from './agents.js';
import type { Stage } from './stage.js';

/** A real one takes 10 to 120 s. */
export const SUMMARY_MS = 20_000;

/** A story with an agent, and what must come of it. */
export interface Scenario<Agent extends TriedAgent = TriedAgent> {
  readonly name: string;
  /** a sentence for the table */
  readonly expects: string;
  /** undefined: for every agent */
  readonly isFor?: (agent: Agent) => boolean;
  /** of ctxwrap */
  readonly options?: readonly string[];
  /** to be there before the start, by their paths in the home; they come before what the agent has there. `program` runs ctxwrap in a shell */
  readonly files?: (program: string, agent: Agent) => Readonly<Record<string, string>>;
  readonly isVim?: boolean;
  /** the command as it is typed in this story; the agent's own strokes when absent */
  readonly strokes?: (agent: Agent) => readonly string[];
  /** how long the model takes for a summary, in milliseconds; SUMMARY_MS when absent */
  readonly summaryMs?: number;
  /** the terminal understands OSC 7501, and says so when it is asked */
  readonly hearsState?: boolean;
  /** how often the whole command is typed; undefined: the story judges the keys itself */
  readonly typed?: number;
  /** plays it, fails where it goes wrong, and gives what proves it, in a few words */
  readonly play: (stage: Stage<Agent>) => Promise<string>;
}

/** Rejects with the sentence unless the condition holds. */
export const must = (isTrue: boolean, sentence: string): void => {
  if (!isTrue) throw new Error(sentence);
};

// To how many tokens the window is filled: around the tiers that the session has.

/** Where tiers begin, in tokens or 0…100 of the window. */
export type Tiers = Readonly<Record<'warn' | 'auto' | 'hard', Bound>>;

interface Bound {
  readonly value: number;
  readonly unit: 'tokens' | 'percent';
}

/** Tokens in each tier. */
export interface Sizes {
  readonly safe: number;
  readonly warn: number;
  readonly auto: number;
}

const SAFE_SHARE = 0.4;
const BELOW_WARN = 0.8;
const STEP = 0.01; // of the window, above the beginning of auto: an agent's own trigger is not far

/** Whether the session has had a number in a known window; its tiers are others before that. */
export const knowsWindow = (ps: string): boolean => {
  const [session] = listAt(parseRecord(ps), 'sessions');
  return countAt(recordAt(session, 'reading'), 'windowTokens') !== undefined;
};

/** Throws where `ctxwrap ps --json` tells of no session with tiers. */
export const tiersIn = (ps: string): Tiers => {
  const [session] = listAt(parseRecord(ps), 'sessions');
  const boundOf = (tier: keyof Tiers): Bound => {
    const found = listAt(session, 'thresholds').find((each) => textAt(each, 'name') === tier);
    const value = countAt(found, 'value');
    must(value !== undefined, `ctxwrap ps --json does not tell where ${tier} begins`);
    return { value: value ?? 0, unit: textAt(found, 'unit') === 'percent' ? 'percent' : 'tokens' };
  };
  return { warn: boundOf('warn'), auto: boundOf('auto'), hard: boundOf('hard') };
};

export const sizesBelow = (windowTokens: number, tiers: Tiers): Sizes => {
  const tokens = ({ value, unit }: Bound): number =>
    unit === 'tokens' ? value : (value / 100) * windowTokens;
  const [warn, auto, hard] = [tokens(tiers.warn), tokens(tiers.auto), tokens(tiers.hard)];
  return {
    safe: Math.round(Math.min(SAFE_SHARE * windowTokens, BELOW_WARN * warn)),
    warn: Math.round((warn + auto) / 2),
    auto: Math.round(auto + Math.min(STEP * windowTokens, Math.max(0, hard - auto) / 2)),
  };
};

// The number in the footer, held against what the model server has told.

/** What the server told of a turn, in tokens. */
export interface Told {
  readonly input: number;
  readonly output: number;
}

// `▰▱▱ 40% 80k/200k safe`; `~` and `?` mark an estimate and a window that is inferred
const NUMBERS = /(?<![\d.])(?<percent>[<>]?\d+)%\s+~?(?<used>[\d.]+[kM]?)\/(?<window>[\d.]+[kM]?)\??(?=\s|$)/;

/** Why the footer's number is not what the server told; undefined when it is. */
export const wrongIn = (
  footer: string,
  { input, output }: Told,
  { windowTokens, freeTokens = 0 }: Pick<TriedAgent, 'windowTokens' | 'freeTokens'>,
): string | undefined => {
  const found = NUMBERS.exec(footer)?.groups;
  if (!found) return 'has no number';
  // an agent counts its answer as used at once, or when it is sent back
  const uses = [input, input + output];
  if (!uses.some((used) => tokensText(used) === found['used'])) return `says ${found['used']} used`;
  if (tokensText(windowTokens) !== found['window']) return `says a window of ${found['window']}`;
  const percents = uses.map((used) => {
    const share = Math.max(0, used - freeTokens) / (windowTokens - freeTokens);
    return share * 100;
  });
  const isNear = percents.some((percent) => Math.abs(percent - shownPercent(found['percent'])) <= 1);
  return isNear ? undefined : `says ${found['percent']}%, not ${percentText(percents[0] ?? 0)}`;
};

const shownPercent = (text = ''): number => (text.startsWith('<') ? 0 : Number(text.replace('>', '')));

/** `40% 80k/200k`, as the footer has it; '' where it has none. */
export const numbersIn = (footer: string): string => NUMBERS.exec(footer)?.[0].replace(/\s+/g, ' ') ?? '';
