import type headless from '@xterm/headless';
import type { CellStyle, ScreenView } from '../core/screen-view.js';

const TRUE_COLOUR = 0x1000000; // as in CellStyle.foreground

const styleOf = (cell: headless.IBufferCell): CellStyle => ({
  bold: cell.isBold() !== 0,
  dim: cell.isDim() !== 0,
  inverse: cell.isInverse() !== 0,
  ...(cell.isFgDefault()
    ? {}
    : { foreground: cell.isFgRGB() ? TRUE_COLOUR + cell.getFgColor() : cell.getFgColor() }),
});

/** The emulator's shown screen. It reads the emulator's own cells: use it before the next bytes are parsed. */
export const snapshotOf = (terminal: headless.Terminal): ScreenView => {
  const { active } = terminal.buffer;
  const lineAt = (row: number): headless.IBufferLine | undefined =>
    row >= 0 && row < terminal.rows ? active.getLine(active.baseY + row) : undefined;
  const texts = new Map<number, string>();
  return {
    columns: terminal.cols,
    rows: terminal.rows,
    cursorRow: active.cursorY,
    cursorColumn: active.cursorX,
    alternate: active.type === 'alternate',
    text: (row) => {
      const known = texts.get(row);
      if (known !== undefined) return known;
      const text = lineAt(row)?.translateToString(true).trimEnd() ?? '';
      texts.set(row, text);
      return text;
    },
    styleAt: (row, column) => {
      const cell = lineAt(row)?.getCell(column);
      return cell && styleOf(cell);
    },
  };
};
