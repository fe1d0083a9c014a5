import { Box, render, Text, useInput, type Key } from 'ink';
import { memo, type ReactNode } from 'react';

// `ctxwrap top`: a live Ink app that fills the terminal's other screen. It draws rows that are already measured and painted, and tells
// which keys are pressed.

/** What is on the screen. All texts fit into the width, and hold no other sequences than SGR. */
export interface TopFrame {
  readonly columns: number;
  /** rows of the terminal */
  readonly rows: number;
  readonly head: readonly [left: string, right: string];
  readonly titles: string;
  readonly lines: readonly string[];
  /** below the table: about the selected session */
  readonly details: readonly string[];
  /** a question, the filter, or what has happened; '' where there is nothing to say */
  readonly message: string;
  readonly keys: string;
}

/** One row, which is only worked out again when its text changes. */
const Line = memo(({ text }: { readonly text: string }) => (
  <Box height={1}>
    <Text wrap="truncate-end">{text === '' ? ' ' : text}</Text>
  </Box>
));

interface ScreenProps {
  readonly frame: TopFrame;
  readonly onKey: (input: string, key: Key) => void;
}

const Screen = ({ frame, onKey }: ScreenProps): ReactNode => {
  useInput(onKey);
  const { columns, rows, head, titles, lines, details, message, keys } = frame;
  const [left, right] = head;
  return (
    <Box flexDirection="column" width={columns} height={rows} overflow="hidden">
      <Box height={1} justifyContent="space-between">
        <Text wrap="truncate-end">{left}</Text>
        <Text wrap="truncate-end">{right}</Text>
      </Box>
      <Line text={titles} />
      <Box flexDirection="column" flexGrow={1} overflow="hidden">
        {lines.map((text, index) => (
          <Line key={index} text={text} />
        ))}
      </Box>
      {details.map((text, index) => (
        <Line key={index} text={text} />
      ))}
      <Line text={message} />
      <Line text={keys} />
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
  /** gets each frame whole, as rows with newlines between them */
  readonly frames: NodeJS.WriteStream;
}

/**
 * Takes raw mode and draws the first frame. Ink's `debug` mode gives whole frames, with CI set as without: its own updates move the cursor
 * by rows that it believes to have drawn, which fails when the terminal's size changes.
 */
export const openTop = (
  first: TopFrame,
  onKey: (input: string, key: Key) => void,
  { stdin, frames }: TopStreams,
): TopScreen => {
  const app = render(<Screen frame={first} onKey={onKey} />, {
    stdin,
    stdout: frames,
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
