import { stat } from 'node:fs/promises';
import { nextMode, initialOverlayState, pressOverlayKey, type OverlayAction } from '../core/overlay-keys.js';
import { overlayReport } from '../core/overlay-report.js';
import type { ToolResult } from '../core/reading.js';
import { readLook } from '../ui/look.js';
import type { renderOverlay } from '../ui/Overlay.js';
import { hotkeyName } from './compactor.js';
import type { WrapSession } from './options.js';
import { readSessionFile } from './read-session-file.js';
import { runGuarded, type TerminalSession } from './terminal-session.js';
import { hotkeyCompactRequest, type MakeOverlayContents } from './wrap.js';

const MOST_BYTES = 32 * 1024 * 1024; // read in about half a second, in pieces, so that everything else goes on

/** What fills the window most, from the session file; undefined without a file. Never rejects. */
const largestResults = async (
  { agent, env, log }: Pick<WrapSession, 'agent' | 'env' | 'log'>,
  path: string | undefined,
): Promise<readonly ToolResult[] | undefined> => {
  if (path === undefined || !agent.log?.contents) return undefined;
  try {
    if ((await stat(path)).size > MOST_BYTES) return undefined;
    return (await readSessionFile({ path, agent: agent, env, now: Date.now() })).toolResults;
  } catch (error) {
    log.info(`the largest results cannot be read: ${String(error)}`);
    return undefined;
  }
};

// What the overlay shows of a session, and what its keys do.

// Ink takes 50 ms to load. It is loaded when the terminal has been silent for a while, so that no key waits for it, and the files are
// read before an update of ctxwrap can replace them; or at the first press of the hotkey.
const LOAD_AFTER_MS = 2_000;
const SILENCE_MS = 500;
const REDRAW_MS = 250;
const CHORD_MS = 1_000; // the hotkey directly followed by `c`: the user wants the action, not the overlay

/** The overlay's contents for a session; costs nothing while it is closed. */
export const makePanel: MakeOverlayContents = (overlay, terminal) => {
  const { session } = terminal;
  const renderer = loadRenderer(terminal);
  let state = initialOverlayState;
  let contents: readonly ToolResult[] | undefined;
  let ticking: NodeJS.Timeout | undefined;
  let chordUntil = Infinity;

  return {
    isAvailable: () => terminal.tracker !== undefined,
    load: renderer.load,
    noteOutput: renderer.noteOutput,
    draw: ({ columns, rows }) => {
      const flow = terminal.tracker?.flow();
      const render = renderer.loaded();
      if (!render || !flow) return [];
      const notice = flow.messages.notices.shown?.text;
      const facts = { ...flow, contents, notice, hotkey: hotkeyName(session.values) };
      const look = readLook(session.env, true, columns, session.values.theme);
      const { rows: texts, ...extent } = render(overlayReport(facts, state.page), {
        look,
        rows,
        scroll: state.scroll,
      });
      state = { ...state, ...extent };
      return texts;
    },
    showsNext: () => state.page === 'main' && state.scroll === 0,
    onKey: (key) => {
      if (key !== 'c' && !key.startsWith('wheel')) terminal.tracker?.handle({ type: 'user-keys' }); // the user is present
      const step = pressOverlayKey(state, key);
      ({ state } = step);
      if (step.action) act(terminal, step.action, overlay.close);
      const isChord = step.action === 'compact' && performance.now() < chordUntil;
      chordUntil = -Infinity; // any other key in between cancels it
      if (isChord) overlay.close();
      else overlay.redraw();
    },
    onOpen: () => {
      if (ticking !== undefined) return; // it reopens after a change of size, without having been closed
      chordUntil = Math.min(chordUntil, performance.now() + CHORD_MS);
      ticking = setInterval(
        () => void runGuarded(terminal, 'drawing the overlay', overlay.redraw),
        REDRAW_MS,
      ).unref();
      void largestResults(session, terminal.tracker?.sessionFile()).then((found) => (contents = found));
    },
    onClose: () => {
      clearInterval(ticking);
      ticking = undefined;
      state = initialOverlayState;
      chordUntil = Infinity;
    },
  };
};

type Render = typeof renderOverlay;

/** Loads the overlay's renderer, and starts to do so by itself when the child is silent. */
const loadRenderer = ({ session: { log } }: TerminalSession) => {
  let render: Render | undefined;
  let loading: Promise<void> | undefined;
  let outputAt = -Infinity;

  const load = async (): Promise<void> => {
    try {
      ({ renderOverlay: render } = await import('../ui/Overlay.js'));
      log.info('the overlay can be opened');
    } catch (error) {
      loading = undefined;
      log.error(`the overlay could not be loaded: ${String(error)}`);
      throw error;
    }
  };
  const start = (): Promise<void> => (loading ??= load());
  const loadWhenSilent = (): void => {
    const silentMs = performance.now() - outputAt;
    if (silentMs >= SILENCE_MS) start().catch(() => undefined);
    else setTimeout(loadWhenSilent, SILENCE_MS - silentMs).unref();
  };
  setTimeout(loadWhenSilent, LOAD_AFTER_MS).unref();
  return {
    loaded: () => render,
    load: () => (render ? undefined : start()),
    noteOutput: () => {
      outputAt = performance.now();
    },
  };
};

const act = (terminal: TerminalSession, action: OverlayAction, close: () => void): void => {
  switch (action) {
    case 'close':
      return close();
    case 'compact':
      return terminal.tracker?.handle(hotkeyCompactRequest());
    case 'postpone':
      return terminal.tracker?.handle({ type: 'postpone' });
    case 'mode':
      return changeMode(terminal);
    case 'proactive':
      return changeProactive(terminal);
  }
};

const changeProactive = ({ tracker }: TerminalSession): void =>
  tracker?.handle({ type: 'proactive', isProactive: !tracker.flow().compaction.isProactive });

/** In handoff mode nothing is ever typed without being asked for. */
const changeMode = ({ tracker, session }: TerminalSession): void => {
  const mode = tracker?.flow().compaction.mode;
  if (!tracker || mode === undefined) return;
  const next = nextMode(mode);
  const isNever = session.values.ladder === 'handoff' && next === 'auto';
  tracker.handle({ type: 'mode', mode: isNever ? nextMode(next) : next });
};
