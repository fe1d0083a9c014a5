// Lines, blocks, dots and bars as shapes. Fonts differ in these most, and one in which they are wider drives a chart out of its frame.

/** Of one cell, in pixels. */
export const CELL = { width: 8.4, height: 18 } as const;

export const number = (value: number): string => String(Math.round(value * 10) / 10);

/** The data of an SVG path that fills `count` such characters side by side; undefined for one that is no shape. */
export const shapesOf = (character: string, left: number, top: number, count: number): string | undefined => {
  const draw = drawerOf(character);
  if (!draw) return undefined;
  if (draw.isWide) return draw.path(left, top, count * CELL.width);
  return Array.from({ length: count }, (_, index) =>
    draw.path(left + index * CELL.width, top, CELL.width),
  ).join('');
};

interface Drawer {
  /** a row of them is one of that width */
  readonly isWide: boolean;
  readonly path: (left: number, top: number, width: number) => string;
}

const drawerOf = (character: string): Drawer | undefined => {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x2800 && code <= 0x28ff) return { isWide: false, path: dots(code - 0x2800) };
  const part = parts[character];
  if (part) return { isWide: part[0] === 0 && part[2] === 1, path: fractions([part]) };
  const quadrants = quadrantsOf[character];
  if (quadrants) return { isWide: false, path: fractions(quadrants) };
  const arms = armsOf[character];
  if (arms !== undefined) return { isWide: arms === 'lr', path: lines(arms) };
  return others[character];
};

const box = (left: number, top: number, width: number, height: number): string =>
  `M${number(left)} ${number(top)}h${number(width)}v${number(height)}h${number(-width)}z`;

// Braille: two columns of four dots. The bits go down the left column, down the right one, and then through the last row (Unicode, U+2800).
const DOT = 2;
const SQUARE = `h${DOT}v${DOT}h${-DOT}z`;
const dotPlaces = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 0],
  [1, 1],
  [1, 2],
  [0, 3],
  [1, 3],
] as const;

const dots =
  (bits: number): Drawer['path'] =>
  (left, top) =>
    dotPlaces
      .filter((_, bit) => bits & (1 << bit))
      .map(([column, row]) => {
        const x = left + ((column + 0.5) * CELL.width) / 2 - DOT / 2;
        return `M${number(x)} ${number(top + ((row + 0.5) * CELL.height) / 4 - DOT / 2)}${SQUARE}`;
      })
      .join('');

/** Left, top, right and bottom, as parts of the cell. */
type Part = readonly [number, number, number, number];

const parts: Readonly<Record<string, Part>> = {
  '█': [0, 0, 1, 1],
  '▀': [0, 0, 1, 0.5],
  '▔': [0, 0, 1, 0.125],
  '▐': [0.5, 0, 1, 1],
  '▕': [0.875, 0, 1, 1],
  ...Object.fromEntries([...'▁▂▃▄▅▆▇'].map((each, index) => [each, [0, 1 - (index + 1) / 8, 1, 1]])),
  ...Object.fromEntries([...'▏▎▍▌▋▊▉'].map((each, index) => [each, [0, 0, (index + 1) / 8, 1]])),
};

const [UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT]: readonly [Part, Part, Part, Part] = [
  [0, 0, 0.5, 0.5],
  [0.5, 0, 1, 0.5],
  [0, 0.5, 0.5, 1],
  [0.5, 0.5, 1, 1],
];

const quadrantsOf: Readonly<Record<string, readonly Part[]>> = {
  '▘': [UPPER_LEFT],
  '▝': [UPPER_RIGHT],
  '▖': [LOWER_LEFT],
  '▗': [LOWER_RIGHT],
  '▚': [UPPER_LEFT, LOWER_RIGHT],
  '▞': [UPPER_RIGHT, LOWER_LEFT],
  '▛': [UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT],
  '▜': [UPPER_LEFT, UPPER_RIGHT, LOWER_RIGHT],
  '▙': [UPPER_LEFT, LOWER_LEFT, LOWER_RIGHT],
  '▟': [UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT],
};

const fractions =
  (all: readonly Part[]): Drawer['path'] =>
  (left, top, width) =>
    all
      .map(([x, y, right, bottom]) =>
        box(left + x * width, top + y * CELL.height, (right - x) * width, (bottom - y) * CELL.height),
      )
      .join('');

const LINE = 1; // thickness
const [MIDDLE, CENTRE] = [(CELL.height - LINE) / 2, (CELL.width - LINE) / 2];

