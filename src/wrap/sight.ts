// What the user can see of ours at this moment.
import type { Unseen } from '../core/compaction/sight.js';
import { hasFooter } from '../terminal/filter/grid.js';
import type { Footer } from './footer.js';
import type { Overlay } from './overlay/overlay.js';
import { childSize, type Stage } from './stage.js';

export interface SightParts {
  readonly stage: Stage;
  readonly footer: Pick<Footer, 'isPainted'>;
  readonly overlay: Pick<Overlay, 'showsNext'> | undefined;
}

// Twice what a paint may wait for: whatever keeps a row from the screen for so long may keep it for ever.
const LATE_MS = 1_500;

const hasRoom = ({ tty, footerWanted }: Stage): boolean => {
  const size = tty.size();
  return childSize(size, { footerWanted, rowWanted: true }).rows < size.rows;
};

/** Tells why a countdown could not be seen now; undefined where it can, or could a moment ago. To be asked again and again. */
export const makeSight = ({ stage, footer, overlay }: SightParts): (() => Unseen | undefined) => {
  let lateSince: number | undefined;

  const isLate = (): boolean => {
    const isThere = stage.tty.pending() === 0 && (stage.cover !== undefined || footer.isPainted());
    lateSince = isThere ? undefined : (lateSince ?? performance.now());
    return lateSince !== undefined && performance.now() - lateSince >= LATE_MS;
  };
  return () => {
    if (stage.verbatim) return 'failed';
    if (stage.cover && overlay?.showsNext() !== true) return 'covered';
    if (!stage.footerWanted) return 'off';
    if (!hasRoom(stage)) return 'small';
    if (!hasFooter(stage.filter.grid) && !stage.rowWanted) {
      lateSince = undefined; // a row is made when it is needed
      return undefined;
    }
    return isLate() ? 'undrawn' : undefined;
  };
};
