// The footer in its states, in the colours of each theme.
import { themeNames, type ThemeName } from '../../src/core/config/theme.js';
import type { FooterView } from '../../src/core/footer-view.js';
import { drawnFooter } from '../support/drawn-footer.js';
import { readLook } from '../../src/core/look.js';
import { makeEmulator } from '../support/emulator.js';
import { pieceRows } from './cells.js';
import type { Picture } from './svg.js';

const COLUMNS = 88;

const at = (usedTokens: number, tier: FooterView['tier'], more: Partial<FooterView> = {}): FooterView => ({
  runtime: 'demo',
  usedTokens,
  windowTokens: 200_000,
  usedPercent: usedTokens / 2_000,
  wayPercent: Math.min(100, usedTokens / 1_670), // auto is at 167 000
  ...(tier === undefined ? {} : { tier }),
  estimated: false,
  windowInferred: false,
  compactions: 0,
  ...more,
});

const states: readonly FooterView[] = [
  at(124_000, 'safe', { hint: 'Ctrl-] overview' }),
  at(151_200, 'warn', { hint: 'Ctrl-] overview' }),
  at(169_300, 'auto', { words: 'compacting in 8 s · Esc: not now', due: 'countdown' }),
  at(178_100, 'hard', { words: 'waiting: unsent text in the prompt', due: 'soon' }),
  at(178_100, 'hard', {
    words: '✗ compaction failed after 3.7 s: the model is overloaded',
    tone: 'failure',
  }),
  at(13_961, 'safe', {
    words: '✓ compacted 178k → 14k',
    tone: 'success',
    estimated: true,
    compactions: 1,
  }),
];

/** What each theme is meant for; one that follows the terminal's background looks like one of the others. */
const backgrounds: Readonly<Record<Exclude<ThemeName, 'auto'>, Picture['background']>> = {
  light: 'light',
  dark: 'dark',
  contrast: 'black',
  mono: undefined,
};

export const themePictures = themeNames.filter((name) => name !== 'auto');

export const pictureOfTheme = async (preset: (typeof themePictures)[number]): Promise<Picture> => {
  const { terminal, write } = makeEmulator(COLUMNS, states.length);
  const env = { TERM: 'xterm-256color', COLORTERM: 'truecolor', LANG: 'C.UTF-8' };
  const look = readLook({ env, isTTY: true, columns: COLUMNS, theme: { preset } });
  await write(states.map((view) => drawnFooter(view, look)).join('\r\n'));
  const background = backgrounds[preset];
  return {
    title: `The theme ${preset}: safe, warn, a countdown at auto, waiting at hard, a failure, and a success`,
    columns: COLUMNS,
    rows: pieceRows(terminal),
    ...(background === undefined ? {} : { background }),
  };
};
