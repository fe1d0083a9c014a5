import { autoTheme, type ColorName, type ThemeChoice } from './config/theme.js';
import { present } from './present.js';

/** A colour as `#rrggbb`, and the nearest one of the 256 where it was chosen by hand. */
export interface Color {
  readonly rgb: string;
  readonly ansi256?: number;
}

/** What the terminal can show, as plain values. */
export interface Look {
  /** width of the row in columns */
  readonly columns: number;
  /** 0 none (no SGR at all), 1 the 16 colours of the theme, 2 the 256-colour palette, 3 RGB */
  readonly colorLevel: ColorLevel;
  /** bold, dim and reverse video may be used; when absent, wherever there are colours */
  readonly hasStyles?: boolean;
  /** the colours are chosen for it; when undefined, colours that work on both */
  readonly background?: Background | undefined;
  /** a palette of another name than the background's */
  readonly palette?: 'contrast' | undefined;
  /** the user's own colours, as `#rrggbb` */
  readonly ownColors?: { readonly [N in ColorName]?: Color } | undefined;
  /** the user's own cells of the bar: a filled one and an empty one */
  readonly bar?: readonly [string, string] | undefined;
  /** only 0x20–0x7e may be drawn */
  readonly ascii: boolean;
}

export type ColorLevel = 0 | 1 | 2 | 3;

export type Background = 'light' | 'dark';

export type Env = Readonly<Record<string, string | undefined>>;

/** The terminal that is drawn on. */
export interface LookAt {
  readonly env: Env;
  readonly isTTY: boolean;
  readonly columns: number;
  /** by the user's choice */
  readonly theme?: ThemeChoice | undefined;
  /** as the terminal has answered */
  readonly background?: Background | undefined;
}

/** Reads the look from the environment, the terminal and the user's choice. */
export const readLook = ({ env, isTTY, columns, theme = autoTheme, background }: LookAt): Look => {
  const { preset, colors, bar } = theme;
  const isChosen = preset === 'light' || preset === 'dark';
  return {
    columns,
    colorLevel: preset === 'mono' ? 0 : colorLevelOf(env, isTTY),
    hasStyles: isTTY && !isWithoutStyles(env['TERM'] ?? ''),
    background: isChosen ? preset : (background ?? backgroundOf(env)),
    ...(preset === 'contrast' ? { palette: preset } : {}),
    ...(colors ? { ownColors: ownColors(colors) } : {}),
    ...present({ bar }),
    ascii: isAscii(env),
  };
};

const ownColors = (colors: NonNullable<ThemeChoice['colors']>): NonNullable<Look['ownColors']> =>
  Object.fromEntries(Object.entries(colors).map(([name, rgb]) => [name, { rgb }]));

const isWithoutStyles = (term: string): boolean => term === '' || term === 'dumb';

/** The background by the terminal's answer to OSC 11, as `rgb:ffff/ffff/ffff` (XParseColor); undefined for anything else. */
export const backgroundFrom = (answer: string): Background | undefined => {
  const found = /^rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(answer);
  if (!found) return undefined;
  const [red = 0, green = 0, blue = 0] = found
    .slice(1)
    .map((digits) => Number.parseInt(digits, 16) / (16 ** digits.length - 1));
  return 0.2126 * red ** GAMMA + 0.7152 * green ** GAMMA + 0.0722 * blue ** GAMMA > MIDDLE ? 'light' : 'dark';
};

const GAMMA = 2.2;
const MIDDLE = 0.18; // the luminance from which black text has more contrast than white (WCAG 2)

/**
 * rxvt, Konsole and iTerm2 give the palette numbers of text and background (`15;0`, `0;default;15`). A multiplexer keeps the variable of
 * the terminal it was started in.
 */
const backgroundOf = (env: Env): Background | undefined => {
  const number = /;(\d{1,2})$/.exec(env['COLORFGBG'] ?? '')?.[1];
  if (number === undefined || env['TMUX'] || env['STY'] || Number(number) > 15) return undefined;
  return number === '7' || Number(number) > 8 ? 'light' : 'dark';
};

const colorLevelOf = (env: Env, isTTY: boolean): ColorLevel => {
  // no-color.org: present and not empty; it wins over FORCE_COLOR because only people set it
  if (env['NO_COLOR']) return 0;
  const forced = forcedLevel(env['FORCE_COLOR']);
  if (forced !== undefined) return forced;
  return isTTY ? terminalLevel(env['TERM'] ?? '', env['COLORTERM'] ?? '') : 0;
};

/** The values that chalk understands, so that the variable means the same everywhere. */
const forcedLevel = (value: string | undefined): ColorLevel | undefined => {
  switch (value) {
    case undefined:
      return undefined;
    case '0':
    case 'false':
      return 0;
    case '2':
      return 2;
    case '3':
      return 3;
    default:
      return 1;
  }
};

const trueColorTerms = /^(xterm-kitty|xterm-ghostty|wezterm|alacritty|foot|contour)|-direct$/;

const terminalLevel = (term: string, colorTerm: string): ColorLevel => {
  if (term === '' || term === 'dumb' || /-m(ono)?$/.test(term)) return 0;
  const palette = /-256(color)?$/.test(term) ? 2 : 1;
  // GNU screen inherits COLORTERM from the terminal around it but misreads RGB colours
  if (term.startsWith('screen')) return palette;
  if (/^(truecolor|24bit)$/.test(colorTerm) || trueColorTerms.test(term)) return 3;
  return palette;
};

/**
 * A locale with another charset means ASCII. No locale at all means nothing (containers have none), and the agents then draw Unicode too.
 * The Linux console has UTF-8 but a font of 512 glyphs.
 */
const isAscii = (env: Env): boolean => {
  if (env['TERM'] === 'linux') return true;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  return locale !== undefined && locale !== '' && !/utf-?8/i.test(locale);
};
