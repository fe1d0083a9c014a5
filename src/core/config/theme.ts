import { isRecord } from '../json.js';
import type { ValueType } from './value-types.js';
import { present } from '../present.js';

// The user's choice of colours: the name of a preset, or an object that changes one.

/** `auto` follows the terminal's background. */
export const themeNames = ['auto', 'light', 'dark', 'contrast', 'mono'] as const;

export type ThemeName = (typeof themeNames)[number];

/** What a palette has a colour for. `hard` is also that of failures, `safe` that of successes. */
export const colorNames = ['accent', 'safe', 'warn', 'auto', 'hard'] as const;

export type ColorName = (typeof colorNames)[number];

export interface ThemeChoice {
  readonly preset: ThemeName;
  /** `#rrggbb` by name; the others are the preset's */
  readonly colors?: { readonly [N in ColorName]?: string } | undefined;
  /** a filled and an empty cell of the bar, each one column wide */
  readonly bar?: readonly [string, string] | undefined;
}

export const autoTheme: ThemeChoice = { preset: 'auto' };

const COLOR = /^#[\da-f]{6}$/i;

/** Letters, marks and wide characters would not stay in their cell, and control characters could do anything. */
const CELL = /^[\x21-\x7e\p{S}\p{Po}]$/u;
const WIDE = /\p{Emoji_Presentation}|[\u3000-\u303f\uff00-\uffef]/u;

const presetOf = (written: unknown): ThemeName | undefined => themeNames.find((name) => name === written);

const barOf = (written: unknown): readonly [string, string] | undefined => {
  const [full, empty, ...rest] = typeof written === 'string' ? Array.from(written) : [];
  if (full === undefined || empty === undefined || rest.length > 0) return undefined;
  return [full, empty].every((cell) => CELL.test(cell) && !WIDE.test(cell)) ? [full, empty] : undefined;
};

const readTheme = (written: unknown): ThemeChoice | undefined => {
  if (!isRecord(written)) {
    const preset = presetOf(written);
    return preset && { preset };
  }
  const { preset: name = 'auto', bar: cells, ...colors } = written;
  const preset = presetOf(name);
  const bar = cells === undefined ? undefined : barOf(cells);
  const areColors = Object.entries(colors).every(
    ([key, value]) =>
      colorNames.some((each) => each === key) && typeof value === 'string' && COLOR.test(value),
  );
  if (!preset || !areColors || (cells !== undefined && !bar)) return undefined;
  const hasColors = Object.keys(colors).length > 0;
  return { preset, ...(hasColors ? { colors } : {}), ...present({ bar }) };
};

const colorSchema = { type: 'string', pattern: '^#[0-9A-Fa-f]{6}$' };

export const theme: ValueType<ThemeChoice> = {
  kind: 'theme',
  rule: (written) =>
    isRecord(written)
      ? `an object with a preset (${themeNames.join(', ')}), colours as "#rrggbb" (${colorNames.join(', ')}) and a bar of two cells ("▰▱")`
      : `one of ${themeNames.join(', ')}`,
  read: readTheme,
  write: ({ preset, colors, bar }) =>
    colors || bar ? { preset, ...colors, ...(bar ? { bar: bar.join('') } : {}) } : preset,
  fromText: (text) => presetOf(text.toLowerCase()) ?? text,
  choices: themeNames,
  schema: {
    anyOf: [
      { enum: themeNames },
      {
        type: 'object',
        properties: {
          preset: { enum: themeNames },
          ...Object.fromEntries(colorNames.map((name) => [name, colorSchema])),
          bar: { type: 'string', minLength: 2, maxLength: 2 },
        },
        additionalProperties: false,
      },
    ],
  },
};
