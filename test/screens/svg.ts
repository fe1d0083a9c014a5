// Draws pieces of text as SVG: one file for readers with a light and with a dark background, without fonts or scripts.
import type { Color, Piece, PieceRow, Style } from './cells.js';
import { paletteColor, terminalColors } from './palette.js';

export interface Picture {
  /** the text alternative */
  readonly title: string;
  readonly columns: number;
  readonly rows: readonly PieceRow[];
}

/** Of one cell, in pixels. Every character is placed at its column, because fonts differ in their widths. */
const WIDTH = 8.4;
const HEIGHT = 18;
const FONT_SIZE = 14;
const BASELINE = 13.5; // from the top of a row
const MARGIN = 12;
const RADIUS = 6;
const FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

export const svgOf = ({ title, columns, rows }: Picture): string => {
  const [width, height] = [2 * MARGIN + columns * WIDTH, 2 * MARGIN + rows.length * HEIGHT].map(number);
  const name = escaped(title);
  const drawn = rows.flatMap((row, index) => row.flatMap((piece) => drawPiece(piece, index)));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}">`,
    `<title>${name}</title>`,
    `<style>${styleSheet(drawn.join(''))}</style>`,
    `<rect class="s" x="0.5" y="0.5" width="${Number(width) - 1}" height="${Number(height) - 1}" rx="${RADIUS}"/>`,
    '<g class="t">',
    ...drawn,
    '</g>',
    '</svg>',
  ].join('\n')}\n`;
};

const number = (value: number): string => String(Math.round(value * 10) / 10);
const xOf = (column: number): string => number(MARGIN + column * WIDTH);

const drawPiece = (piece: Piece, row: number): readonly string[] => {
  const { color, background } = colorsOf(piece.style);
  const top = MARGIN + row * HEIGHT;
  const box =
    background === undefined
      ? []
      : [
          `<rect x="${xOf(piece.column)}" y="${number(top)}" width="${number(piece.columns * WIDTH)}" height="${HEIGHT}"${fill(background)}/>`,
        ];
  const looks = `${fill(color)}${weight(piece.style)}`;
  return [
    ...box,
    ...wordsOf(piece).map(
      ({ text, place }) => `<text ${place} y="${number(top + BASELINE)}"${looks}>${escaped(text)}</text>`,
    ),
  ];
};

/** `screen` is what the terminal draws on, `text` what it draws with. */
type Drawn = Color | 'screen' | 'text';

const colorsOf = ({ color, background, isInverse }: Style): { color: Drawn; background: Drawn } =>
  isInverse ? { color: background ?? 'screen', background: color ?? 'text' } : { color, background };

const fill = (color: Drawn): string => {
  if (color === undefined) return '';
  if (color === 'screen' || color === 'text') return ` class="${color === 'screen' ? 'b' : 't'}"`;
  if (typeof color === 'string') return ` fill="${color}"`;
  return color < 16 ? ` class="c${color}"` : ` fill="${paletteColor(color)}"`;
};

const weight = ({ isBold, isDim, isItalic, isUnderlined }: Style): string =>
  [
    isBold ? ' font-weight="bold"' : '',
    isDim ? ' opacity="0.6"' : '',
    isItalic ? ' font-style="italic"' : '',
    isUnderlined ? ' text-decoration="underline"' : '',
  ].join('');

interface Word {
  readonly text: string;
  /** where its characters are, as attributes */
  readonly place: string;
}

/** ASCII words as one element, because all terminal fonts have the same width for them; other characters one by one. */
const wordsOf = ({ characters }: Piece): readonly Word[] => {
  const runs: { text: string; columns: number[]; isAscii: boolean }[] = [];
  let isAfterGap = true;
  for (const { text, column } of characters) {
    const isAscii = /^[\x21-\x7e]$/.test(text);
    const last = runs.at(-1);
    if (text === ' ') isAfterGap = true;
    else if (last && !isAfterGap && last.isAscii === isAscii) {
      last.text += text;
      last.columns.push(column);
    } else {
      runs.push({ text, columns: [column], isAscii });
      isAfterGap = false;
    }
  }
  return runs.map(({ text, columns, isAscii }) => ({ text, place: placeOf(columns, isAscii) }));
};

const placeOf = (columns: readonly number[], isAscii: boolean): string =>
  isAscii && columns.length > 1
    ? `x="${xOf(columns[0] ?? 0)}" textLength="${number(columns.length * WIDTH)}"`
    : `x="${columns.map(xOf).join(' ')}"`;

/** The colours that depend on the reader's background; of the palette only those that are used. */
const styleSheet = (drawn: string): string => {
  const rules = (theme: keyof typeof terminalColors): string => {
    const { screen, edge, text, palette } = terminalColors[theme];
    const used = palette.flatMap((color, index) =>
      drawn.includes(`class="c${index}"`) ? [`.c${index}{fill:${color}}`] : [],
    );
    return [
      `.t{fill:${text}}`,
      `.s{fill:${screen};stroke:${edge}}`,
      ...(drawn.includes('class="b"') ? [`.b{fill:${screen}}`] : []),
      ...used,
    ].join('');
  };
  return `text{font:${FONT_SIZE}px ${FONTS};white-space:pre}${rules('light')}@media(prefers-color-scheme:dark){${rules('dark')}}`;
};

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/\p{Cc}/gu, '');
