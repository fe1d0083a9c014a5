// The content of a terminal as pieces of equal style, from which its picture is drawn.
import type { IBufferCell, IBufferLine, Terminal } from '@xterm/headless';

/** A palette colour by its number, or `#rrggbb`; undefined is the terminal's default. */
export type Color = number | string | undefined;

export interface Style {
  readonly color: Color;
  readonly background: Color;
  readonly isBold: boolean;
  readonly isDim: boolean;
  readonly isItalic: boolean;
  readonly isUnderlined: boolean;
  readonly isInverse: boolean;
}

/** Adjacent characters of equal style. */
export interface Piece {
  /** of the first one, from 0 */
  readonly column: number;
  readonly columns: number;
  readonly characters: readonly { readonly text: string; readonly column: number }[];
  readonly style: Style;
}

export type PieceRow = readonly Piece[];

/** The rows of the screen from `first` up to, but not including, `end`. */
export const pieceRows = ({ buffer, rows, cols }: Terminal, first = 0, end = rows): readonly PieceRow[] =>
  Array.from({ length: end - first }, (_, index) =>
    piecesOf(buffer.active.getLine(buffer.active.baseY + first + index), cols),
  );

const piecesOf = (line: IBufferLine | undefined, columns: number): PieceRow => {
  const pieces: Piece[] = [];
  for (let column = 0; column < columns; column += 1) {
    const cell = line?.getCell(column);
    if (!cell || cell.getWidth() === 0) continue; // the second half of a wide character
    const character = { text: cell.getChars() || ' ', column };
    const style = styleOf(cell);
    const last = pieces.at(-1);
    const columnsOf = column + cell.getWidth();
    if (last && isSame(last.style, style))
      pieces.splice(-1, 1, {
        ...last,
        columns: columnsOf - last.column,
        characters: [...last.characters, character],
      });
    else pieces.push({ column, columns: cell.getWidth(), characters: [character], style });
  }
  return pieces;
};

const styleOf = (cell: IBufferCell): Style => ({
  color: cell.isFgDefault() ? undefined : colorOf(cell.isFgRGB(), cell.getFgColor()),
  background: cell.isBgDefault() ? undefined : colorOf(cell.isBgRGB(), cell.getBgColor()),
  isBold: cell.isBold() !== 0,
  isDim: cell.isDim() !== 0,
  isItalic: cell.isItalic() !== 0,
  isUnderlined: cell.isUnderline() !== 0,
  isInverse: cell.isInverse() !== 0,
});

const colorOf = (isRgb: boolean, value: number): Color =>
  isRgb ? `#${value.toString(16).padStart(6, '0')}` : value;

const isSame = (a: Style, b: Style): boolean => JSON.stringify(a) === JSON.stringify(b);
