import { Box, render, useInput, type Key } from 'ink';
import { memo, type ReactNode } from 'react';
import type { Printable } from '../core/printable.js';
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

// Ink looks at a row again only where its text has changed
const TopRow = memo(({ text }: { readonly text: Printable }) => (
  <Box height={1}>
    <Line wrap="truncate-end" text={{ printable: text }} />
  </Box>
));

const topRowsOf = (texts: readonly Printable[]): readonly ReactNode[] =>
  texts.map((text, index) => <TopRow key={index} text={text} />);

interface ScreenProps {
  readonly frame: TopFrame;
  readonly onKey: (input: string, key: Key) => void;
}

const Screen = ({ frame, onKey }: ScreenProps): ReactNode => {
  useInput(onKey);
  const { columns, rows, head, titles, lines, details, message, keys } = frame;
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      {topRowsOf([head, titles])}
      <Box flexDirection="column" flexGrow={1} flexShrink={1} overflow="hidden">
        {topRowsOf(lines)}
      </Box>
      <Box flexDirection="column" flexShrink={0}>
        {topRowsOf([...details, message, keys])}
      </Box>
    </Box>
  );
};

export interface TopScreen {
  /** draws a frame of the same size */
  readonly show: (frame: TopFrame) => void;
  /** gives raw mode back; nothing is drawn any more */
  readonly close: () => void;
}

export interface TopStreams {
  readonly stdin: NodeJS.ReadStream;
  /** gets what Ink writes for each frame, for `writtenRows` */
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
  const app = render(<Screen frame={first} onKey={onKey} />, {
    stdin,
    stdout: written,
    debug: true,
    exitOnCtrlC: false,
    patchConsole: false,
    isScreenReaderEnabled: false,
  });
  return {
    show: (frame) => app.rerender(<Screen frame={frame} onKey={onKey} />),
    close: () => {
      app.unmount();
      app.cleanup();
    },
  };
};

export type { Key as TopInputKey };
