import type { FooterItem } from '../core/footer-items.js';
import type { FooterView } from '../core/view.js';
import { hasFooter } from '../terminal/filter/grid.js';
import type { Look } from '../ui/look.js';
import { makeBrush } from './brush.js';
import type { Stage } from './stage.js';
import { survive } from './stage.js';

/** The footer row: rendered by Ink when its view changes, painted when the child's output leaves a gap. */
export interface Footer {
  show: (view: FooterView) => void;
  /** what was shown last is on the screen */
  isPainted: () => boolean;
  /** the child has written: what is painted may be gone, and a frame may not be over */
  noteOutput: () => void;
  /** the size or the visibility has changed */
  refresh: () => void;
  stop: () => void;
}

type Render = (view: FooterView, look: Look, items?: readonly FooterItem[]) => string;

const LOAD_AFTER_MS = 150; // Ink is loaded when the child has drawn its first screen; it takes the time of some frames

/** Ink's renderer once it is loaded; a footer that can't be loaded is reported and stays away. */
const loadLater = (stage: Stage, onLoad: (render: Render) => void): NodeJS.Timeout =>
  setTimeout(() => {
    import('../ui/frame.js')
      .then(({ renderFooter }) => onLoad(renderFooter))
      .catch((error: unknown) => stage.session.log.error(`the footer could not be loaded: ${String(error)}`));
  }, LOAD_AFTER_MS);

/** `isResized` is asked before each paint: true while the terminal has another size than we know. */
export const makeFooter = (
  stage: Stage,
  look: (columns: number) => Look,
  isResized: () => boolean,
): Footer => {
  const { grid } = stage.filter;
  const { footerItems } = stage.session;
  const brush = makeBrush(stage, isResized);
  let render: Render | undefined;
  let view: FooterView | undefined;
  let isDrawn = false;

  const draw = (): void => {
    isDrawn = survive(stage, 'rendering the footer', () => {
      if (render && view && hasFooter(grid)) brush.paint(render(view, look(grid.columns), footerItems));
    });
  };
  const loading = loadLater(stage, (loaded) => {
    render = loaded;
    draw();
  });
  return {
    show: (next) => {
      view = next;
      draw();
    },
    isPainted: () => isDrawn && hasFooter(grid) && brush.isPainted(),
    noteOutput: brush.noteOutput,
    refresh: () => {
      brush.forget();
      draw();
    },
    stop: () => {
      clearTimeout(loading);
      brush.stop();
    },
  };
};
