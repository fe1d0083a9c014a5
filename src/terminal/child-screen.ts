import type { ScreenModel } from './screen-model.js';
import type { Size } from './tty.js';
import type { SavedScreen } from './overview/saved-screen.js';

// The child's screen as the main thread sees it, without the model, which is in the worker and slow to load.

/** Sizes of what is on the screen. */
export interface ScreenMeasures {
  /** rows with content below the cursor's row */
  readonly rowsBelowCursor: number;
  /** nothing is at the cursor or right of it in its row */
  readonly isBlankFromCursor: boolean;
  /** rows that the cursor's line would take below the cursor if it were wrapped at the new width */
  readonly wrappedRows: number;
  /** last row of the main screen with content, from 0; −1 for an empty screen, Infinity while there is no model */
  readonly lastRow: number;
}

/** The child's screen for the code that moves the footer and the overview; the model itself may be in another thread. */
export interface ChildScreen extends Pick<ScreenModel, 'feed' | 'eraseBelow' | 'alignCursor'> {
  readonly resize: (size: Size) => void;
  /** resolves when everything fed so far is on the screen; `columns` is the new width */
  readonly measure: (columns: number) => Promise<ScreenMeasures>;
  /** a copy of the visible screen when everything fed so far is on it; undefined while there is no model */
  readonly save: () => Promise<SavedScreen | undefined>;
}

/** Where there is no model. */
export const noMeasures: ScreenMeasures = {
  rowsBelowCursor: 0,
  isBlankFromCursor: false,
  wrappedRows: 0,
  lastRow: Infinity,
};

/** The screen of a model in this thread. */
export const screenOf = (model: ScreenModel): ChildScreen => ({
  ...model,
  resize: (size) => void model.resize(size),
  measure: async (columns) => {
    await model.settled();
    return {
      rowsBelowCursor: model.rowsBelowCursor(),
      isBlankFromCursor: model.isBlankFromCursor(),
      wrappedRows: model.rowsWrappedAt(columns),
      lastRow: model.lastRow(),
    };
  },
  save: async () => {
    await model.settled();
    return model.isBehind() ? undefined : model.saveScreen();
  },
});
