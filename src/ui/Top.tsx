import { Box, render, useInput, type Key } from 'ink';
import type { Printable } from '../core/printable.js';
import { drawRows, Line } from './Line.js';

// What Ink does for `ctxwrap top`: it draws rows that are measured and painted already, and reads the keys.

/** One row for each text, at most so many columns wide. Ink takes every character apart, so give it only the rows that have changed. */
export const drawTopRows = (texts: readonly Printable[], columns: number): readonly Printable[] =>
  drawRows(
    <Box flexDirection="column">
      {texts.map((text, index) => (
        <Box key={index} height={1}>
          <Line wrap="truncate-end" text={{ printable: text }} />
        </Box>
      ))}
    </Box>,
    columns,
    false,
  );

type OnKey = (input: string, key: Key) => void;

const Keys = ({ onKey }: { readonly onKey: OnKey }): undefined => {
  useInput(onKey);
};

/**
 * Takes raw mode, and tells each key; the returned function gives raw mode back. What Ink itself would draw goes `nowhere`: its updates move
 * the cursor by rows that it believes to have drawn, which fails when the terminal's size changes.
 */
export const readKeys = (
  stdin: NodeJS.ReadStream,
  nowhere: NodeJS.WritableStream,
  onKey: OnKey,
): (() => void) => {
  const app = render(<Keys onKey={onKey} />, {
    stdin,
    stdout: Object.assign(nowhere, { columns: 1, rows: 1 }) as NodeJS.WriteStream,
    debug: true, // no clean-up of a screen, with CI set as without
    exitOnCtrlC: false,
    patchConsole: false,
    isScreenReaderEnabled: false,
  });
  return () => {
    app.unmount();
    app.cleanup();
  };
};

export type { Key as TopInputKey };
