// Counts what a program has written to the main screen, by looking at each row when it leaves the screen at the top.
import type headless from '@xterm/headless';
import type { Characters } from '../core/estimate.js';
import { makeRowTally } from './row-tally.js';

export interface WrittenText {
  /** rows that have gone at the top and rows on the shown screen, together */
  readonly characters: () => Characters;
  /** the first rows of the screen are about to go, in a way that is no scrolling */
  readonly takeTop: (rows: number) => void;
  /** the emulator has just got another size: rows that did not fit are in the scrollback, and there is no scroll region */
  readonly noteResize: () => void;
}

/** What `CSI t;b r` does to the top margin in the emulator: does a scroll still take the first row? */
const startsAtTop = ([top, bottom]: readonly unknown[], rows: number, before: boolean): boolean => {
  const first = Math.max(1, Number(top ?? 1));
  const last = bottom === undefined || bottom === 0 || Number(bottom) > rows ? rows : Number(bottom);
  return last > first ? first === 1 : before;
};

/** Counts from now on. It needs a scrollback of one row: a row is looked at in the moment in which it goes there. */
export const watchWrittenText = (terminal: headless.Terminal): WrittenText => {
  const { buffer, parser } = terminal;
  const gone = makeRowTally();
  let isTopScrolling = true; // false while a region begins below the first row: then nothing leaves the screen

  const isMain = (): boolean => buffer.active.type === 'normal';
  const textAt = (line: number): string => buffer.active.getLine(line)?.translateToString(true) ?? '';
  const noteRegion = (from: () => boolean): false => {
    if (isMain()) isTopScrolling = from();
    return false; // the emulator's own handler comes next
  };
  const noteErased = (isAll: boolean): false => {
    if (isAll && isMain()) gone.noteErased();
    return false;
  };
  terminal.onScroll(() => {
    const { baseY } = buffer.active;
    if (isTopScrolling && baseY > 0 && isMain()) gone.put(textAt(baseY - 1));
  });
  parser.registerCsiHandler({ final: 'r' }, (margins) =>
    noteRegion(() => startsAtTop(margins, terminal.rows, isTopScrolling)),
  );
  parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => noteRegion(() => true));
  parser.registerCsiHandler({ final: 'J' }, ([what]) => {
    const { cursorX, cursorY } = buffer.active;
    return noteErased(what === 2 || what === 3 || (!what && cursorX === 0 && cursorY === 0));
  });
  parser.registerEscHandler({ final: 'c' }, () => {
    isTopScrolling = true;
    gone.noteErased();
    return false;
  });
  return {
    characters: () => {
      const screen = makeRowTally();
      for (let row = 0; row < terminal.rows; row += 1) screen.put(textAt(buffer.active.baseY + row));
      const [before, shown] = [gone.characters(), screen.characters()];
      return { ascii: before.ascii + shown.ascii, wide: before.wide + shown.wide };
    },
    takeTop: (rows) => {
      for (let row = 0; isMain() && row < rows; row += 1) gone.put(textAt(buffer.active.baseY + row));
    },
    noteResize: () => {
      isTopScrolling = true;
      const { normal } = buffer;
      for (let line = 0; line < normal.baseY; line += 1)
        gone.put(normal.getLine(line)?.translateToString(true) ?? '');
    },
  };
};
