// Colours of the overlay: one accent, dim for what is second, and the tier's own.
import { Chalk } from 'chalk';
import type { Tier } from '../../core/ladder.js';
import type { ColorLevel, Look } from '../look.js';
import { staleTheme, themeOf } from '../theme.js';

export type Tone =
  | 'plain'
  | 'strong'
  /** stays in the background */
  | 'quiet'
  /** titles and keys */
  | 'accent'
  /** the filled part of the bar */
  | 'bar'
  /** the tier in words, and what belongs to it */
  | 'tier'
  | 'percent';

type Paint = (text: string) => string;
export type Paints = Readonly<Record<Tone, Paint>>;

/** Mid-tones as those of the tiers: a contrast of at least 3.5 : 1 on white, black and #1e1e1e. */
export const overlayColors = {
  accent: { rgb: '#3b82c4', ansi256: 67 },
  safe: { rgb: '#3f8f52', ansi256: 65 },
} as const;

export const paintsOf = (
  tier: Tier | undefined,
  look: Pick<Look, 'colorLevel' | 'background'>,
  isStale: boolean,
): Paints => {
  const { colorLevel: level } = look;
  const chalk = new Chalk({ level });
  const theme = isStale ? staleTheme(level) : themeOf(tier, look);
  const isSafe = tier === 'safe' && !isStale;
  const safe = colored(level, 'safe');
  return {
    plain: (text) => text,
    strong: (text) => chalk.bold(text),
    quiet: (text) => chalk.dim(text),
    accent: colored(level, 'accent'),
    // the palette's green is too pale for words on white
    bar: isSafe ? (level === 1 ? (text) => chalk.green(text) : safe) : theme.bar,
    tier: isSafe && level > 1 ? safe : tier === 'safe' ? (text) => text : theme.tier,
    percent: isSafe && level > 1 ? safe : theme.percent,
  };
};

/** With 16 colours none can be relied on as text, so that weight stands in for the accent. */
const colored = (level: ColorLevel, name: keyof typeof overlayColors): Paint => {
  const chalk = new Chalk({ level });
  const { rgb, ansi256 } = overlayColors[name];
  if (level === 3) return (text) => chalk.hex(rgb)(text);
  if (level === 2) return (text) => chalk.ansi256(ansi256)(text);
  return (text) => chalk.bold(text);
};
