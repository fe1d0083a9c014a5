import type { InvisibleReason } from '../core/compaction/policy.js';
import {
  directAction,
  initialOverviewState,
  isChoicePage,
  pressOverviewKey,
  type OverviewKeyResult,
  type OverviewState,
} from '../core/overview-keys.js';
import { openedAgain, selectionAt } from '../core/conversation/recap-selection.js';
import { BACKSPACE } from '../core/terminal-input.js';
import { notificationSequence } from '../terminal/notification.js';
import { makeVisibilityCheck, type Footer, type VisibilityParts } from './footer.js';
import type { HeldKeys, Keyboard } from './keyboard.js';
import { makeLateKeys } from './late-keys.js';
import { noOverviewNotice, type Overview, type OverviewContents, type OverviewTour } from './overview.js';
import type { Resize } from './resize.js';
import type { WorkerListener, WorkerRequest } from './worker-host.js';
import type { TerminalSession } from './terminal-session.js';
import { endsWithin } from '../storage/timing.js';
import type { FooterDrawing, OverviewDrawing, WantedOverview } from '../session/thread-messages.js';
import type { IdleWriter } from './idle-writer.js';

// Carries out what the worker asks for: shows the footer and the overview, holds the user's keys, and writes the wrapper's keys.

/** The overview's contents, which the worker draws. */
export interface WorkerContents {
  readonly contents: OverviewContents;
  readonly onDrawn: (drawing: OverviewDrawing) => void;
}

const DRAWN_MS = 10_000; // a busy machine takes seconds to load what draws it; a worker that hangs is noticed sooner
// The hotkey directly followed by the key of an action: the user wants its result, not the overview. Before a worker runs it is no chord:
// the user may type a message.
const CHORD_MS = 1_000;

const wantedOverview = (
  { filter: { grid }, background }: Pick<TerminalSession, 'filter' | 'background'>,
  { page, scroll, limit, recap }: OverviewState,
): WantedOverview => {
  const size = { columns: grid.columns, rows: grid.terminalRows };
  return { size, page, scroll, limit, recap, background };
};

/** What changes more than the overview. */
const effectOf = ({ action }: OverviewKeyResult) => (action === 'close' ? undefined : action);

const postStep = (worker: TerminalSession['worker'], step: OverviewKeyResult): void => {
  const [action, answer] = [effectOf(step), step.answer];
  if (action !== undefined) worker.post({ type: 'overview-action', action });
  if (answer) worker.post({ type: 'chosen', answer });
};

/** None of a drawing for another size. */
const rowsFor = (
  drawing: OverviewDrawing | undefined,
  { columns, rows }: OverviewDrawing['size'],
): OverviewDrawing['rows'] =>
  drawing?.size.columns === columns && drawing.size.rows === rows ? drawing.rows : [];

/** What the drawing says of the page that it shows. */
const afterDrawing = (
  state: OverviewState,
  { page, scroll, most, shown, marked, recap }: OverviewDrawing,
): OverviewState => ({
  ...state,
  ...(page === state.page
    ? { most, shown, scroll: recap ? scroll : Math.min(state.scroll, most), shownRecap: recap }
    : {}),
  ...(page === state.page && recap ? { recap: selectionAt(recap.at, state.recap) } : {}),
  ...(marked === undefined ? {} : { limit: { choice: marked, ...state.limit } }),
});

