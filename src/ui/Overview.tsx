import { Box } from 'ink';
import { own, type Printable, toPrintable } from '../core/printable.js';
import type { OverviewState } from '../core/overview-keys.js';
import type { OverviewReport } from '../core/report/overview-report.js';
import { drawRows, Line } from './Line.js';
import type { Look } from '../core/look.js';
import { renderReport } from './Report.js';
import { makeTextsSafe, widthOf } from './text.js';
import { makeTheme, type Theme } from './theme.js';

// The overview, which fills the terminal: session, report, and keys at the bottom.

interface FrameProps {
  readonly report: OverviewReport;
  /** in rows, those beside `q` last */
  readonly keyRows: readonly OverviewReport['keys'][];
  /** which rows of the contents are visible; '' when all are */
  readonly extent: string;
  /** of the contents, so that all rows end where they end */
  readonly columns: number;
  readonly paints: Theme;
}

/** The parts that do not scroll. */
const Frame = ({ report, keyRows, extent, columns, paints }: FrameProps) => (
  <Box flexDirection="column" width={columns}>
    <Box height={1} columnGap={2}>
      <Box flexShrink={0}>
        <Line text={paints.strong(report.runtime)} />
      </Box>
      <Line wrap="truncate-end" text={report.model ?? ''} />
      <Box flexGrow={1} flexBasis={0} justifyContent="flex-end">
        <Line wrap="truncate-end" text={paints.quiet(report.name)} />
      </Box>
      <Box flexShrink={0}>
        <Line text={paints.quiet(report.age)} />
      </Box>
    </Box>
    {keyRows.slice(0, -1).map((keys) => (
      <KeyHints key={keys.join()} keys={keys} paints={paints} />
    ))}
    <Box height={1} columnGap={KEY_GAP}>
      <KeyHints keys={keyRows.at(-1) ?? []} paints={paints} />
      <Box flexShrink={0} flexGrow={1} columnGap={KEY_GAP} justifyContent="space-between">
        <KeyHint name={CLOSING[0]} word={CLOSING[1]} paints={paints} />
        {extent !== '' && <Line text={paints.quiet(extent)} />}
      </Box>
    </Box>
  </Box>
);

interface KeyHintsProps {
  readonly keys: OverviewReport['keys'];
  readonly paints: Theme;
}

const KeyHints = ({ keys, paints }: KeyHintsProps) => (
  <Box height={1} columnGap={KEY_GAP} flexShrink={0}>
    {keys.map(([key, word]) => (
      <KeyHint key={key} name={key} word={word} paints={paints} />
    ))}
  </Box>
);

interface KeyHintProps {
  readonly name: string;
  readonly word: string;
  readonly paints: Theme;
}

const KeyHint = ({ name, word, paints }: KeyHintProps) => (
  <Box flexShrink={0}>
    <Line text={[paints.accent(name), ' ', paints.quiet(word)]} />
  </Box>
);

export interface OverviewRequest {
  /** `look.columns` is the width of the terminal */
  readonly look: Look;
  readonly rows: number;
  /** the first visible row of the contents */
  readonly scroll: number;
}

/** A drawn overview, with the height of its contents and how many rows of them fit. */
export interface OverviewFrame extends Pick<OverviewState, 'scroll' | 'most' | 'shown'> {
  /** one per terminal row: no newline, SGR as the only sequences, none wider than the terminal */
  readonly rows: readonly Printable[];
}

const WIDEST = 100; // columns; longer lines are hard to read
const LEAST_MARGINS = 20; // columns
const AIRY_ROWS = 14; // in a lower terminal there are no blank rows above and below the contents

