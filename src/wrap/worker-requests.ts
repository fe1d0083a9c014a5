import type { InvisibleReason } from '../core/compaction/policy.js';
import type { FooterView } from '../core/footer-view.js';
import { initialOverlayState, pressOverlayKey } from '../core/overlay-keys.js';
import { notificationSequence } from '../terminal/notification.js';
import { makeVisibilityCheck, type Footer, type VisibilityParts } from './footer.js';
import type { Keyboard } from './keyboard.js';
import type { IdleWriter } from './notifier.js';
import type { Overlay, OverlayContents } from './overlay.js';
import { forceRepaint, type Resize } from './resize.js';
import type { WorkerListener, WorkerRequest } from './session-worker.js';
import { childSize, type TerminalSession } from './terminal-session.js';
import type { KeyHold } from './typing-steps.js';
import type { OverlayDrawing } from './worker-messages.js';

// Carries out what the worker asks for: shows the footer and the overlay, holds the user's keys, and writes the wrapper's keys.

/** The overlay's contents, which the worker draws. */
export interface WorkerContents {
  readonly contents: OverlayContents;
  readonly onDrawn: (drawing: OverlayDrawing) => void;
}

const CHORD_MS = 1_000; // the hotkey directly followed by `c`: the user wants the action, not the overlay

/** Keys act here, because the next one may be for the child already; only what they show comes from the worker. */
export const makeWorkerContents = (
  { worker, filter }: Pick<TerminalSession, 'worker' | 'filter'>,
  close: () => void,
): WorkerContents => {
  const { grid } = filter;
  let state = initialOverlayState;
  let chordUntil: number | undefined; // undefined while it is closed
  let drawing: OverlayDrawing | undefined;
  let onFirst: (() => void) | undefined;

  const ask = (): void => {
    const size = { columns: grid.columns, rows: grid.terminalRows };
    worker.post({ type: 'draw-overlay', wanted: { size, page: state.page, scroll: state.scroll } });
  };
  const contents: OverlayContents = {
    isAvailable: worker.isRunning,
    load: () => {
      chordUntil ??= performance.now() + CHORD_MS; // it opens again after a change of size, without having been closed
      const loaded = new Promise<void>((resolve) => (onFirst = resolve));
      ask();
      return loaded;
    },
    draw: ({ columns, rows }) =>
      drawing?.size.columns === columns && drawing.size.rows === rows ? drawing.rows : [],
    showsNext: () => drawing?.page === 'main' && drawing.scroll === 0,
    onKey: (key) => {
      if (key !== 'c' && !key.startsWith('wheel')) worker.handle({ type: 'user-keys' }); // the user is present
      const step = pressOverlayKey(state, key);
      ({ state } = step);
      const isChord = step.action === 'compact' && performance.now() < (chordUntil ?? 0);
      chordUntil = -Infinity; // any other key in between cancels it
      if (step.action !== undefined && step.action !== 'close')
        worker.post({ type: 'overlay-action', action: step.action });
      if (isChord || step.action === 'close') close();
      else ask();
    },
    onClose: () => {
      [drawing, onFirst, chordUntil] = [undefined, undefined, undefined];
      state = initialOverlayState;
      worker.post({ type: 'overlay-closed' });
    },
  };
  return {
    contents,
    onDrawn: (next) => {
      drawing = next;
      const { most, shown } = next;
      if (next.page === state.page) state = { ...state, most, shown, scroll: Math.min(state.scroll, most) };
      onFirst?.();
      onFirst = undefined;
    },
  };
};

export interface WorkerParts extends VisibilityParts {
  readonly footer: Footer;
  readonly overlay: Overlay | undefined;
  readonly onDrawn: WorkerContents['onDrawn'];
  readonly resize: Pick<Resize, 'check'>;
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
    if (unseen !== last) parts.terminal.worker.post({ type: 'sight', unseen });
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

/** The user's keys that are held for the worker, and the wrapper's own keys. */
const makeTyping = ({ terminal, keyboard }: Pick<WorkerParts, 'terminal' | 'keyboard'>) => {
  const { counters, worker, session } = terminal;
  let held: { readonly id: number; readonly hold: KeyHold } | undefined;
  const isHeld = (id: number | undefined): boolean => held !== undefined && held.id === id;
  return {
    hold: (id: number, typed: number): void => {
      const isUntouched = counters.get('typed') === typed;
      if (isUntouched) held = { id, hold: keyboard.hold() };
      worker.post({ type: 'held', id, isHeld: isUntouched });
    },
    releaseOne: (id: number, behind: number): void => {
      if (isHeld(id)) held?.hold.releaseOne(behind);
    },
    release: (id = held?.id): void => {
      if (!isHeld(id)) return;
      held?.hold.release();
      held = undefined;
    },
    write: (bytes: Uint8Array, id: number | undefined, typed: number): void => {
      if (isHeld(id) || counters.get('typed') === typed) keyboard.type(bytes);
      else session.log.info('keys for the agent were not written: the user has typed since');
    },
  };
};

const restarting = (view: FooterView | undefined): FooterView => ({
  runtime: view?.runtime ?? '',
  compactions: view?.compactions ?? 0,
  estimated: false,
  windowInferred: false,
  note: 'no reading',
});

/** Carries out the worker's requests. */
export const serveWorker = (parts: WorkerParts): WorkerListener => {
  const { terminal, footer, overlay, resize, idleWriter, onDrawn, onLost } = parts;
  const { session, filter } = terminal;
  const visibility = watchVisibility(parts);
  const typing = makeTyping(parts);
  let shown: FooterView | undefined;

  const show = (view: FooterView): void => {
    shown = view;
    if (view.due !== 'asked') terminal.isRowWanted = view.due !== undefined; // no change of size while a request is carried out
    resize.check();
    footer.show(view);
    visibility.watch(view.due !== undefined);
  };
  const onRequest = (request: WorkerRequest): void => {
    switch (request.type) {
      case 'view':
        return show(request.view);
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
      case 'overlay':
        onDrawn(request.drawing);
        return overlay?.redraw();
      case 'close-overlay':
        return overlay?.close();
    }
  };
  const onFailure = (isLast: boolean): void => {
    typing.release();
    overlay?.close();
    visibility.forget();
    if (isLast) return onLost();
    show(restarting(shown));
    forceRepaint(terminal); // the new worker knows nothing of the screen
    terminal.child?.resize(childSize(terminal.tty.size(), terminal));
  };
  return { onRequest, onFailure };
};
