import type { Fact } from '../../core/event.js';
import { parseDisplayedAmount, type DisplayedAmount } from '../../core/format.js';
import type { ScreenView, Activity, ActivityReport, Millis, Reading } from '../../core/reading.js';
import { makeScreenReader, type PromptContent, type AgentScreen, type ScreenEvidence } from '../agent.js';
import { parseShownContext, type ShownContext } from '../shown-text.js';
import { modelWindow } from './log.js';
import { matchInTime, matchRow, findPatterns, type TimeLimit } from './pattern.js';
import type { ActivityDefinition, Definition, ScreenNumber, ActivitySign } from './schema.js';

/** A part of the screen, by rows. */
export type Region =
  | { readonly kind: 'below-cursor' | 'above-cursor' | 'cursor-row' }
  | { readonly kind: 'last-rows' | 'first-rows'; readonly count: number };

export const regionForms =
  'below-cursor, above-cursor, cursor-row, last-rows:N or first-rows:N (N from 1 to 99)';

export const parseRegion = (text: string): Region | undefined => {
  switch (text) {
    case 'below-cursor':
    case 'above-cursor':
    case 'cursor-row':
      return { kind: text };
  }
  const found = /^(last|first)-rows:([1-9]\d?)$/.exec(text);
  return found
    ? { kind: found[1] === 'last' ? 'last-rows' : 'first-rows', count: Number(found[2]) }
    : undefined;
};

/** The non-blank rows of the region. `last` and `first` count all rows of the screen, including empty ones. */
const rowsIn = (screen: ScreenView, region: Region): readonly string[] => {
  const [from, to] = boundsOf(screen, region);
  const rows: string[] = [];
  for (let row = Math.max(0, from); row < Math.min(screen.rows, to); row += 1) rows.push(screen.text(row));
  return rows.filter((text) => text !== '');
};

/** The first row, and the one after the last. */
const boundsOf = ({ rows, cursorRow }: ScreenView, region: Region): readonly [number, number] => {
  switch (region.kind) {
    case 'below-cursor':
      return [cursorRow + 1, rows];
    case 'above-cursor':
      return [0, cursorRow];
    case 'cursor-row':
      return [cursorRow, cursorRow + 1];
    case 'last-rows':
      return [rows - region.count, rows];
    case 'first-rows':
      return [0, region.count];
  }
};

// A screen read by its definition: numbers in the named places, and an activity only where its signs agree.

export const makeScreen = (definition: Definition, limit: TimeLimit): AgentScreen => {
  const { activity = {}, screen = [], window, prompt } = definition;
  const patterns = findPatterns([activity, screen, prompt]);
  // all patterns of one reading share one limit
  const limited = <T>(seen: ScreenEvidence, work: () => T): T =>
    matchInTime(limit, { patterns, texts: () => textsOf(seen) }, work);
  return {
    recognises: (seen) => limited(seen, () => activityOf(activity, prompt, seen)).activity !== 'unknown',
    reader: () =>
      makeScreenReader({}, (state, seen, now) =>
        limited(seen, () => ({
          state,
          activity: activityOf(activity, prompt, seen),
          facts: readNumbers(screen, { window, screen: seen.screen, now }),
        })),
      ),
    ...(prompt ? { prompt: (seen) => limited(seen, () => promptLook(activity, prompt, seen)) } : {}),
  };
};

/** All texts that a pattern may be matched with. */
const textsOf = ({ screen, signals }: ScreenEvidence): readonly string[] => [
  signals.title ?? '',
  ...Array.from({ length: screen.rows }, (_, row) => screen.text(row)),
];

const promptLook = (
  { dialog = [] }: ActivityDefinition,
  prompt: RegExp,
  seen: ScreenEvidence,
): PromptContent | undefined => {
  if (dialog.some((sign) => witnessesOf(sign, seen).length > 0)) return undefined;
  const text = textIn(prompt, seen);
  return text === undefined ? undefined : { text };
};

/** The user's text in the row with the cursor. A pattern that matches without its group has found a placeholder. */
const textIn = (prompt: RegExp, { screen }: ScreenEvidence): string | undefined => {
  const found = matchRow(prompt, screen.text(screen.cursorRow));
  return found ? (found[1] ?? '').trimEnd() : undefined;
};

interface Look {
  readonly window: Definition['window'];
  readonly screen: ScreenView;
  readonly now: Millis;
}

const readNumbers = (numbers: readonly ScreenNumber[], { window, screen, now }: Look): readonly Fact[] => {
  const percent = firstOf('percent', numbers, screen);
  const tokens = firstOf('tokens', numbers, screen);
  const { windowTokens, windowSource } = modelWindow(window, undefined);
  const usedPercent = percent && usedOf(percent, 100);
  const usedTokens = tokens && usedOf(tokens, windowTokens);
  const isRounded = tokens !== undefined && tokens.step > 1;
  if (usedPercent === undefined && usedTokens === undefined) return [];
  const reading: Reading = {
    ...(usedPercent === undefined ? {} : { usedPercent, basis: percent?.of.basis ?? 'window' }),
    ...(usedTokens === undefined
      ? {}
      : { usedTokens, ...(isRounded ? { roundingTokens: tokens.step / 2 } : {}) }),
    ...(windowTokens === undefined ? {} : { windowTokens, windowSource: windowSource ?? 'table' }),
    source: 'screen',
    at: now,
  };
  return [{ type: 'reading', reading }];
};

