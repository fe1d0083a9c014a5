// What the values of options mean. A wrong one is an error that says what would be right.
import { boundIn, LEAST_TOKENS, MOST_TOKENS, tokensIn } from '../core/amount.js';
import { keyNames, keyOf } from '../core/config/keys.js';
import { focusText, LONGEST_FOCUS } from '../core/compaction/focus.js';
import type { Preset } from '../core/ladder.js';
import type { Bound } from '../core/rung.js';
import { runtimes } from '../runtimes/index.js';
import type { StatusLineWish } from '../runtimes/official-source.js';
import type { Mode } from '../core/compaction/state.js';
import { badValue, longFocus, unknownChoice } from './messages.js';

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

/** A runtime by its name, of ours or of the user's configuration, or the file that defines one; neither is looked up here. */
export type RuntimeOption = { readonly name: string } | { readonly file: string };

export const parseRuntime = (text: string): RuntimeOption =>
  text.endsWith('.json') || text.includes('/') ? { file: text } : { name: text };

export const parseWindow = (text: string): number => {
  const tokens = tokensIn(text);
  if (tokens >= LEAST_TOKENS && tokens <= MOST_TOKENS) return tokens;
  const better = tokens > MOST_TOKENS ? '10M' : tokens < LEAST_TOKENS ? '1k' : '200k';
  throw badValue('--window', 'a number of tokens from 1k to 10M', text, better);
};

export const parseBound =
  (flag: string) =>
  (text: string): Bound => {
    const bound = boundIn(text);
    if (bound) return bound;
    const bare = tokensIn(text); // 80 for 80%
    const better = bare >= 1 && bare <= 100 ? `${bare}%` : '80%';
    throw badValue(flag, 'a percentage from 1% to 100% or a number of tokens from 1k to 10M', text, better);
  };

const presets: readonly Preset[] = ['ladder', 'percent', 'handoff'];

export const parsePreset = (text: string): Preset => {
  const preset = presets.find((each) => each === text);
  if (preset === undefined) throw unknownChoice('--ladder', text, presets);
  return preset;
};

/** The words that an option takes, by the option; for shells that complete them. */
export const optionChoices: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    keyNames.map(keyOf).flatMap(
      ({ flag, type }) => (flag !== undefined && 'choices' in type ? [[flag, type.choices] as const] : []), // the first of a list
    ),
  ),
  '--runtime': Object.keys(runtimes),
};

export const parseText =
  (flag: string, example: string) =>
  (text: string): string => {
    if (text.trim() === '') throw badValue(flag, 'a text', text, example);
    return text;
  };

export const parseFile =
  (flag: string, example: string) =>
  (text: string): string => {
    if (text === '') throw badValue(flag, 'the name of a file', text, example);
    return text;
  };

/** One of a few words. */
export const parseChoice =
  <T extends string>(flag: string, ...choices: readonly T[]) =>
  (text: string): T => {
    const choice = choices.find((each) => each === text);
    if (choice === undefined) throw unknownChoice(flag, text, choices);
    return choice;
  };

export const parseFocus = (text: string): string => {
  const focus = focusText(text);
  if (focus === undefined) throw badValue('--focus', 'a text', text, '"the failing tests"');
  const { length } = [...text.trim()];
  if (length > LONGEST_FOCUS) throw longFocus(length, LONGEST_FOCUS);
  return focus;
};
