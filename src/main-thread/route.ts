import type { Event } from '../core/event.js';
import { errorStack } from '../core/errors.js';
import { hotkeyCompactRequest } from '../session/thread-messages.js';
import { resizeGrid } from '../terminal/filter/grid.js';
import { removeFooterSequence } from '../terminal/footer-sequences.js';
import { hangUp, signalHangUp } from './ending.js';
import type { Footer } from './footer.js';
import { isPixelMouseAsked } from './input-context.js';
import type { Emit, TerminalEvent } from './terminal-event.js';
import { noOverviewNotice } from './overview.js';
import type { Parts } from './session-parts.js';
import { armSttyProcess, armSttyProcessSoon, runGuarded, type TerminalSession } from './terminal-session.js';

// The loop of the main thread: what happens in a session, who reacts to it, and in which order. Parts know what they are built from, and
// emit everything else as an event. What the worker thread asks for is in worker-effects.ts.

/** Keyed by event. Each reaction ends before the part that has emitted the event goes on. */
type Reactions = {
  readonly [T in TerminalEvent['type']]: (
    parts: Parts,
    event: Extract<TerminalEvent, { readonly type: T }>,
  ) => void;
};

const reactions: Reactions = {
  // The child writes: a change of size comes first, then the bytes reach the terminal, then everything else looks at them.
  'child-output': ({ output, resize }, { bytes }) => output.fromChild(bytes, resize.check),
  'output-written': ({ terminal, footer, overview, titleAnimation, suspend, cursorQuery }, { bytes }) => {
    footer.noteOutput();
    overview.noteOutput();
    titleAnimation.noteOutput();
    suspend.noteOutput(bytes);
    const { modeTracker } = terminal.filter;
    if (modeTracker.takeChanged()) armSttyProcessSoon(terminal);
    if (isPixelMouseAsked(modeTracker)) cursorQuery.askCellHeight();
  },
  'cursor-unsure': ({ resize }) => resize.locate(),
  'child-drained': ({ terminal }) => terminal.tty.resumeInput(),
  'child-gone': ({ terminal: { session, tty, filter } }) => {
    session.log.info('the child is gone');
    if (!filter.modeTracker.queries.isOwnAnswerExpected()) tty.leaveInput(); // an answer to the wrapper must not be left
  },
  'child-ended': ({ ending }, { end }) => ending.finish(end),

  // The user types: the keyboard takes the hotkey and answers to ctxwrap, the overview its keys, and the child gets the rest.
  input: ({ keyboard }, { bytes }) => keyboard.fromUser(bytes),
  entered: ({ terminal }) => terminal.worker.post({ type: 'entered', at: Date.now() }),
  'input-forwarded': ({ suspend, titleAnimation }, { elements }) => {
    suspend.noteKeys(elements);
    titleAnimation.noteKeys(elements);
  },
  typed: ({ terminal }) => sendToWorker(terminal, { type: 'user-keys' }),
  'not-now': ({ terminal }) => {
    terminal.counters.add('typed', 1); // keys that the worker decided on before it knows must not be written
    sendToWorker(terminal, { type: 'postpone' });
    sendToWorker(terminal, { type: 'user-keys' });
  },
  'enter-held': ({ terminal }) => {
    terminal.counters.add('typed', 1); // as above
    sendToWorker(terminal, { type: 'enter-held' });
    sendToWorker(terminal, { type: 'user-keys' });
  },
  'hotkey-unused': ({ terminal, protection, overview, resize }) => {
    if (protection.onHotkey()) return;
    if (terminal.session.values.footer)
      return sendToWorker(terminal, noOverviewNotice(terminal, overview.hindrance()));
    terminal.isFooterWanted = !terminal.isFooterWanted; // there was none from the beginning
    resize.check();
  },
  'direct-action': ({ terminal }, { action }) =>
    action === 'compact'
      ? sendToWorker(terminal, hotkeyCompactRequest())
      : terminal.worker.post({ type: 'overview-action', action }),

  // The terminal answers, or is gone.
  'terminal-drained': ({ output }) => output.onDrained(),
  'background-known': ({ footer }) => footer.redraw(),
  'cursor-late': ({ resize }, { afterMs }) => void resize.realign(afterMs),
  'answer-made': ({ keyboard }, { elements }) => keyboard.forward(elements),
  'terminal-gone': ({ ending, terminal }) => hangUp(ending, terminal.child),

  // The size changes.
  'size-changed': ({ resize }) => void resize.check(),
  resizing: ({ overview }) => overview.pause(),
  resized: ({ terminal, footer, overview }) => {
    footer.refresh();
    armSttyProcess(terminal);
    overview.resume();
  },

  // Job control and signals.
  'suspend-asked': ({ suspend }) => suspend.suspend(),
  'process-changed': ({ suspend }) => suspend.noteChild(),
  suspending: ({ overview }) => overview.close(),
  resumed: ({ resize }) => void resize.force(),
  signal: ({ terminal, ending, overview }, { signal }) => {
    ending.isTerminating ||= signal === 'SIGTERM' || signal === 'SIGHUP'; // a child may keep running after the other signals
    if (signal !== 'SIGUSR1' && signal !== 'SIGUSR2') overview.close(); // the agent may print something because of the signal
    if (signal === 'SIGHUP') signalHangUp(ending, terminal.child);
    else terminal.child?.signal(signal);
  },

  // The overview opens and closes.
  'overview-opened': ({ overviewTour, hint }) => {
    if (!overviewTour.noteOpened()) hint.noteOpened();
  },
  'overview-key': ({ overviewTour }) => overviewTour.noteKey(),
  'overview-closed': ({ overviewTour }) => overviewTour.noteClosed(),
  'overview-left': ({ overview }) => overview.close(),
  uncovered: ({ footer }) => footer.noteOutput(),
  'hint-changed': ({ footer }) => footer.redraw(),

  // A part of ctxwrap has failed: the overview closes, and the child gets the terminal.
  failure: (parts) => fallBackToPassthrough(parts),
  'uncaught-error': (parts, { error }) => {
    parts.terminal.session.log.error(`unexpected: ${errorStack(error)}`);
    fallBackToPassthrough(parts);
  },
};