/** Keys act here, because the next one may be for the child already; only what they show comes from the worker. */
export const makeWorkerContents = (
  terminal: Pick<TerminalSession, 'worker' | 'filter' | 'background' | 'isOverviewUndrawable'>,
  close: () => void,
): WorkerContents => {
  const { worker } = terminal;
  let state = initialOverviewState;
  let chordUntil: number | undefined; // undefined while it is closed
  let drawing: OverviewDrawing | undefined;
  let onFirst: (() => void) | undefined;
  const late = makeLateKeys();

  const ask = (): void => worker.post({ type: 'draw-overview', wanted: wantedOverview(terminal, state) });
  const contents: OverviewContents = {
    isAvailable: () => !worker.isOver() && !terminal.isOverviewUndrawable,
    load: async () => {
      chordUntil ??= worker.isReady() ? performance.now() + CHORD_MS : -Infinity; // not anew after a change of size
      const loaded = new Promise<void>((resolve) => (onFirst = resolve));
      ask();
      if (!(await endsWithin(DRAWN_MS, loaded))) throw new Error('the worker does not draw it');
    },
    draw: (size) => rowsFor(drawing, size),
    showsNext: () => drawing?.page === 'main' && drawing.scroll === 0,
    onKey: (key, { isSeen, isByItself }) => {
      if (key === 'enter' && !(isSeen && isChoicePage(state.page) && drawing?.page === state.page)) return; // nobody sees what it takes
      const step = pressOverviewKey(state, key);
      const action = directAction(step.action);
      // the user is present, and has not asked for something to be typed
      if (!action && !isByItself && !key.startsWith('wheel')) worker.handle({ type: 'user-keys' });
      const isChord = action !== undefined && performance.now() < (chordUntil ?? 0);
      chordUntil = -Infinity; // any other key in between cancels it
      if (effectOf(step) && !isChord && !isSeen) return; // typed blind, perhaps for the agent
      ({ state } = step);
      postStep(worker, step);
      if (step.answer) late.noteTaken();
      if (isChord || step.answer || step.action === 'close') close();
      else ask();
    },
    late,
    onClose: (isByItself) => {
      if (isByItself && isChoicePage(state.page)) late.noteLost();
      [drawing, onFirst, chordUntil] = [undefined, undefined, undefined];
      state = { ...initialOverviewState, recap: openedAgain(state.recap) };
      worker.post({ type: 'overview-closed' });
    },
  };
  return {
    contents,
    onDrawn: (next) => {
      if (onFirst && next.page !== state.page) return; // a key has asked for another page before it was shown
      drawing = next;
      state = afterDrawing(state, next);
      onFirst?.();
      onFirst = undefined;
    },
  };
};

export interface WorkerParts extends VisibilityParts {
  readonly footer: Footer;
  readonly overview: Overview | undefined;
  readonly overviewTour?: Pick<OverviewTour, 'noteCompactions'>;
  readonly onDrawn: WorkerContents['onDrawn'];
  readonly resize: Pick<Resize, 'check' | 'force'>;
  readonly keyboard: Pick<Keyboard, 'hold' | 'type'>;
  readonly idleWriter: IdleWriter;
  /** the last worker has failed */
  readonly onLost: () => void;
}

const LOOK_MS = 250; // between two checks of whether a countdown can be seen

/** Tells the worker when it changes whether a countdown can be seen. */
const watchVisibility = (parts: VisibilityParts) => {
  const check = makeVisibilityCheck(parts);
  let last: InvisibleReason | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const unseen = check();
    if (unseen !== last) parts.terminal.worker.post({ type: 'visibility', unseen });
    last = unseen;
  };
  return {
    look,
    /** as long as a compaction is due */
    watch: (isDue: boolean): void => {
      if (isDue) timer ??= setInterval(look, LOOK_MS).unref();
      else {
        clearInterval(timer);
        timer = undefined;
      }
    },
    forget: (): void => {
      last = undefined;
    },
  };
};

const PING_MS = 500; // while keys are held, nothing else may be sent to the worker, and one that hangs must be noticed
const ERASED_MS = 100; // for the agent to read Backspaces before the keys behind them

