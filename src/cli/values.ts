// What the values of options mean. A wrong one is an error that says what would be right.
import { runtimes } from '../runtimes/index.js';
import type { StatusLineWish } from '../runtimes/official-source.js';
import type { Mode } from '../wrap/wrap-session.js';
import { badValue, unknownChoice } from './messages.js';

const modes: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];

export const parseMode = (text: string): Mode => {
  const mode = modes.find((each) => each === text);
  if (mode === undefined) throw unknownChoice('--mode', text, modes);
  return mode;
};

const statusLineWishes: readonly StatusLineWish[] = ['auto', 'on', 'off'];

export const parseStatusLine = (text: string): StatusLineWish => {
  const wish = statusLineWishes.find((each) => each === text);
  if (wish === undefined) throw unknownChoice('--claude-status-line', text, statusLineWishes);
  return wish;
};

export type RuntimeName = keyof typeof runtimes;

export const parseRuntime = (text: string): RuntimeName => {
  const names = Object.keys(runtimes) as readonly RuntimeName[];
  const name = names.find((each) => each === text);
  if (name === undefined) throw unknownChoice('--runtime', text, names);
  return name;
};

// No agent has a smaller or a larger window; beyond them it is a slip of the finger.
const minWindow = 1_000;
const maxWindow = 10_000_000;
const factors: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };

/** Tokens as people write them: 200000, 200_000, 200k, 1.5M. */
export const parseWindow = (text: string): number => {
  const found = /^(\d+(?:_\d+)*(?:\.\d+)?)([km]?)$/i.exec(text);
  const number = Number(found?.[1]?.replaceAll('_', ''));
  const tokens = Math.round(number * (factors[found?.[2]?.toLowerCase() ?? ''] ?? Number.NaN));
  if (tokens >= minWindow && tokens <= maxWindow) return tokens;
  const better = tokens > maxWindow ? '10M' : tokens < minWindow ? '1k' : '200k';
  throw badValue('--window', 'a number of tokens from 1k to 10M', text, better);
};

export const parseFile =
  (flag: string, example: string) =>
  (text: string): string => {
    if (text === '') throw badValue(flag, 'the name of a file', text, example);
    return text;
  };
