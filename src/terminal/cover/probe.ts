import type { Grid } from '../filter/grid.js';
import { isPrivateModeOn } from '../filter/private-modes.js';
import { regionSequence } from '../filter/region.js';
import { renditionSequence } from '../filter/rendition.js';
import type { Ledger } from '../ledger.js';
import { modeSequence, type Cover } from './cover.js';
import type { TerminalQuestion } from './take-questions.js';

/*
 * The child's questions while our screen covers its own. The terminal answers them all, in its own words and in their order: what the
 * answer hangs on is for a moment put as the child has it, in one write with the question.
 */

/** What to send for a question. */
export type Probe =
  | { readonly type: 'ask'; readonly bytes: string; readonly spoiledRow?: number }
  /** the terminal would say something else whatever we do: this is the answer */
  | { readonly type: 'answer'; readonly bytes: string };

export interface Covered {
  readonly grid: Grid;
  readonly ledger: Ledger;
  readonly cover: Cover;
  /** private modes as they were when the cover was opened */
  readonly wasSet: (mode: number) => boolean;
}

const ORIGIN = 6;
const switchesBuffer = new Set([47, 1047, 1049]);
const hasEffects = new Set([2, 3, 40, 1048]); // switching these does more than to set them
const mouse = new Set([9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016]);

const plain = (text: string): Probe => ({ type: 'ask', bytes: text });

/** The last-column flag is put by printing: some terminals count the column differently with it. */
const cursorProbe = (text: string, { grid }: Covered): Probe => {
  const row = grid.origin ? grid.row - grid.top : grid.row;
  const column = grid.origin && grid.sideMargins ? grid.column - grid.left : grid.column;
  const origin = grid.origin ? `${regionSequence(grid)}${modeSequence(ORIGIN, true)}` : '';
  const place = `${origin}\x1b[${row + 1};${column + 1}H`;
  const back = grid.origin ? modeSequence(ORIGIN, false) : '';
  if (!grid.pendingWrap) return plain(place + text + back);
  const wrap = `${modeSequence(7, true)} ${text}\r${modeSequence(7, false)}`;
  return { type: 'ask', bytes: place + wrap + back, spoiledRow: grid.row };
};

const forcedSequence = ({ forced }: Cover, modes: ReadonlySet<number>): string =>
  [...forced]
    .filter(([mode]) => modes.has(mode))
    .map(([mode, on]) => modeSequence(mode, on))
    .join('');

const modeProbe = (text: string, covered: Covered): Probe => {
  const { grid, ledger, cover, wasSet } = covered;
  const [, isPrivate, digits] = /^\x1b\[(\?)?(\d+)/.exec(text) ?? [];
  const mode = Number(digits);
  if (!isPrivate || hasEffects.has(mode)) return plain(text);
  const isOn = isPrivateModeOn(grid, ledger, mode);
  if (switchesBuffer.has(mode)) return isOn ? plain(text) : { type: 'answer', bytes: `\x1b[?${mode};2$y` };
  const now = cover.forced.get(mode) ?? (mode === ORIGIN || mode === 69 ? false : wasSet(mode));
  const again = mouse.has(mode) ? forcedSequence(cover, mouse) : '';
  const isReplaced = isOn && again !== ''; // one of ours may have ended it
  if (now === isOn && !isReplaced) return plain(text);
  return plain(modeSequence(mode, isOn) + text + modeSequence(mode, now) + again);
};

/** DECRQSS. */
const statusProbe = (text: string, { grid, ledger }: Covered): Probe => {
  const what = /^\x1bP\$q([^\x1b]*)/.exec(text)?.[1] ?? '';
  if (what === 'm') return plain(`${renditionSequence(grid.rendition)}${text}\x1b[0m`);
  if (what === 'r') return plain(regionSequence(grid) + text);
  if (what === '"q' && grid.isProtected) return plain(`\x1b[1"q${text}\x1b[0"q`);
  if (what === ' q' && ledger.cursorStyleNow() !== 0)
    return plain(`\x1b[${ledger.cursorStyleNow()} q${text}`);
  if (what === 's' && grid.sideMargins)
    return plain(`\x1b[?69h\x1b[${grid.left + 1};${grid.right + 1}s${text}\x1b[?69l`);
  return plain(text);
};

/** Each screen has its own stack of flags: what the child has is pushed, and popped before any key can come. */
const keyboardProbe = (text: string, { grid, ledger }: Covered): Probe =>
  plain(`\x1b[>${ledger.keyboardNow(grid.alternate)}u${text}\x1b[<u`);

export const probeFor = ({ kind, text }: TerminalQuestion, covered: Covered): Probe => {
  switch (kind) {
    case 'cursor':
      return cursorProbe(text, covered);
    case 'mode':
      return modeProbe(text, covered);
    case 'status':
      return statusProbe(text, covered);
    case 'keyboard':
      return keyboardProbe(text, covered);
    case 'other':
      return plain(text);
  }
};