/** What ctxwrap has written to the prompt in one hold and still stands there. */
const makeWritten = () => {
  let text = '';
  let isSubmitted = false;
  return {
    note: (bytes: Uint8Array): void => {
      const written = Buffer.from(bytes)
        .toString()
        .replaceAll(/\x1b\[20[01]~/g, '');
      isSubmitted ||= written.includes('\r');
      for (const char of written) {
        if (char === BACKSPACE) text = text.slice(0, -1);
        else if (char >= ' ') text += char;
      }
    },
    isSubmitted: () => isSubmitted,
    count: () => text.length,
  };
};

interface Hold {
  readonly id: number;
  readonly keys: HeldKeys;
  readonly written: ReturnType<typeof makeWritten>;
  readonly pinging: NodeJS.Timeout;
}

/** The user's keys that are held for the worker, and the wrapper's own keys. */
const makeTyping = ({ terminal, keyboard }: Pick<WorkerParts, 'terminal' | 'keyboard'>) => {
  const { counters, worker, session } = terminal;
  let held: Hold | undefined;
  const holdOf = (id: number | undefined): Hold | undefined => (held?.id === id ? held : undefined);
  const end = (): Hold | undefined => {
    const hold = held;
    clearInterval(hold?.pinging);
    held = undefined;
    return hold;
  };
  return {
    hold: (id: number, typed: number): void => {
      const isUntouched = counters.get('typed') === typed;
      if (isUntouched) {
        end();
        const pinging = setInterval(() => worker.post({ type: 'ping' }), PING_MS).unref();
        held = { id, keys: keyboard.hold(), written: makeWritten(), pinging };
      }
      worker.post({ type: 'held', id, isHeld: isUntouched });
    },
    releaseOne: (id: number, behind: number): void => holdOf(id)?.keys.releaseOne(behind),
    release: (id: number): void => {
      if (holdOf(id)) end()?.keys.release();
    },
    write: (bytes: Uint8Array, id: number | undefined, typed: number): void => {
      const hold = holdOf(id);
      if (hold || counters.get('typed') === typed) keyboard.type(bytes);
      else session.log.info('keys for the agent were not written: the user has typed since');
      hold?.written.note(bytes);
    },
    /**
     * The worker has failed. What it has typed is erased before the user's keys follow. After Enter nobody knows what is on the screen, and
     * a key that was meant for the prompt could answer a dialog: then the held keys are dropped.
     */
    abandon: (): void => {
      const hold = end();
      if (!hold) return;
      const { keys, written } = hold;
      if (written.isSubmitted()) {
        const count = keys.waitingCount();
        if (count > 0)
          session.log.warn(`${count} reads of your keys behind the compact command were dropped`);
        return keys.drop();
      }
      if (written.count() === 0) return keys.release();
      keyboard.type(Buffer.from(BACKSPACE.repeat(written.count())));
      setTimeout(keys.release, ERASED_MS);
    },
  };
};

/** The worker cannot draw it: it is not offered any more, and the footer says so. */
const giveUpOverview = ({
  terminal,
  overview,
  footer,
}: Pick<WorkerParts, 'terminal' | 'overview' | 'footer'>): void => {
  terminal.isOverviewUndrawable = true;
  overview?.closeByItself();
  footer.redraw(); // its hint names the overview
  terminal.worker.handle(noOverviewNotice(terminal));
};

/**
 * The worker that was to draw it has failed. Where it has failed before it could draw anything, the overview opens as soon as the next one
 * can: drawing may have been what made another one fail, and there are only two.
 */
const letGoOfOverview = (
  { terminal, overview }: Pick<WorkerParts, 'terminal' | 'overview'>,
  wasReady: boolean,
): void => {
  const isStillWanted = !wasReady && overview?.isUnseen() === true;
  overview?.close();
  terminal.isOverviewUndrawable = false;
  if (isStillWanted) overview?.open();
};

/** Carries out the worker's requests. */
export const serveWorker = (parts: WorkerParts): WorkerListener => {
  const { terminal, footer, overview, overviewTour, resize, idleWriter, onDrawn, onLost } = parts;
  const { session, filter } = terminal;
  const visibility = watchVisibility(parts);
  const typing = makeTyping(parts);

  const show = (drawing: FooterDrawing): void => {
    const { due, compactions, row } = drawing;
    if (row !== undefined) terminal.isOverviewUndrawable = false;
    if (due !== 'asked') terminal.isRowWanted = due !== undefined; // no change of size while a request is carried out
    resize.check();
    footer.show(drawing);
    overviewTour?.noteCompactions(compactions);
    visibility.watch(due !== undefined);
  };
  const onRequest = (request: WorkerRequest): void => {
    switch (request.type) {
      case 'footer':
        return show(request.drawing);
      case 'look':
        return visibility.look();
      case 'hold':
        return typing.hold(request.id, request.typed);
      case 'release':
        return typing.release(request.id);
      case 'release-one':
        return typing.releaseOne(request.id, request.behind);
      case 'write':
        return typing.write(request.bytes, request.hold, request.typed);
      case 'notify':
        return idleWriter.send(() => notificationSequence(session.env, request.call, filter.grid.vt52));
      case 'restart':
        terminal.restart = request.plan;
        return undefined;
      case 'restart-taken':
        terminal.isRestartTaken = true;
        return undefined;
      case 'overview':
        onDrawn(request.drawing);
        return overview?.redraw();
      case 'close-overview':
        return request.isUndrawable ? giveUpOverview(parts) : overview?.closeByItself();
    }
  };
  const onFailure = (isLast: boolean, wasReady: boolean): void => {
    typing.abandon();
    terminal.restart = undefined; // nobody knows whether the agent was told to end
    letGoOfOverview(parts, wasReady);
    visibility.forget();
    visibility.watch(false);
    if (isLast) return onLost();
    if (terminal.isPassthrough) return;
    terminal.isRowWanted = false; // the next worker says whether something is due
    resize.check();
    footer.restart();
    void resize.force(); // the new worker knows nothing of the screen
  };
  return { onRequest, onFailure };
};
