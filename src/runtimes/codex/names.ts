// A thread may be named `Context 97% used`, by the user or by the model, and Codex shows its name among the items of the status line and
// of the title. What it is told to show is there from the first time on; a name comes later, or is in both places at once.
import type { ScreenView } from '../../core/screen-view.js';
import type { Place, ShownPlaces } from './shown-percent.js';

/** What is known of a place. */
interface Known {
  /** it had a percentage when it was seen first */
  readonly isConfigured: boolean;
  /** its percentages, until they change: a name stays */
  readonly still?: string;
}

export interface KnownPlaces {
  readonly line?: Known;
  readonly title?: Known;
}

const CONFIGURING = /^ {2}Configure (?:Status Line|Terminal Title)$/;

/** The user is choosing the items. */
export const isConfiguring = (screen: ScreenView): boolean => {
  for (let row = 0; row < screen.rows; row += 1) if (CONFIGURING.test(screen.text(row))) return true;
  return false;
};

export const knownAfter = (known: KnownPlaces, shown: ShownPlaces): KnownPlaces => {
  const line = knownOf(known.line, shown.line);
  const title = knownOf(known.title, shown.title);
  return { ...(line ? { line } : {}), ...(title ? { title } : {}) };
};

/** Without the places whose percentage may be a thread's name. */
export const withoutNames = (shown: ShownPlaces, { line, title }: KnownPlaces): ShownPlaces => ({
  ...shown,
  line: isSure(line, shown.title) ? shown.line : undefined,
  title: isSure(title, shown.line) ? shown.title : undefined,
});

const isSure = (known: Known | undefined, other: Place | undefined): boolean => {
  if (!known?.isConfigured) return false;
  return known.still === undefined || !other?.text.includes(known.still);
};

const knownOf = (known: Known | undefined, place: Place | undefined): Known | undefined => {
  if (!place) return known;
  const { percents } = place;
  if (!known) return percents === '' ? { isConfigured: false } : { isConfigured: true, still: percents };
  return percents === known.still || percents === '' ? known : { isConfigured: known.isConfigured };
};
