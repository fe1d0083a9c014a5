// Stands in for src/main-thread/wrap.ts in the program that changed-program.ts builds: an overview that only says its name.
import { own } from '../../src/core/printable.js';
import { type Started, wrap as wrapWith } from '../../src/main-thread/wrap.js';
import type { LaunchSession } from '../../src/session/options.js';

export const wrap = (session: LaunchSession, started: Started) =>
  wrapWith(session, started, (_, close) => ({
    contents: {
      draw: ({ columns, rows }) =>
        Array.from({ length: rows }, (_, row) => own`overview ${columns}x${rows} row ${row}`),
      onKey: (key) => {
        if (key === 'q' || key === 'escape') close();
      },
    },
    onDrawn: () => undefined,
  }));
