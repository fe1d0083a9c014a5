import { errorStack } from '../core/errors.js';
import type { Mode } from '../core/compaction/state.js';
import type { SessionContents } from '../core/report/context-report.js';
import { hotkeyName } from '../core/format.js';
import { nextMode } from '../core/overlay-keys.js';
import { markedChoice } from '../core/report/limit-page.js';
import { overlayReport } from '../core/report/overlay-report.js';
import type { RecapPage } from '../core/report/recap-page.js';
import type { RecapSelection } from '../core/conversation/recap.js';
import type { RecapState } from '../typing/receipts.js';
import { present } from '../core/present.js';
import { readLook } from '../core/look.js';
import type { AgentTracker } from './agent-tracker.js';
import type { Drawings, InkLoader } from './ink-loader.js';
import type { WrapSession } from '../session/options.js';
import { readSessionFile } from '../session-files/read-session-file.js';
import {
  hotkeyCompactRequest,
  type OverlayDrawing,
  type OverlayWish,
  type PanelAction,
} from '../session/thread-messages.js';

const MOST_BYTES = 32 * 1024 * 1024; // read in about half a second, in pieces, so that everything else goes on

/** What fills the window, from the session's records; undefined where there are none. Never rejects. */
const readContents = async (
  { agent, env, log }: Pick<WrapSession, 'agent' | 'env' | 'log'>,
  tracker: AgentTracker | undefined,
): Promise<SessionContents | undefined> => {
  if (!agent.log?.conversation) return undefined;
  try {
    const source = await tracker?.source();
    if (!source || source.size > MOST_BYTES) return undefined;
    const { filled, toolResults } = await readSessionFile({ ...source, env, now: Date.now() });
    return { filled, toolResults };
  } catch (error) {
    log.info(`what fills the window cannot be read: ${String(error)}`);
    return undefined;
  }
};

// What the overlay shows of a session, and what its keys do there.

const REDRAW_MS = 250;

export interface PanelOptions {
  readonly session: WrapSession;
  readonly ink: Pick<InkLoader, 'loaded' | 'load'>;
  /** undefined while nothing is followed */
  readonly tracker: () => AgentTracker | undefined;
  /** called when something else is wanted, and whenever it has changed */
  readonly onDrawn: (drawing: OverlayDrawing) => void;
  /** the overlay has to be closed */
  readonly onClose: () => void;
}

/** The overlay's contents for a session; costs nothing while it is closed. */
export interface Panel {
  /** draws this until it is closed, or until something else is wanted */
  readonly show: (wanted: OverlayWish) => void;
  readonly act: (action: PanelAction) => void;
  readonly close: () => void;
}

interface PanelState {
  /** undefined while it is closed */
  wanted: OverlayWish | undefined;
  contents: SessionContents | undefined;
  ticking: NodeJS.Timeout | undefined;
  /** what was drawn last, as JSON */
  drawn: string | undefined;
}

const closedPanel = (): PanelState => ({
  wanted: undefined,
  contents: undefined,
  ticking: undefined,
  drawn: undefined,
});

type Flow = ReturnType<AgentTracker['flow']>;

interface DrawnFacts extends Pick<PanelState, 'contents'> {
  readonly flow: Flow;
  readonly keptText: string | undefined;
  readonly recap: RecapState | undefined;
  readonly way: string;
  readonly render: Drawings['renderOverlay'];
}

const drawOverlay = (
  session: WrapSession,
  { size, page, scroll, limit, recap: selection, background }: OverlayWish,
  { flow, contents, keptText, recap, way, render }: DrawnFacts,
): OverlayDrawing => {
  const notice = flow.messages.notices.shown?.text;
  const hotkey = hotkeyName(session.values);
  const shown = recap && recapPage(recap, selection, way);
  const facts = { ...flow, contents, keptText, notice, limit, recap: shown, hotkey };
  const { env, values } = session;
  const look = readLook({ env, isTTY: true, columns: size.columns, theme: values.theme, background });
  const marked = page === 'limit' ? markedChoice(flow.session, limit) : undefined;
  const drawn = render(overlayReport(facts, page), { look, rows: size.rows, scroll });
  const of =
    page === 'recap' && recap && 'recap' in recap
      ? { at: recap.at, lines: recap.recap.lines.length }
      : undefined;
  return { size, page, ...present({ marked, recap: of }), ...drawn };
};

const recapPage = (state: RecapState, selection: RecapSelection, way: string): RecapPage => ({
  recap: 'recap' in state ? state.recap : undefined,
  selection,
  reason: 'reason' in state ? state.reason : '',
  way,
});

export const makePanel = ({ session, ink, tracker, onDrawn, onClose }: PanelOptions): Panel => {
  const state = closedPanel();

  const redraw = (): void => {
    const { wanted, contents } = state;
    const current = tracker();
    const flow = current?.flow();
    const render = ink.loaded()?.renderOverlay;
    if (!wanted || !flow || !render) return;
    try {
      const keptText = current?.keptText();
      const recap = current?.recap();
      const way = current?.recallWay() ?? '';
      const drawing = drawOverlay(session, wanted, { flow, contents, keptText, recap, way, render });
      const text = JSON.stringify(drawing);
      if (text !== state.drawn) onDrawn(drawing);
      state.drawn = text;
    } catch (error) {
      session.log.error(`drawing the overlay failed: ${errorStack(error)}`);
      onClose();
    }
  };
  const close = (): void => {
    clearInterval(state.ticking);
    Object.assign(state, closedPanel());
  };
  const begin = (): void => {
    state.ticking = setInterval(redraw, REDRAW_MS).unref();
    void readContents(session, tracker()).then((found) => (state.contents = found));
  };
  return {
    show: (wanted) => {
      if (wanted.page === 'recap' && state.wanted?.page !== 'recap') tracker()?.lookAtRecap();
      state.wanted = wanted;
      state.drawn = undefined; // the terminal may have lost it
      if (state.ticking === undefined) begin();
      ink.load().then(redraw, onClose);
    },
    act: (action) => {
      const current = tracker();
      if (current) act(session, current, action);
      redraw();
    },
    close,
  };
};

const act = (session: WrapSession, tracker: AgentTracker, action: PanelAction): void => {
  switch (action) {
    case 'compact':
      return tracker.handle(hotkeyCompactRequest());
    case 'postpone':
      return tracker.handle({ type: 'postpone' });
    case 'undo':
      return tracker.pressUndo();
    case 'recall':
      return tracker.pressRecall();
    case 'rescue':
      return tracker.pressRescue();
    case 'mode':
      return tracker.handle({ type: 'mode', mode: modeAfter(session, tracker) });
    case 'proactive':
      return tracker.handle({ type: 'proactive', isProactive: !tracker.flow().compaction.isProactive });
  }
};

/** In handoff mode nothing is ever typed without being asked for. */
const modeAfter = (session: WrapSession, tracker: AgentTracker): Mode => {
  const next = nextMode(tracker.flow().compaction.mode);
  return session.values.ladder === 'handoff' && next === 'auto' ? nextMode(next) : next;
};
