import { Box } from 'ink';
import type { PartName } from '../core/report/context-report.js';
import { present } from '../core/present.js';
import type { Printable, Styled } from '../core/printable.js';
import type { Bar, Emphasis, Report, Row, Section } from '../core/report/report-sections.js';
import { drawRows, Line, Words } from './Line.js';
import type { Look } from '../core/look.js';
import { UsageChart } from './UsageChart.js';
import { shorten, widthOf, makeTextsSafe } from './text.js';
import { glyphsOf, makeTheme, type Glyphs, type Theme } from './theme.js';

// A report as rows of text, for the overview and for `ctxwrap context`.

interface PartLook {
  readonly glyph: 'full' | 'fresh' | 'empty' | 'reserved';
  readonly tone: 'bar' | 'soft' | 'quiet';
}

const partLooks: Readonly<Record<PartName, PartLook>> = {
  used: { glyph: 'full', tone: 'bar' },
  cached: { glyph: 'full', tone: 'bar' },
  fresh: { glyph: 'fresh', tone: 'soft' },
  system: { glyph: 'full', tone: 'bar' },
  messages: { glyph: 'fresh', tone: 'soft' },
  files: { glyph: 'full', tone: 'bar' },
  tools: { glyph: 'fresh', tone: 'soft' },
  answer: { glyph: 'fresh', tone: 'soft' },
  free: { glyph: 'empty', tone: 'quiet' },
  buffer: { glyph: 'reserved', tone: 'quiet' },
};

interface Drawn {
  readonly columns: number;
  readonly paints: Theme;
  readonly glyphs: Glyphs;
  /** of the chart */
  readonly chartRows: number;
}

const GAP = 2;
const [LEAST_LABEL, MOST_LABEL] = [6, 20]; // columns
const LEAST_TEXT = 30; // columns beside numbers; with fewer, the text goes on rows below them
const FILL_COLUMNS = 5; // `>100%`, `~100%`
const TIER_COLUMNS = 4;

const BarRows = ({ bar, columns, paints, glyphs }: Drawn & { readonly bar: Bar }) => {
  const { parts, marks, fill, tier } = bar;
  const beside = 1 + Math.max(FILL_COLUMNS, widthOf(fill)) + (tier ? GAP + TIER_COLUMNS : 0);
  const cells = parts.length > 0 ? Math.max(1, columns - beside) : 0;
  return (
    <Box flexDirection="column">
      <Line
        wrap="truncate-end"
        text={[
          cellTexts(parts, cells, { paints, glyphs }),
          ' '.repeat(cells > 0 ? Math.max(1, 1 + FILL_COLUMNS - widthOf(fill)) : 0),
          paints.percent(fill),
          tier ? ['  ', paints.tier(tier)] : '',
        ]}
      />
      {marks.length > 0 && <Line text={paints.quiet(markTexts(marks, cells, columns))} />}
    </Box>
  );
};

/** The names of the tiers at their places below the bar, those that have room: `warn╵   auto╵╵hard`. */
const markTexts = (marks: Bar['marks'], cells: number, columns: number): string => {
  const row: string[] = Array.from({ length: columns }, () => ' ');
  const put = (text: string, at: number): boolean => {
    const around = row.slice(Math.max(0, at - 1), at + text.length + 1);
    const isFree =
      at >= 0 && at + text.length <= columns && around.every((cell) => cell === ' ' || cell === '╵');
    const isOwn = row.slice(at, at + text.length).every((cell) => cell === ' ');
    if (isFree && isOwn) row.splice(at, text.length, ...text);
    return isFree && isOwn;
  };
  const places = marks.map(({ name, share }) => ({
    name,
    at: Math.min(cells - 1, Math.floor(share * cells)),
  }));
  for (const { at } of places) row[at] = '╵';
  for (const { name, at } of places.toReversed()) {
    const isLast = name === 'hard';
    if (!isLast || !put(name, at + 1)) put(name, at - name.length);
  }
  return row.join('').trimEnd();
};

/** The cells of all parts add up to the bar; every part in use has at least one. */
const cellTexts = (
  parts: Bar['parts'],
  cells: number,
  { paints, glyphs }: Pick<Drawn, 'paints' | 'glyphs'>,
): Styled => {
  let share = 0;
  let drawn = 0;
  return parts.map((part, index) => {
    share += part.share;
    const least = index === 0 && part.share > 0 ? 1 : 0;
    const upTo = index === parts.length - 1 ? cells : Math.max(least, Math.round(share * cells));
    const count = Math.max(drawn, upTo) - drawn;
    drawn += count;
    const { glyph, tone } = partLooks[part.name];
    return paints[tone](glyphs[glyph].repeat(count));
  });
};

/** The widths that the rows of a section share. */
interface Cells {
  readonly label: number;
  readonly values: readonly number[];
}

const cellsOf = ({ rows, valueColumns = 0 }: Section, columns: number): Cells => {
  const count = Math.max(0, ...rows.map(({ values = [] }) => values.length));
  const values = Array.from({ length: count }, (_, index) =>
    Math.max(index === 0 ? valueColumns : 0, ...rows.map((row) => widthOf(row.values?.[index] ?? ''))),
  );
  const taken = values.reduce((sum, width) => sum + GAP + width, 0);
  const hasSigns = rows.some(({ sign }) => sign !== undefined);
  const labels = rows.flatMap(({ label }) => (label === undefined ? [] : [widthOf(label)]));
  const widest = labels.length === 0 ? 0 : Math.min(MOST_LABEL, Math.max(LEAST_LABEL, ...labels));
  return { label: Math.max(0, Math.min(widest + (hasSigns ? 2 : 0), columns - taken)), values };
};