export const renderOverview = (
  report: OverviewReport,
  { look, rows, scroll: wanted }: OverviewRequest,
): OverviewFrame => {
  const { columns, margin } = place(look.columns);
  const air = rows >= AIRY_ROWS ? [own``] : [];
  const contents = (part: OverviewReport): readonly Printable[] =>
    renderReport(part, { ...look, columns }, chartRowsIn(rows)); // Ink's work grows with every cell, so the margin is added afterwards
  const all = contents(report);
  const above = keysAboveIn(report, columns, all.length);
  const frameRows = above.length > 0 ? 3 : 2;
  const shown = Math.max(0, rows - frameRows - 2 * air.length);
  const most = Math.max(0, all.length - shown);
  const followed = withCursor(report, { scroll: wanted, shown }, (part) => contents(part).length);
  const scroll = Math.max(0, Math.min(most, followed));
  const body = withoutLoneTitle(all.slice(scroll, scroll + shown), report, all.length > scroll + shown);
  const extent = most === 0 ? '' : `${scroll + 1}-${scroll + shown}/${all.length}`;
  const beside = fitting(report.keys.slice(above.length), columns - closingWidth(extent));
  const [head = own``, ...keys] = drawRows(
    <Frame
      report={makeTextsSafe({ ...report, sections: [] })}
      keyRows={above.length > 0 ? [above, beside] : [beside]}
      extent={extent}
      columns={columns}
      paints={makeTheme(report.tier, look, report.isStale === true)}
    />,
    columns,
    look.ascii,
  );
  const rest = Array.from({ length: shown - body.length }, () => own``);
  const drawn = [head, ...air, ...body, ...rest, ...air, ...keys].slice(0, rows);
  return {
    rows: drawn.map((row) => (row === '' ? row : own`${toPrintable(' '.repeat(margin))}${row}`)),
    scroll,
    most,
    shown,
  };
};

const CLOSING = ['q', 'close'] as const;
const KEY_GAP = 2;

const widthOfKeys = (keys: OverviewReport['keys']): number =>
  keys.reduce((sum, [key, word]) => sum + widthOf(key) + 1 + widthOf(word) + KEY_GAP, 0) - KEY_GAP;

/** The first keys, as many as have room. */
const fitting = (keys: OverviewReport['keys'], room: number): OverviewReport['keys'] =>
  keys.slice(0, keys.findLastIndex((_, index) => widthOfKeys(keys.slice(0, index + 1)) <= room) + 1);

/** Beside the last keys. */
const closingWidth = (extent: string): number =>
  KEY_GAP + widthOfKeys([CLOSING]) + (extent === '' ? 0 : KEY_GAP + widthOf(extent));

/**
 * The keys that stand in a row above the others: none where all have room in one row, or not all must be seen. `height` is that of the contents.
 */
const keysAboveIn = (
  { keys, needsAllKeys }: OverviewReport,
  columns: number,
  height: number,
): OverviewReport['keys'] => {
  const most = `${height}-${height}/${height}`;
  return !needsAllKeys || widthOfKeys(keys) + closingWidth(most) <= columns ? [] : fitting(keys, columns);
};

/**
 * The first visible row, so that the row with the cursor is visible, with its title where it is the first one of its section. What stands above
 * all titles stays in view at the first row of all, unless not even the beginning of that would be.
 */
const withCursor = (
  report: OverviewReport,
  { scroll, shown }: Pick<OverviewFrame, 'scroll' | 'shown'>,
  heightOf: (part: OverviewReport) => number,
): number => {
  const { marked, sections } = report;
  const section = marked && sections[marked.section];
  if (!section) return scroll;
  const before = sections.slice(0, marked.section);
  const heightTo = (rows: number): number =>
    heightOf({
      ...report,
      sections: rows === 0 ? before : [...before, { ...section, rows: section.rows.slice(0, rows) }],
    });
  const [start, end] = [heightTo(marked.row), heightTo(marked.row + 1)];
  const isFirst = marked.row === 0 && before.every(({ title }) => title === undefined);
  const first = heightOf({ ...report, sections: [...before, { ...section, rows: [{ text: ' ' }] }] });
  return isFirst && first <= shown ? 0 : Math.min(start, Math.max(scroll, end - shown));
};

/** A title in the last row would stand alone: it comes with its section, as pages overlap by a row. */
const withoutLoneTitle = (
  body: readonly Printable[],
  { sections }: OverviewReport,
  isMoreBelow: boolean,
): readonly Printable[] => {
  const last = (body.at(-1) ?? '').replace(/\x1b\[[\d;]*m/g, '').trim();
  const isTitle = isMoreBelow && sections.some(({ title }) => title === last);
  return isTitle ? [...body.slice(0, -1), own``] : body;
};

/** The height of the chart, where the terminal has room for it and for what stands above it. */
const chartRowsIn = (rows: number): number => (rows >= 44 ? 8 : rows >= 34 ? 6 : rows >= 24 ? 4 : 2);

/** In a wide terminal the contents are centred. */
const place = (columns: number): { readonly columns: number; readonly margin: number } => {
  const least = columns < LEAST_MARGINS ? 0 : columns < 60 ? 1 : 2;
  const inner = Math.max(1, Math.min(WIDEST, columns - 2 * least));
  return { columns: inner, margin: Math.max(least, Math.floor((columns - inner) / 2)) };
};
