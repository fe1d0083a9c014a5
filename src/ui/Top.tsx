import { Box, render, useInput, type Key } from 'ink';
import { memo, type ReactNode } from 'react';
import { own, type Printable } from '../core/printable.js';
import { Line } from './Line.js';

// `ctxwrap top`: a live Ink app that fills the terminal's other screen. It draws rows that are already measured and painted, and tells
// which keys are pressed.

/** What is on the screen. All texts fit into the width. */
export interface TopFrame {
  readonly columns: number;
  /** rows of the terminal */
  readonly rows: number;
  readonly head: Printable;
  readonly titles: Printable;
  readonly lines: readonly Printable[];
  /** below the table: about the selected session */
  readonly details: readonly Printable[];
  /** a question, the filter, or what has happened; '' where there is nothing to say */
  readonly message: Printable;
  readonly keys: Printable;
}

const textsOf = ({ head, titles, lines, details, message, keys }: TopFrame): readonly Printable[] => [
  head,
  titles,
  ...lines,
  ...details,
  message,
  keys,
];

// Ink takes every character of a row apart, and puts it together again: with a screen of painted rows that is most of the work of the
// program. So for Ink a row is one character of the private use area, which stands for the text.
const FIRST_SIGN = 0xe000;

const SignedRow = memo(({ index }: { readonly index: number }) => (
  <Box height={1}>
    <Line text={String.fromCodePoint(FIRST_SIGN + index)} />
  </Box>
));

const signedRows = (first: number, count: number): readonly ReactNode[] =>
  Array.from({ length: count }, (_, index) => <SignedRow key={first + index} index={first + index} />);

interface ScreenProps {
  readonly frame: Pick<TopFrame, 'columns' | 'rows'> & { readonly lines: number; readonly details: number };
  readonly onKey: (input: string, key: Key) => void;
}

const Screen = ({ frame, onKey }: ScreenProps): ReactNode => {
  useInput(onKey);
  const { columns, rows, lines, details } = frame;
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      {signedRows(0, 2)}
      <Box flexDirection="column" flexGrow={1} flexShrink={1} overflow="hidden">
        {signedRows(2, lines)}
      </Box>
      <Box flexDirection="column" flexShrink={0}>
        {signedRows(2 + lines, details + 2)}
      </Box>
    </Box>
  );
};

const screenOf = (frame: TopFrame, onKey: ScreenProps['onKey']): ReactNode => {
  const { columns, rows, lines, details } = frame;
  return <Screen frame={{ columns, rows, lines: lines.length, details: details.length }} onKey={onKey} />;
};

/** The rows of a frame, from what Ink has written for it. */
export const topRows = (written: string, frame: TopFrame): readonly Printable[] => {
  const texts = textsOf(frame);
  return written.split('\n').map((row) => texts[(row.codePointAt(0) ?? 0) - FIRST_SIGN] ?? own``);
};

export interface TopScreen {
  /** draws a frame of the same size */
  readonly show: (frame: TopFrame) => void;
  /** gives raw mode back; nothing is drawn any more */
  readonly close: () => void;
}

export interface TopStreams {
  readonly stdin: NodeJS.ReadStream;
  /** gets what Ink writes for each frame, for `topRows` */
  readonly written: NodeJS.WriteStream;
}

/**
 * Takes raw mode and draws the first frame. Ink's `debug` mode gives whole frames, with CI set as without: its own updates move the cursor
 * by rows that it believes to have drawn, which fails when the terminal's size changes.
 */
export const openTop = (
  first: TopFrame,
  onKey: (input: string, key: Key) => void,
  { stdin, written }: TopStreams,
): TopScreen => {
  const app = render(screenOf(first, onKey), {
    stdin,
    stdout: written,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
    isScreenReaderEnabled: false,
  });
  return {
    show: (frame) => app.rerender(screenOf(frame, onKey)),
    close: () => {
      app.unmount();
      app.cleanup();
    },
  };
};

export type { Key as TopInputKey };
