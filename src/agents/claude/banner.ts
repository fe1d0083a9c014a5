import type { ScreenView, Millis, WindowClaim } from '../../core/reading.js';
import type { ScreenEvidence, Env } from '../agent.js';
import { rowText, ownRowAbove, rowsBelow, type Layout, CORNER, POINTER } from './layout.js';
import { windowOfModelName } from './window.js';

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

/** The model as shown, `Opus 4.8 (1M context)`; undefined without a banner on the screen. */
export const readBannerModel = (screen: ScreenView): string | undefined => {
  for (let row = 0; row < screen.rows; row += 1) {
    const text = rowText(screen, row);
    const model = row > 0 ? besideLogo(rowText(screen, row - 1), text) : undefined;
    if (model !== undefined) return model;
    if (OLD_TITLE_ROW.test(text)) return oldBannerModel(screen, row);
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
}

const CHANGE_COMMAND = new RegExp(String.raw`^${POINTER} /model(?: |$)`);
const CHANGE_ANSWER = new RegExp(String.raw`^ {2}${CORNER} {1,2}Set model to (\S.*)$`);
const CHANGE_DIALOG = /^ {1,3}(?:Select model|Switch model\?)$/;

const CHANGE_MS = 30_000; // from the last time the command or its dialog was seen to its answer

/** The model after this screen. */
export const updateNamedModel = (
  named: NamedModel,
  { screen }: ScreenEvidence,
  layout: Layout,
  now: Millis,
): NamedModel => {
  const banner = readBannerModel(screen);
  const told: NamedModel =
    banner === undefined || banner === named.banner ? named : { ...named, banner, model: banner };
  if (isChanging(screen, layout)) return { ...told, changeUntil: now + CHANGE_MS };
  const answer = lastChange(screen, layout);
  if (!answer || answer.text === told.change) return told;
  const { changeUntil, ...rest } = told;
  const isNew = changeUntil !== undefined && now <= changeUntil;
  return { ...rest, change: answer.text, ...(isNew ? { model: answer.model } : {}) };
};

/** The window of the model, while its name is on the screen: a compaction paints an old banner again, even under a newer change. */
export const windowClaimOf = (
  named: NamedModel,
  { screen }: ScreenEvidence,
  layout: Layout,
  env: Env,
): WindowClaim | undefined => {
  const { model } = named;
  if (model === undefined) return undefined;
  const isShown = readBannerModel(screen) === model || lastChange(screen, layout)?.model === model;
  return isShown ? windowOfModelName(model, env) : undefined;
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
  if (!CHANGE_COMMAND.test(command) || answer === undefined) return undefined;
  return { text: `${command} ${answer}`, model: modelIn(answer) };
};

// `Opus 4.8 (1M context) (default) and saved as…`, or in old versions `haiku (claude-haiku-4-5-20251001)`.
const modelIn = (answer: string): string => {
  const id = /\((claude-[^)]+)\)/.exec(answer)?.[1];
  return id ?? answer.replace(/ (?:\(default\)|and saved as|for this session|·).*$/, '');
};