/** Light lines by the sides of the cell that they reach: up, down, left, right. */
const armsOf: Readonly<Record<string, string>> = {
  '─': 'lr',
  '│': 'ud',
  '┌': 'dr',
  '┐': 'dl',
  '└': 'ur',
  '┘': 'ul',
  '├': 'udr',
  '┤': 'udl',
  '┬': 'dlr',
  '┴': 'ulr',
  '┼': 'udlr',
  '╴': 'l',
  '╵': 'u',
  '╶': 'r',
  '╷': 'd',
  '⎿': 'ur', // Claude's own, which few fonts have
};

const lines =
  (arms: string): Drawer['path'] =>
  (left, top, width) => {
    const across = (from: number, to: number): string => box(left + from, top + MIDDLE, to - from, LINE);
    const down = (from: number, to: number): string => box(left + CENTRE, top + from, LINE, to - from);
    const [isUp, isDown, isLeft, isRight] = [...'udlr'].map((arm) => arms.includes(arm));
    return [
      isLeft || isRight ? across(isLeft ? 0 : CENTRE, isRight ? width : CENTRE + LINE) : '',
      isUp || isDown ? down(isUp ? 0 : MIDDLE, isDown ? CELL.height : MIDDLE + LINE) : '',
    ].join('');
  };

/** A quarter of a ring between two sides of the cell, and what is left of the vertical line. */
const corner =
  (isRight: boolean, isDown: boolean): Drawer['path'] =>
  (left, top) => {
    const [side, end] = [isRight ? 1 : -1, isDown ? 1 : -1];
    const [x, y] = [left + CELL.width / 2, top + CELL.height / 2];
    const [outer, inner] = [(CELL.width + LINE) / 2, (CELL.width - LINE) / 2]; // the ring ends at the side of the cell
    const turn = isRight === isDown ? 1 : 0;
    const straight = box(
      x - LINE / 2,
      isDown ? y + CELL.width / 2 : top,
      LINE,
      CELL.height / 2 - CELL.width / 2,
    );
    return [
      `M${number(x - (side * LINE) / 2)} ${number(y + (end * CELL.width) / 2)}`,
      `a${number(outer)} ${number(outer)} 0 0 ${turn} ${number(side * outer)} ${number(-end * outer)}`,
      `v${number(end * LINE)}`,
      `a${number(inner)} ${number(inner)} 0 0 ${1 - turn} ${number(-side * inner)} ${number(end * inner)}z`,
      straight,
    ].join('');
  };

const dashes =
  (count: number): Drawer['path'] =>
  (left, top, width) =>
    Array.from({ length: count }, (_, index) =>
      box(left + ((index + 0.2) * width) / count, top + MIDDLE, (0.6 * width) / count, LINE),
    ).join('');

const [BAR, SLANT, GAP] = [6, 2.5, 0.9]; // height, how far the top leans to the right, space between two
type Area = readonly [left: number, top: number, width: number, height: number];

const slanted = ([left, top, width, height]: Area, isHole: boolean): string => {
  const slant = (SLANT * height) / BAR;
  const around = isHole // the other way round, it is not filled
    ? `l${number(slant)} ${number(-height)}h${number(width)}l${number(-slant)} ${number(height)}z`
    : `h${number(width)}l${number(slant)} ${number(-height)}h${number(-width)}z`;
  return `M${number(left)} ${number(top + height)}${around}`;
};

const bar =
  (isHollow: boolean): Drawer['path'] =>
  (left, top, width) => {
    const [x, y] = [left + GAP / 2, top + (CELL.height - BAR) / 2];
    const inside = width - GAP - SLANT;
    const outline = slanted([x, y, inside, BAR], false);
    return isHollow ? outline + slanted([x + 1.1, y + 0.8, inside - 1.5, BAR - 1.6], true) : outline;
  };

/** Three quarters of a ring and an arrow's head at its upper end: the sign of a compaction, which is two cells wide in some fonts. */
const turn: Drawer['path'] = (left, top) => {
  const at = (x: number, y: number): string => `${number(left + x)} ${number(top + y)}`;
  return `M${at(6.9, 11.7)}a3.5 3.5 0 1 1 -0.6 -5l-0.8 0.8a2.4 2.4 0 1 0 0.4 3.4zM${at(7.7, 5.2)}v3.6h-3.6z`;
};

const others: Readonly<Record<string, Drawer>> = {
  '╭': { isWide: false, path: corner(true, true) },
  '╮': { isWide: false, path: corner(false, true) },
  '╰': { isWide: false, path: corner(true, false) },
  '╯': { isWide: false, path: corner(false, false) },
  '╌': { isWide: false, path: dashes(2) },
  '┄': { isWide: false, path: dashes(3) },
  '⏵': {
    isWide: false,
    path: (left, top) => `M${number(left + 1)} ${number(top + 5)}l6.5 4l-6.5 4z`,
  },
  '⟳': { isWide: false, path: turn },
  '▰': { isWide: false, path: bar(false) },
  '▱': { isWide: false, path: bar(true) },
};