/** Carries out what an event means in a session. */
const route = (event: TerminalEvent, parts: Parts): void => {
  const react: (parts: Parts, event: never) => void = reactions[event.type];
  react(parts, event as never);
};

/** Where parts emit events before all of them are there: those that come earlier have nobody who could react. */
export const makeEvents = (): { readonly emit: Emit; readonly connect: (parts: Parts) => void } => {
  let parts: Parts | undefined;
  return {
    emit: (event) => {
      if (parts) route(event, parts);
    },
    connect: (all) => void (parts = all),
  };
};

/** Guarded, because a failure here must not look as if the keys had not been sent. */
const sendToWorker = (terminal: TerminalSession, event: Event): void => {
  runGuarded(terminal, 'noting the keys', () => terminal.worker.handle(event));
};

/** From here on bytes pass through unchanged, and the child gets the whole screen. Each step is guarded on its own. */
export const switchToPassthrough = (terminal: TerminalSession, footer: Pick<Footer, 'stop'>): void => {
  if (terminal.isPassthrough) return;
  const { grid } = terminal.filter;
  terminal.isPassthrough = true;
  terminal.session.log.error('going on as a plain passthrough');
  // the footer or the reading may be what has failed
  runGuarded(terminal, 'stopping the footer', () => footer.stop());
  runGuarded(terminal, 'stopping to read the screen', () => terminal.worker.post({ type: 'stop-reading' }));
  const size = terminal.tty.size();
  terminal.stateProxy?.stop();
  terminal.tty.write(removeFooterSequence(grid)); // before what is held, which may end in the middle of a sequence
  runGuarded(terminal, 'giving out what the filter holds', () => terminal.tty.write(terminal.filter.flush()));
  resizeGrid(grid, size.columns, size.rows, size.rows);
  terminal.child?.resize(size);
};

const fallBackToPassthrough = ({ terminal, footer, overview }: Parts): void => {
  runGuarded(terminal, 'closing the overview', () => void overview.stop());
  switchToPassthrough(terminal, footer);
};
