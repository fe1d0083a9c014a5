// Where Claude names its model at the start: beside its logo, or in a box in old versions. The logo changes (2.1.237 drew another one,
// and 2.1.330 moves it), so only its shape counts: rows of block elements from the first columns on, with text behind them that begins
// in the same column. No message begins there.
import type { ScreenView } from '../../core/screen-view.js';
import { rowText } from './layout.js';

const PICTURE = /^ ?[\u2580-\u259f][\u2580-\u259f ]*(?= {2}\S)/;
const SMALLEST_PICTURE = 4; // columns: a single block before a text is a mark of an announcement
const MODEL_AND_PLAN = /^(\S.*?)(?: with \w+ effort)? · \S/;

const OLD_TITLE_ROW = /^[╭┌┏╔][─━═]+ Claude Code v\d/;
const OLD_MODEL_ROW = /^[│┃║] {2,}(\S[^│┃║]*?) · \S[^│┃║]*[│┃║]/;
const OLD_BANNER_ROWS = 12;

/** The model as it is named, `Opus 4.8 (1M context)`; undefined where no banner is on the screen. */
export const bannerModel = (screen: ScreenView): string | undefined => {
  for (let row = 0; row < screen.rows; row += 1) {
    const text = rowText(screen, row);
    const model = row > 0 ? besideLogo(rowText(screen, row - 1), text) : undefined;
    if (model !== undefined) return model;
    if (OLD_TITLE_ROW.test(text)) return oldBannerModel(screen, row);
  }
  return undefined;
};

/** Of a row under another row of the logo. One of the two must begin in the first column. */
const besideLogo = (above: string, text: string): string | undefined => {
  const [upper, lower] = [PICTURE.exec(above)?.[0], PICTURE.exec(text)?.[0]];
  if (upper === undefined || lower === undefined || upper.length !== lower.length) return undefined;
  if (lower.length < SMALLEST_PICTURE || (upper.startsWith(' ') && lower.startsWith(' '))) return undefined;
  return MODEL_AND_PLAN.exec(text.slice(lower.length).trimStart())?.[1];
};

const oldBannerModel = (screen: ScreenView, title: number): string | undefined => {
  for (let row = title + 1; row < title + OLD_BANNER_ROWS; row += 1) {
    const model = OLD_MODEL_ROW.exec(rowText(screen, row))?.[1];
    if (model !== undefined) return model;
  }
  return undefined;
};
