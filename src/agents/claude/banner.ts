import { present } from '../../core/present.js';
import type { ScreenView, Millis, WindowClaim } from '../../core/reading.js';
import type { ScreenEvidence, Env } from '../agent.js';
import { rowText, ownRowAbove, rowsBelow, type Layout, CORNER, POINTER } from './layout.js';
import { chosenName, windowOfModelName } from './window.js';

// The model named in the start banner: beside the logo, or in a box in old versions. The logo changes (2.1.237 drew another, 2.1.330 moves
// it), so only its shape counts: rows of block elements from the first columns on, with text behind them that begins in the same column. No
// message begins there.

const PICTURE = /^ ?[\u2580-\u259f][\u2580-\u259f ]*(?= {2}\S)/;
const SMALLEST_PICTURE = 4; // columns; a single block before a text marks an announcement
const MODEL_AND_PLAN = /^(\S.*?)(?: with \w+ effort)? · \S/;
// A narrow banner (2.1.331 at 40 columns) has the title above the logo, and the plan below the model.
const MODEL_ALONE = /^([A-Z][a-z]+ \d+(?:\.\d+)?(?: \(1M context\))?)(?: with \w+ effort)?$/;

const OLD_TITLE_ROW = /^[╭┌┏╔][─━═]+ Claude Code v\d/;
const OLD_MODEL_ROW = /^[│┃║] {2,}(\S[^│┃║]*?) · \S[^│┃║]*[│┃║]/;
const OLD_BANNER_ROWS = 12;

interface Banner {
  /** as shown, `Opus 4.8 (1M context)` */
  readonly model: string;
  readonly version?: string;
}

const VERSION = /Claude Code v(\d+\.\d+\.\d+)\b/;
const TITLE_ABOVE = 3; // rows from the model up to the title, at most

/** Undefined without a banner on the screen. */
export const readBanner = (screen: ScreenView): Banner | undefined => {
  for (let row = 0; row < screen.rows; row += 1) {
    const text = rowText(screen, row);
    const model = row > 0 ? besideLogo(rowText(screen, row - 1), text) : undefined;
    if (model !== undefined) return { model, ...present({ version: versionAbove(screen, row) }) };
    if (!OLD_TITLE_ROW.test(text)) continue;
    const old = oldBannerModel(screen, row);
    return old === undefined ? undefined : { model: old };
  }
  return undefined;
};

const versionAbove = (screen: ScreenView, row: number): string | undefined => {
  for (let above = row - 1; above >= Math.max(0, row - TITLE_ABOVE); above -= 1) {
    const version = VERSION.exec(rowText(screen, above))?.[1];
    if (version !== undefined) return version;
  }
  return undefined;
};

/** A row under another row of the logo. One of the two must begin in the first column. */
const besideLogo = (above: string, text: string): string | undefined => {
  const [upper, lower] = [PICTURE.exec(above)?.[0], PICTURE.exec(text)?.[0]];
  if (upper === undefined || lower === undefined || upper.length !== lower.length) return undefined;
  if (lower.length < SMALLEST_PICTURE || (upper.startsWith(' ') && lower.startsWith(' '))) return undefined;
  const [first = '', second = ''] = [above, text].map((row) => row.slice(lower.length).trim());
  return MODEL_AND_PLAN.exec(second)?.[1] ?? MODEL_ALONE.exec(first)?.[1];
};

const oldBannerModel = (screen: ScreenView, title: number): string | undefined => {
  for (let row = title + 1; row < title + OLD_BANNER_ROWS; row += 1) {
    const model = OLD_MODEL_ROW.exec(rowText(screen, row))?.[1];
    if (model !== undefined) return model;
  }
  return undefined;
};

// Which model Claude Code shows on its screen: in the start banner, and after `/model`.

/** The model that was shown last. */
export interface NamedModel {
  readonly banner?: string;
  /** the last `/model` command above the prompt with its answer */
  readonly change?: string;
  /** a new change is believed until then, because the user was seen making it; a resumed conversation shows old changes, too */
  readonly changeUntil?: Millis;
  /** as shown */
  readonly model?: string;
  /** how often the user was seen choosing another one */
  readonly choices: number;
  readonly version?: string;
}

const CHANGE_COMMAND = new RegExp(String.raw`^${POINTER} /model(?: |$)`);
const CHANGE_ANSWER = new RegExp(String.raw`^ {2}${CORNER} {1,2}(\S.*)$`);
const CHANGE_DIALOG = /^ {1,3}(?:Select model|Switch model\?)$/;

const CHANGE_MS = 30_000; // from the last time the command or its dialog was seen to its answer

/** The model after this screen. */
export const updateNamedModel = (
  named: NamedModel,
  { screen }: ScreenEvidence,
  layout: Layout,
  now: Millis,
): NamedModel => {
  const known = withBanner(named, readBanner(screen));
  if (isChanging(screen, layout)) return { ...known, changeUntil: now + CHANGE_MS };
  const answer = lastChange(screen, layout);
  if (!answer || answer.text === known.change) return known;
  const { changeUntil, choices, ...rest } = known;
  const isNew = changeUntil !== undefined && now <= changeUntil;
  return isNew
    ? { ...rest, change: answer.text, model: answer.model, choices: choices + 1 }
    : { ...rest, change: answer.text, choices };
};

const withBanner = (named: NamedModel, banner: Banner | undefined): NamedModel => {
  if (banner === undefined) return named;
  const { model, version = named.version } = banner;
  const known = { ...named, ...present({ version }) };
  return model === named.banner ? known : { ...known, banner: model, model };
};

/** The window of the model, while its name is on the screen: a compaction paints an old banner again, even under a newer change. */
export const windowClaimOf = (
  named: NamedModel,
  { screen }: ScreenEvidence,
  layout: Layout,
  env: Env,
): WindowClaim | undefined => {
  const { model, version } = named;
  if (model === undefined) return undefined;
  const isShown = readBanner(screen)?.model === model || lastChange(screen, layout)?.model === model;
  return isShown ? windowOfModelName(model, { env, version }) : undefined;
};

const isChanging = (screen: ScreenEvidence['screen'], layout: Layout): boolean => {
  if (layout.kind === 'prompt') return layout.draft.startsWith('/model');
  return layout.kind === 'panel' && CHANGE_DIALOG.test(rowsBelow(screen, layout.bar)[0] ?? '');
};

// Only the last thing before the prompt counts, and only directly under the user's own command, which begins in the first column.
const lastChange = (
  screen: ScreenEvidence['screen'],
  layout: Layout,
): { readonly text: string; readonly model: string } | undefined => {
  if (layout.kind !== 'prompt') return undefined;
  const row = ownRowAbove(screen, layout.upper);
  if (row === undefined) return undefined;
  const command = rowText(screen, row);
  const answer = CHANGE_ANSWER.exec(rowText(screen, row + 1))?.[1];
  const model = answer === undefined ? undefined : chosenName(answer);
  if (!CHANGE_COMMAND.test(command) || model === undefined) return undefined;
  return { text: `${command} ${answer}`, model };
};
