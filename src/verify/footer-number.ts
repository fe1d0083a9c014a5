// The number in the footer, held against what the model server has told.
import { percentText, tokensText } from '../core/figures.js';
import type { TriedAgent } from './agents/agent.js';

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
