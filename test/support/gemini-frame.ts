import type { ScreenResult } from '../../src/agents/agent.js';
import { geminiScreen } from '../../src/agents/gemini/screen.js';
import { readScreens, seenAfter } from './drawn-screen.js';

/** One screen of Gemini, laid out as Gemini does it (docs/facts/gemini.md#percentage-on-the-screen, #older-versions). */
export interface GeminiFrame {
  /** rows of the conversation, unchanged */
  readonly conversation?: readonly string[];
  /** rows between the conversation and the input box */
  readonly live?: readonly string[];
  /** lines of a draft, the cursor behind the last; the placeholder where there is none */
  readonly draft?: readonly string[];
  readonly placeholder?: string;
  readonly mode?: string;
  /** the rows below the input box */
  readonly footer?: readonly string[];
  readonly title?: string;
  readonly box?: keyof typeof frames;
  readonly columns?: number;
}

/** Upper and lower edge of the input box by version. */
const frames = { new: ['▄', '▀'], '0.30': ['▀', '▄'], line: ['─', '─'], '0.20': ['╭', '╰'] } as const;

export const READY = '◇  Ready (app)';
export const PLACEHOLDER = '  Type your message or @path/to/file';
const STATUS = [
  '                              ? for shortcuts',
  '──────────────────────────────',
  ' Shift+Tab to accept edits',
];

/** Headers above their values, as Gemini aligns its last column. */
export const columnsOf = (headers: readonly string[], values: readonly string[]): readonly string[] => {
  const widths = headers.map((header, index) => Math.max(header.length, values[index]?.length ?? 0));
  const row = (cells: readonly string[]) =>
    ` ${cells.map((cell, index) => (index === cells.length - 1 ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0))).join('   ')}`;
  return [row(headers), row(values)];
};

export const contextFooter = (value: string): readonly string[] =>
  columnsOf(
    ['workspace (/directory)', 'sandbox', '/model', 'context'],
    ['/app', 'no sandbox', 'Auto', value],
  );

export const seenGemini = ({ columns = 120, ...frame }: GeminiFrame) =>
  seenAfter(bytesOf(frame, columns), { columns, rows: 40 });

const bytesOf = (frame: GeminiFrame, columns: number): string => {
  const { conversation = [], live = STATUS, footer = [], box = 'new', title = READY, mode = '>' } = frame;
  const lines = frame.draft ?? [frame.placeholder ?? PLACEHOLDER];
  const isRound = box === '0.20';
  const edge = (glyph: string) => (isRound ? '─'.repeat(columns - 2) : glyph.repeat(columns));
  const [top, bottom] = frames[box];
  const inside = lines.map((line, index) => {
    const text = `${index === 0 ? ` ${mode} ` : '   '}${line}`;
    const cells = frame.draft || !isRound ? text : `${text.slice(0, 3)}\x1b[7m \x1b[27m${text.slice(4)}`;
    return isRound ? `│${cells}${' '.repeat(Math.max(0, columns - 2 - text.length))}│` : cells;
  });
  const upper = isRound ? `╭${edge(top)}╮` : edge(top);
  const lower = isRound ? `╰${edge(bottom)}╯` : edge(bottom);
  const above = [...conversation, '', ...live].slice(-(38 - lines.length - footer.length));
  const rows = [...above, upper, ...inside, lower, ...footer];
  const cursorRow = isRound ? rows.length + 1 : above.length + 1 + lines.length;
  const cursorColumn = isRound ? 1 : frame.draft ? 4 + (lines.at(-1) ?? '').length : 4;
  return [
    `\x1b]0;${title}\x07`,
    rows.map((text, index) => `\x1b[${index + 1};1H${text}`).join(''),
    `\x1b[${cursorRow};${cursorColumn}H`,
  ].join('');
};

/** The events of the reader for these frames, one after another. */
export const lookAt = (...shown: readonly GeminiFrame[]): Promise<readonly ScreenResult[]> =>
  readScreens(geminiScreen, shown.map(seenGemini));

export const percents = (step: ScreenResult | undefined): readonly unknown[] =>
  (step?.facts ?? []).flatMap((fact) => (fact.type === 'reading' ? [fact.reading.usedPercent] : []));

export const boundaries = (steps: readonly ScreenResult[]): readonly unknown[] =>
  steps.flatMap(({ facts }) => facts.flatMap((fact) => (fact.type === 'boundary' ? [fact.boundary] : [])));
