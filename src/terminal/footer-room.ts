// The room for the footer: the child's scroll region, which ends above it.

/** How many rows the child has, and the terminal. */
export interface Heights {
  readonly rows: number;
  readonly terminalRows: number;
}

/** Makes rows of room below the cursor by scrolling if needed. Only without a scroll region. */
export const makeRoom = (rows: number): string => `${'\x1bD'.repeat(rows)}\x1b[${rows}A`;

/** Sets the region that the child's rows need; '' where the child has the whole terminal. */
export const setRegion = ({ rows, terminalRows }: Heights): string =>
  rows < terminalRows ? `\x1b7\x1b[1;${rows}r\x1b8` : '';

/** Gives the child the whole terminal. */
export const REGION_OFF = '\x1b7\x1b[r\x1b8';

/** Sets the child's scroll region and makes room for the footer, at the start or after a suspend. */
export const reserveFooterSequence = (heights: Heights): string => {
  const region = setRegion(heights);
  return region === '' ? '' : makeRoom(1) + region;
};
