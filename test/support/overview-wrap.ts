// Stands in for src/main-thread/wrap.ts in the program that changed-program.ts builds: an overview that only says its name.
import { own } from '../../src/core/printable.js';
import type { SttyProcess } from '../../src/terminal/stty-process.js';
import { wrap as wrapWith } from '../../src/main-thread/wrap.js';
import type { WrapSession } from '../../src/session/options.js';
import type { StartThread } from '../../src/main-thread/worker-host.js';

export const wrap = (session: WrapSession, sttyProcess: SttyProcess, startThread: StartThread) =>
  wrapWith(session, sttyProcess, startThread, (_, close) => ({
    contents: {
      draw: ({ columns, rows }) =>
        Array.from({ length: rows }, (_, row) => own`overview ${columns}x${rows} row ${row}`),
      onKey: (key) => {
        if (key === 'q' || key === 'escape') close();
      },
    },
    onDrawn: () => undefined,
  }));
