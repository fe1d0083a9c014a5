// A recording as another version of its agent might have drawn it: the same screens with other symbols, colours or words.
import type { CellStyle, ScreenView, Signals } from '../../src/core/reading.js';
import type { Agent } from '../../src/agents/agent.js';
import type { ScreenEvidence } from '../../src/agents/agent.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import { settledScreens } from '../../src/replay/sources.js';
import { castPath, type PlayedScreen } from './screen-play.js';

/** One screen, copied so that it stays when the recording continues. */
export interface KeptScreen {
  /** milliseconds since the start of the recording */
  readonly at: number;
  readonly seen: ScreenEvidence;
}

/** A change of the drawing. Everything keeps its width: a symbol is one cell, a word has the length of the original. */
export interface Mutation {
  /** the row as text, and which row it is; the result has the same length */
  readonly row?: (text: string, screen: ScreenView) => string;
  readonly title?: (title: string) => string;
  readonly style?: (style: CellStyle) => CellStyle;
}

/** A class of symbols at the places where the agent draws them. */
export interface SignClass {
  readonly name: string;
  /** the characters to replace, each by the one at the same place in `to`, which is repeated when it is shorter */
  readonly from: string;
  /** where: each match is replaced, the rest of the row stays */
  readonly at: RegExp;
  readonly inTitle?: true;
}

/** Replaces the symbols of a class. */
export const otherSigns = ({ from, at, inTitle }: SignClass, to: string): Mutation => {
  const [old, others] = [Array.from(from), Array.from(to)];
  const other = (sign: string): string => {
    const index = old.indexOf(sign);
    return index === -1 ? sign : (others[index % others.length] ?? sign);
  };
  const exchange = (text: string): string => text.replace(at, (found) => Array.from(found, other).join(''));
  return inTitle ? { title: exchange } : { row: exchange };
};

/** Replaces words; shorter ones are padded at their end. */
export const otherWords = (words: Readonly<Record<string, string>>): Mutation => ({
  row: (text) =>
    Object.entries(words).reduce(
      (row, [old, other]) => row.replaceAll(old, other.slice(0, old.length).padEnd(old.length)),
      text,
    ),
});

/** Replaces every letter; symbols and digits stay. */
export const otherLetters = (by: number): Mutation => ({
  row: (text) =>
    text.replaceAll(/[a-z]/gi, (letter) => {
      const first = letter < 'a' ? 65 : 97;
      return String.fromCharCode(first + ((letter.charCodeAt(0) - first + by) % 26));
    }),
});

/** Replaces every colour; text without a colour stays so. */
export const otherColours = (by: number): Mutation => ({
  style: (style) =>
    style.foreground === undefined ? style : { ...style, foreground: (style.foreground ^ by) & 0x1_ff_ff_ff },
});

/** Removes all colours, as NO_COLOR does. */
export const noColours: Mutation = {
  style: ({ bold, dim, inverse }) => ({ bold, dim, inverse }),
};

/** The screens of a recording at the times when the wrapper reads them. */
export const keptScreens = async (cast: string): Promise<readonly KeptScreen[]> => {
  const { header, events } = await openRecordingFile(castPath(cast));
  const kept: KeptScreen[] = [];
  for await (const moment of settledScreens(header, events()))
    if (moment.type === 'screen') kept.push({ at: moment.at, seen: keep(moment.seen) });
  return kept;
};

const keep = ({ screen, signals, ...rest }: ScreenEvidence): ScreenEvidence => {
  const { columns, rows, cursorRow, cursorColumn, alternate } = screen;
  const texts = Array.from({ length: rows }, (_, row) => screen.text(row));
  const styles = texts.map((_, row) =>
    Array.from({ length: columns }, (__, column) => screen.styleAt(row, column)),
  );
  const kept: ScreenView = {
    columns,
    rows,
    cursorRow,
    cursorColumn,
    alternate,
    text: (row) => texts[row] ?? '',
    styleAt: (row, column) => styles[row]?.[column],
  };
  return { ...rest, screen: kept, signals: { ...signals } };
};

const mutated = (
  { screen, signals, ...rest }: ScreenEvidence,
  { row, title, style }: Mutation,
): ScreenEvidence => {
  const named = signals.title !== undefined && title ? { title: title(signals.title) } : {};
  const said: Signals = { ...signals, ...named };
  const texts: string[] = []; // readers ask for a row many times
  return {
    ...rest,
    signals: said,
    screen: {
      ...screen,
      text: (index) => (texts[index] ??= row?.(screen.text(index), screen) ?? screen.text(index)),
      styleAt: (at, column) => {
        const own = screen.styleAt(at, column);
        return own && style ? style(own) : own;
      },
    },
  };
};

/** Everything that an agent's reader reads from the changed screens. */
export const playMutated = (
  screens: readonly KeptScreen[],
  agent: Agent,
  mutation: Mutation = {},
): readonly PlayedScreen[] => {
  let read = agent.screen?.reader({});
  return screens.map(({ at, seen }) => {
    const other = mutated(seen, mutation);
    const step = read?.(other, at);
    read = step?.next;
    return {
      at: at / 1000,
      activity: step?.activity ?? { activity: 'unknown', witnesses: [] },
      facts: step?.facts ?? [],
      prompt: agent.screen?.prompt?.(other),
      rows: Array.from({ length: other.screen.rows }, (_, row) => other.screen.text(row)),
    };
  });
};

/**
 * Results that a mutation must never lead to, with their times. `real` is the result of the unchanged recording, which the truth files
 * prove.
 */
export const wrongResults = (
  real: readonly PlayedScreen[],
  other: readonly PlayedScreen[],
): readonly string[] =>
  other.flatMap((screen, index) => {
    const before = real[index];
    const { at, activity } = screen;
    const isReady = activity.activity === 'ready' && before?.activity.activity !== 'ready';
    const known = new Set(numbersOf(before));
    const wrong = numbersOf(screen).filter((number) => !known.has(number));
    return [
      ...(isReady ? [`${at} s: ready, and not ${before?.activity.activity}`] : []),
      ...wrong.map((number) => `${at} s: ${number}`),
    ];
  });

/** The numbers on a screen: shares of the window, and windows. */
export const numbersOf = (screen: PlayedScreen | undefined): readonly string[] =>
  screen?.facts.flatMap((fact) => {
    if (fact.type === 'reading') return [`${fact.reading.basis} ${fact.reading.usedPercent}`];
    return fact.type === 'window' ? [`window ${fact.claim.windowTokens}`] : [];
  }) ?? [];
