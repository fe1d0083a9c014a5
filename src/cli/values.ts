// What the values of options mean. A wrong one is an error that says what would be right.
import { focusText, LONGEST_FOCUS } from '../core/compaction/focus.js';
import { footerItems } from '../core/footer-items.js';
import type { Preset } from '../core/ladder.js';
import { notificationKinds } from '../core/notifications.js';
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

export type RuntimeName = keyof typeof runtimes;

/** A runtime by its name, or the file that defines one; it is not read here. */
export type RuntimeOption = RuntimeName | { readonly file: string };

export const parseRuntime = (text: string): RuntimeOption => {
  const names = Object.keys(runtimes) as readonly RuntimeName[];
  const name = names.find((each) => each === text);
  if (name === undefined && (text.endsWith('.json') || text.includes('/'))) return { file: text };
  if (name === undefined) throw unknownChoice('--runtime', text, [...names, 'FILE.json']);
  return name;
};

// No agent has a smaller or a larger window; beyond them it is a slip of the finger.
const minWindow = 1_000;
const maxWindow = 10_000_000;
const factors: Readonly<Record<string, number>> = { '': 1, k: 1_000, m: 1_000_000 };

export const parseWindow = (text: string): number => {
  const tokens = tokensIn(text);
  if (tokens >= minWindow && tokens <= maxWindow) return tokens;
  const better = tokens > maxWindow ? '10M' : tokens < minWindow ? '1k' : '200k';
  throw badValue('--window', 'a number of tokens from 1k to 10M', text, better);
};

/** A boundary between two tiers: `80%` of the window, or tokens as for the window. */
export const parseBound =
  (flag: string) =>
  (text: string): Bound => {
    const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
    const bound: Bound =
      percent === undefined
        ? { value: tokensIn(text), unit: 'tokens' }
        : { value: Number(percent), unit: 'percent' };
    const [least, most] = percent === undefined ? [minWindow, maxWindow] : [1, 100];
    if (bound.value >= least && bound.value <= most) return bound;
    const isBarePercent = percent === undefined && bound.value >= 1 && bound.value <= 100;
    const better = isBarePercent ? `${bound.value}%` : '80%';
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
  '--mode': modes,
  '--ladder': presets,
  '--runtime': Object.keys(runtimes),
  '--claude-status-line': statusLineWishes,
  '--draft': ['hold', 'stash'],
  '--when-busy': ['wait', 'queue'],
  '--theme': ['auto', 'light', 'dark', 'mono'],
  '--notify': notificationKinds, // the first of a list
  '--footer-items': footerItems,
};

/** Tokens as people write them: 200000, 200_000, 200k, 1.5M; NaN for anything else. */
const tokensIn = (text: string): number => {
  const found = /^(\d+(?:_\d+)*(?:\.\d+)?)([km]?)$/i.exec(text);
  const number = Number(found?.[1]?.replaceAll('_', ''));
  return Math.round(number * (factors[found?.[2]?.toLowerCase() ?? ''] ?? Number.NaN));
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