interface RowProps extends Drawn {
  readonly row: Row;
  readonly cells: Cells;
  /** of a label without values */
  readonly labelTone: Emphasis;
  readonly hasSigns: boolean;
}

const RowBox = ({ row, cells, columns, paints, glyphs, labelTone, hasSigns }: RowProps) => {
  const { label, values = [], text = '', emphasis = 'plain', isOneLine, notes = [] } = row;
  const isTable = values.length > 0;
  const head = paints[isTable ? emphasis : labelTone];
  const paint = paints[isTable && !isOneLine ? 'quiet' : isTable ? 'plain' : emphasis];
  const taken = [...(cells.label > 0 ? [cells.label] : []), ...cells.values];
  const room = columns - taken.reduce((sum, width) => sum + width + GAP, 0);
  const isBelow = isTable && !isOneLine && room < LEAST_TEXT;
  const sign = hasSigns ? [signText(row, { paints, glyphs }), ' '] : [];
  const labelRoom = cells.label - sign.length; // Ink's own truncation can leave half of a wide character
  return (
    <Box flexDirection="column">
      <Box flexDirection={isBelow ? 'column' : 'row'} columnGap={GAP}>
        {(isTable || label !== undefined) && (
          <Box columnGap={GAP} flexShrink={0}>
            {label !== undefined && cells.label > 0 && (
              <Box width={cells.label} flexShrink={0}>
                <Line text={[sign, head(shorten(label, labelRoom))]} />
              </Box>
            )}
            {values.map((value, index) => (
              <Box key={index} width={cells.values[index] ?? 0} flexShrink={0} justifyContent="flex-end">
                <Line text={head(value)} />
              </Box>
            ))}
          </Box>
        )}
        {text !== '' && (
          <Box flexShrink={1} marginLeft={isBelow ? 4 : 0}>
            {isOneLine ? <Line text={paint(shorten(text, room))} /> : <Words text={text} paint={paint} />}
          </Box>
        )}
      </Box>
      {notes.map((note, index) => (
        <Box key={index} marginLeft={2}>
          <Words text={note} paint={paints.quiet} />
        </Box>
      ))}
    </Box>
  );
};

/** One column wide. */
const signText = ({ sign }: Row, { paints, glyphs }: Pick<Drawn, 'paints' | 'glyphs'>): Styled => {
  if (sign === undefined || sign === 'none') return ' ';
  if (sign === 'reached') return paints.bar('▶'); // the word of the tier may be in reverse video
  const { glyph, tone } = partLooks[sign];
  return paints[tone](glyphs[glyph]);
};

const INDENT = 2;
const LEAST_INDENTED = 36; // columns

const SectionBox = ({
  section,
  columns,
  paints,
  glyphs,
  chartRows,
}: Drawn & { readonly section: Section }) => {
  const { title, bar, usage, rows, hasKeys } = section;
  const indent = title !== undefined && columns >= LEAST_INDENTED ? INDENT : 0;
  const inner: Drawn = { columns: columns - indent, paints, glyphs, chartRows };
  const cells = cellsOf(section, inner.columns);
  const hasSigns = rows.some(({ sign }) => sign !== undefined);
  return (
    <Box flexDirection="column">
      {title !== undefined && <Line wrap="truncate-end" text={paints.accent(title)} />}
      <Box flexDirection="column" marginLeft={indent}>
        {bar && <BarRows bar={bar} {...inner} />}
        {usage && <UsageChart usage={usage} columns={inner.columns} rows={chartRows} paints={paints} />}
        {rows.map((row, index) => (
          <RowBox
            key={index}
            row={row}
            cells={cells}
            hasSigns={hasSigns}
            labelTone={hasKeys ? 'accent' : 'quiet'}
            {...inner}
          />
        ))}
      </Box>
    </Box>
  );
};

const LOW_CHART = 2; // rows

/** Cells of one shape where their tones tell them apart: those of other shapes differ in height. */
const partGlyphs = (look: Look): Glyphs => {
  const { colorLevel, hasStyles = colorLevel > 0, ascii } = look;
  const glyphs = glyphsOf(look);
  return hasStyles && !ascii ? { ...glyphs, fresh: glyphs.full } : glyphs;
};

/** The rows of a report, none wider than `look.columns`; `chartRows` is the height of the chart. */
export const renderReport = (
  { sections, tier, isStale = false }: Report,
  look: Look,
  chartRows = LOW_CHART,
): readonly Printable[] => {
  const { columns, ascii } = look;
  const paints = makeTheme(tier, look, isStale);
  const drawn: Drawn = { columns, paints, chartRows, glyphs: partGlyphs(look) };
  const shown = sections.filter(({ bar, usage, rows }) => bar ?? usage ?? rows.length > 0);
  const all = shown.map(({ usage, ...texts }) => ({ ...makeTextsSafe(texts), ...present({ usage }) }));
  return drawRows(
    <Box flexDirection="column" rowGap={1}>
      {all.map((section, index) => (
        <SectionBox key={index} section={section} {...drawn} />
      ))}
    </Box>,
    columns,
    ascii,
  );
};
