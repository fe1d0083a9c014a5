// The way out when something of ours has failed: the session goes on as if we were not there.
import { resizeGrid } from '../terminal/filter/grid.js';
import { abandonSequence } from '../terminal/painter.js';
import type { Footer } from './footer.js';
import { survive, type Stage } from './stage.js';

/** From here on bytes go through as they are, and the child gets the whole screen. What fails in here fails alone. */
export const goVerbatim = (stage: Stage, footer: Pick<Footer, 'stop'>): void => {
  if (stage.verbatim) return;
  const { grid } = stage.filter;
  stage.verbatim = true;
  stage.session.log.error('going on as a plain passthrough');
  // it may be these that have failed
  survive(stage, 'stopping the footer', () => footer.stop());
  survive(stage, 'stopping to read the screen', () => stage.readings?.goBlind());
  const size = stage.tty.size();
  stage.standIn?.stop();
  survive(stage, 'giving out what the filter holds', () => stage.tty.write(stage.filter.flush()));
  stage.tty.write(abandonSequence(grid));
  resizeGrid(grid, size.columns, size.rows, size.rows);
  stage.child?.resize(size);
};