interface Shown extends DisplayedAmount {
  readonly polarity: 'used' | 'left';
  readonly of: ScreenNumber;
}

/** The number of the first rule that matches; rows with different numbers give none. */
const firstOf = (
  unit: ShownContext['unit'],
  numbers: readonly ScreenNumber[],
  screen: ScreenView,
): Shown | undefined => {
  for (const of of numbers) {
    const [first, ...others] = rowsIn(screen, of.region).flatMap((row) => numberIn(of, unit, row) ?? []);
    const isOne = others.every(
      ({ value, polarity }) => value === first?.value && polarity === first.polarity,
    );
    if (first) return isOne ? first : undefined;
  }
  return undefined;
};

const numberIn = (of: ScreenNumber, unit: ShownContext['unit'], row: string): Shown | undefined => {
  const { pattern, polarity = 'used' } = of;
  if (pattern) {
    const amount = of.unit === unit ? parseDisplayedAmount(matchRow(pattern, row)?.[1]) : undefined;
    return amount && { ...amount, polarity, of };
  }
  const worded = parseShownContext(row);
  return worded?.unit === unit ? { polarity, ...worded, of } : undefined;
};

const usedOf = ({ value, polarity }: Shown, whole: number | undefined): number | undefined => {
  if (whole !== undefined && value > whole) return undefined;
  if (polarity === 'used') return value;
  return whole === undefined ? undefined : whole - value;
};

/** One activity, if all signs agree. */
const activityOf = (
  { ready, busy = [], dialog = [], compacting = [] }: ActivityDefinition,
  prompt: RegExp | undefined,
  seen: ScreenEvidence,
): ActivityReport => {
  const text = prompt && textIn(prompt, seen);
  const compacts = compacting.flatMap((sign) => witnessesOf(sign, seen));
  const isDraft = text !== undefined && text !== '';
  const found: readonly (readonly [Activity, readonly string[]])[] = [
    ['dialog', dialog.flatMap((sign) => witnessesOf(sign, seen))],
    ['compacting', compacts],
    ['busy', compacts.length > 0 ? [] : busy.flatMap((sign) => witnessesOf(sign, seen))],
    isDraft
      ? ['draft', ready ? draftWitnesses(ready, seen) : []]
      : ['ready', ready && (!prompt || text === '') ? readyWitnesses(ready, seen) : []],
  ];
  const speaking = found.filter(([, witnesses]) => witnesses.length > 0);
  const [first, second] = speaking;
  if (first && !second) return { activity: first[0], witnesses: first[1] };
  return {
    activity: 'unknown',
    witnesses: speaking.flatMap(([activity, all]) => all.map((each) => `${activity}: ${each}`)),
  };
};

// Evidence goes into the log: it names the pattern that matched, not the text, which may be part of the conversation.
const witnessesOf = ({ title, region, pattern }: ActivitySign, seen: ScreenEvidence): readonly string[] => {
  const byTitle = titleWitness(title, seen);
  const rows = region && rowsIn(seen.screen, region);
  const isShown = pattern && rows?.some((row) => matchRow(pattern, row));
  if ((title && byTitle === undefined) || isShown === false) return [];
  return [...(byTitle ?? []), ...(pattern ? [`row ${String(pattern)}`] : [])];
};

const readyWitnesses = (
  { title, cursorRow, absent = [] }: NonNullable<ActivityDefinition['ready']>,
  seen: ScreenEvidence,
): readonly string[] => {
  const { screen } = seen;
  const byTitle = titleWitness(title, seen);
  const isAtPrompt = cursorRow && matchRow(cursorRow, screen.text(screen.cursorRow)) !== null;
  if ((title && byTitle === undefined) || (cursorRow && !isAtPrompt)) return [];
  if (isPresent(absent, seen)) return [];
  return [...(byTitle ?? []), ...(isAtPrompt ? ['prompt row'] : [])];
};

// With text in it the row does not look like an empty prompt.
const draftWitnesses = (
  { title, absent = [] }: NonNullable<ActivityDefinition['ready']>,
  seen: ScreenEvidence,
): readonly string[] => {
  if ((title && titleWitness(title, seen) === undefined) || isPresent(absent, seen)) return [];
  return [...(titleWitness(title, seen) ?? []), 'text in the prompt'];
};

const isPresent = (absent: readonly RegExp[], { screen }: ScreenEvidence): boolean => {
  const rows = rowsIn(screen, { kind: 'first-rows', count: screen.rows });
  return absent.some((pattern) => rows.some((row) => matchRow(pattern, row)));
};

const titleWitness = (
  title: RegExp | undefined,
  { signals }: ScreenEvidence,
): readonly string[] | undefined =>
  title && signals.title !== undefined && matchRow(title, signals.title)
    ? [`title ${String(title)}`]
    : undefined;
