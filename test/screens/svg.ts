// Draws pieces of text as SVG: one file for readers with a light and with a dark background, without fonts or scripts.
import { palettes } from '../../src/ui/theme.js';
import type { Color, Piece, PieceRow, Style } from './cells.js';
import { paletteColor, terminalColors } from './palette.js';
import { CELL, number, shapesOf } from './shapes.js';

export interface Picture {
  /** the text alternative */
  readonly title: string;
  readonly columns: number;
  readonly rows: readonly PieceRow[];
  /** the only background it is drawn for; the reader's when absent */
  readonly background?: Background;
}

type Background = keyof typeof terminalColors;

// Every word is placed at its column and every sign in its cell, because fonts differ in their widths.
const { width: WIDTH, height: HEIGHT } = CELL;
const FONT_SIZE = 14;
const BASELINE = 13.5; // from the top of a row
const MARGIN = 12;
const RADIUS = 6;
const FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";

export const svgOf = ({ rows, ...picture }: Picture): string =>
  framed({ ...picture, rows: rows.length }, ['<g class="t">', ...rows.flatMap(drawRow), '</g>']);

/** The window of the terminal around what is drawn in it; `more` are further rules of style. */
const framed = (
  {
    title,
    columns,
    rows,
    background,
  }: Pick<Picture, 'title' | 'columns' | 'background'> & { readonly rows: number },
  drawn: readonly string[],
  more = '',
): string => {
  const [width, height] = [2 * MARGIN + columns * WIDTH, 2 * MARGIN + rows * HEIGHT].map(number);
  const name = escaped(title);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${name}">`,
    `<title>${name}</title>`,
    `<style>${styleSheet(drawn.join(''), background)}${more}</style>`,
    `<rect class="s" x="0.5" y="0.5" width="${Number(width) - 1}" height="${Number(height) - 1}" rx="${RADIUS}"/>`,
    ...drawn,
    '</svg>',
  ].join('\n')}\n`;
};

const drawRow = (row: PieceRow, index: number): readonly string[] =>
  row.flatMap((piece) => drawPiece(piece, MARGIN + index * HEIGHT));

const leftOf = (column: number): number => MARGIN + column * WIDTH;
const xOf = (column: number): string => number(leftOf(column));

const drawPiece = (piece: Piece, top: number): readonly string[] => {
  const { color, background } = colorsOf(piece.style);
  const box =
    background === undefined
      ? []
      : [
          `<rect x="${xOf(piece.column)}" y="${number(top)}" width="${number(piece.columns * WIDTH)}" height="${HEIGHT}"${fill(background)}/>`,
        ];
  const looks = `${fill(color)}${weight(piece.style)}`;
  return [
    ...box,
    ...runsOf(piece).flatMap((run) => {
      const shapes = shapesOf(run.text, leftOf(run.column), top, run.count);
      if (shapes !== undefined) return shapes === '' ? [] : `<path d="${shapes}"${looks}/>`;
      const length = run.count > 1 ? ` textLength="${number(run.count * WIDTH)}"` : '';
      return `<text x="${xOf(run.column)}"${length} y="${number(top + BASELINE)}"${looks}>${escaped(run.text)}</text>`;
    }),
  ];
};

/** `screen` is what the terminal draws on, `text` what it draws with. */
type Drawn = Color | 'screen' | 'text';

const colorsOf = ({ color, background, isInverse }: Style): { color: Drawn; background: Drawn } =>
  isInverse ? { color: background ?? 'screen', background: color ?? 'text' } : { color, background };

const fill = (color: Drawn): string => {
  if (color === undefined) return '';
  if (color === 'screen' || color === 'text') return ` class="${color === 'screen' ? 'b' : 't'}"`;
  const own = ownColors.find(({ rgb }) => rgb === color);
  if (own) return ` class="${own.name}"`;
  if (typeof color === 'string') return ` fill="${color}"`;
  return color < 16 ? ` class="c${color}"` : ` fill="${paletteColor(color)}"`;
};

/** ctxwrap's colours where it does not know the background. In the picture it is known, as by most terminals. */
const ownColors = (['accent', 'safe', 'warn', 'auto', 'hard'] as const).map((name) => ({
  name,
  rgb: palettes.unknown[name].rgb,
}));

const weight = ({ isBold, isDim, isItalic, isUnderlined }: Style): string =>
  [
    isBold ? ' font-weight="bold"' : '',
    isDim ? ' opacity="0.6"' : '',
    isItalic ? ' font-style="italic"' : '',
    isUnderlined ? ' text-decoration="underline"' : '',
  ].join('');

interface Run {
  /** a word; of equal signs only one */
  readonly text: string;
  /** of the first one */
  readonly column: number;
  /** letters, or equal signs */
  readonly count: number;
}

/**
 * ASCII words as one element, because all terminal fonts have the same width for them; other letters one by one: not every program that
 * draws SVG places each letter of a text. Equal shapes are drawn at once.
 */
const runsOf = ({ characters }: Piece): readonly Run[] => {
  const runs: { text: string; column: number; count: number }[] = [];
  for (const { text, column } of characters) {
    if (text === ' ') continue;
    const last = runs.at(-1);
    const isNext = last !== undefined && last.column + last.count === column;
    if (isNext && isAscii(text) && isAscii(last.text)) last.text += text;
    else if (!isNext || last.text !== text || !isShape(text)) {
      runs.push({ text, column, count: 1 });
      continue;
    }
    last.count += 1;
  }
  return runs;
};

const isAscii = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);
const isShape = (text: string): boolean => shapesOf(text, 0, 0, 1) !== undefined;

/** The colours that depend on the reader's background; of the palette only those that are used. */
const styleSheet = (drawn: string, background: Background | undefined): string => {
  const rules = (theme: Background): string => {
    const { screen, edge, text, palette } = terminalColors[theme];
    const used = palette.flatMap((color, index) =>
      drawn.includes(`class="c${index}"`) ? [`.c${index}{fill:${color}}`] : [],
    );
    return [
      `.t{fill:${text}}`,
      `.s{fill:${screen};stroke:${edge}}`,
      ...(drawn.includes('class="b"') ? [`.b{fill:${screen}}`] : []),
      ...ownColors.flatMap(({ name }) =>
        drawn.includes(`class="${name}"`)
          ? [`.${name}{fill:${palettes[theme === 'black' ? 'dark' : theme][name].rgb}}`]
          : [],
      ),
      ...used,
    ].join('');
  };
  const text = `text{font-family:${FONTS};font-size:${FONT_SIZE}px;white-space:pre}`;
  return background === undefined
    ? `${text}${rules('light')}@media(prefers-color-scheme:dark){${rules('dark')}}`
    : text + rules(background);
};

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/\p{Cc}/gu, '');

// The same in motion, without a script: each row of the screen is a strip of everything that is ever in it, moved by CSS.

/** The screen from this time on. */
export interface Frame {
  readonly atMs: number;
  readonly rows: readonly PieceRow[];
}

export interface Animation {
  readonly title: string;
  readonly columns: number;
  readonly background?: Background;
  /** the first one is at 0; all have equally many rows */
  readonly frames: readonly Frame[];
  /** after that it begins again */
  readonly lengthMs: number;
  /** the time of the frame for readers who want no motion */
  readonly stillMs: number;
}

/** What one row of the screen shows, by the number of its contents; only where it changes. */
interface Strip {
  readonly contents: readonly string[];
  readonly changes: readonly { readonly atMs: number; readonly content: number }[];
}

export const animatedSvgOf = (animation: Animation): string => {
  const { frames, lengthMs, stillMs } = animation;
  const rows = frames[0]?.rows.length ?? 0;
  const strips = Array.from({ length: rows }, (_, row) => stripOf(frames, row));
  const drawn = [...new Set(strips.flatMap(({ contents }) => contents))].filter((content) => content !== '');
  const width = number(2 * MARGIN + animation.columns * WIDTH);
  const motion = strips.flatMap(({ changes }, row) =>
    changes.length < 2
      ? []
      : [
          `@keyframes k${row}{${changes.map(({ atMs, content }) => `${percent(atMs, lengthMs)}{${moved(content)}}`).join('')}}`,
          `.k${row}{animation-name:k${row};${moved(changes.findLast(({ atMs }) => atMs <= stillMs)?.content ?? 0)}}`,
        ],
  );
  return framed(
    { ...animation, rows },
    [
      '<defs>',
      ...drawn.map((content, index) => `<g id="r${index}">${content}</g>`),
      '</defs>',
      '<g class="t">',
      ...strips.map(
        ({ contents, changes }, row) =>
          `<svg y="${number(MARGIN + row * HEIGHT)}" width="${width}" height="${HEIGHT}"><g${changes.length < 2 ? '' : ` class="a k${row}"`}>${contents
            .map((content, place) =>
              content === '' ? '' : `<use href="#r${drawn.indexOf(content)}" y="${place * HEIGHT}"/>`,
            )
            .join('')}</g></svg>`,
      ),
      '</g>',
    ],
    `.a{animation:${lengthMs / 1000}s step-end infinite}${motion.join('')}@media(prefers-reduced-motion:reduce){.a{animation:none!important}}`,
  );
};

const percent = (atMs: number, lengthMs: number): string =>
  `${Math.round((atMs / lengthMs) * 10_000) / 100}%`;

const moved = (content: number): string =>
  `transform:translateY(${content === 0 ? 0 : `${-content * HEIGHT}px`})`;

const stripOf = (frames: readonly Frame[], row: number): Strip => {
  const contents: string[] = [];
  const changes: { atMs: number; content: number }[] = [];
  for (const { atMs, rows } of frames) {
    const drawn = (rows[row] ?? []).flatMap((piece) => drawPiece(piece, 0)).join('');
    if (!contents.includes(drawn)) contents.push(drawn);
    const content = contents.indexOf(drawn);
    if (changes.at(-1)?.content !== content) changes.push({ atMs, content });
  }
  return { contents, changes };
};
