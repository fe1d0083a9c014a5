import { errorStack } from '../core/errors.js';
import type { Mode } from '../core/compaction/state.js';
import type { SessionContents } from '../core/report/context-report.js';
import { hotkeyName } from '../core/format.js';
import { nextMode } from '../core/overview-keys.js';
import { markedChoice } from '../core/report/limit-page.js';
import { overviewReport } from '../core/report/overview-report.js';
import type { RecapPage } from '../core/report/recap-page.js';
import { itemKey } from '../core/conversation/conversation-evidence.js';
import { chosenAtFirst } from '../core/conversation/recap.js';
import { selectionAt, type RecapChoice, type ShownRecap } from '../core/conversation/recap-selection.js';
import { present } from '../core/present.js';
import { readLook } from '../core/look.js';
import type { AgentTracker } from './agent-tracker.js';
import type { Drawings, InkLoader } from './ink-loader.js';
import type { WrapSession } from '../session/options.js';
import { readSessionFile } from '../session-files/read-session-file.js';
import {
  hotkeyCompactRequest,
  type OverviewDrawing,
  type WantedOverview,
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

// What the overview shows of a session, and what its keys do there.

const REDRAW_MS = 250;

export interface PanelOptions {
  readonly session: WrapSession;
  readonly ink: Pick<InkLoader, 'loaded' | 'load'>;
  /** undefined while nothing is followed */
  readonly tracker: () => AgentTracker | undefined;
  /** called when something else is wanted, and whenever it has changed */
  readonly onDrawn: (drawing: OverviewDrawing) => void;
  /** the overview has to be closed */
  readonly onClose: () => void;
  /** Ink could not be loaded, so it cannot be opened */
  readonly onUndrawable: () => void;
}

/** The overview's contents for a session; costs nothing while it is closed. */
export interface Panel {
  /** draws this until it is closed, or until something else is wanted */
  readonly show: (wanted: WantedOverview) => void;
  readonly act: (action: PanelAction) => void;
  readonly close: () => void;
}

interface PanelState {
  /** undefined while it is closed */
  wanted: WantedOverview | undefined;
  contents: SessionContents | undefined;
  ticking: NodeJS.Timeout | undefined;
  /** what was drawn last, as JSON */
  drawn: string | undefined;
  /** what is chosen in the recap at first, since its page was opened */
  first: RecapChoice | undefined;
}

const closedPanel = (): PanelState => ({
  wanted: undefined,
  contents: undefined,
  ticking: undefined,
  drawn: undefined,
  first: undefined,
});

type Flow = ReturnType<AgentTracker['flow']>;

interface DrawnFacts extends Pick<PanelState, 'contents'> {
  readonly flow: Flow;
  readonly keptText: string | undefined;
  readonly recap: DrawnRecap | undefined;
  readonly render: Drawings['renderOverview'];
}

interface DrawnRecap {
  readonly page: RecapPage;
  /** undefined where there is no recap */
  readonly shown?: ShownRecap;
}

const drawOverview = (
  session: WrapSession,
  { size, page, scroll, limit, background }: WantedOverview,
  { flow, contents, keptText, recap, render }: DrawnFacts,
): OverviewDrawing => {
  const notice = flow.messages.notices.shown?.text;
  const hotkey = hotkeyName(session.values);
  const { agent, env, values } = session;
  const hasNoUndo = !agent.newSessions && !agent.channel?.undo;
  const hasNoRescue = !agent.newSessions?.switching && (!agent.newSessions || values.apply !== 'restart');
  const can = { hasNoUndo, hasNoRescue };
  const facts = { ...flow, contents, keptText, notice, limit, recap: recap?.page, hotkey, ...can };
  const look = readLook({ env, isTTY: true, columns: size.columns, theme: values.theme, background });
  const marked = page === 'limit' ? markedChoice(flow.session, limit) : undefined;
  const drawn = render(overviewReport(facts, page), { look, rows: size.rows, scroll });
  return { size, page, ...present({ marked, recap: recap?.shown }), ...drawn };
};

/** The recap with what is marked in it; what is chosen at first is decided once while its page is open. */
const drawRecap = (
  panel: PanelState,
  { recap: selection }: WantedOverview,
  tracker: Pick<AgentTracker, 'recap' | 'recallWay' | 'isRecallWaiting' | 'flow'>,
): DrawnRecap => {
  const state = tracker.recap();
  const { shown: notice } = tracker.flow().messages.notices;
  const answer = notice?.isAnswer ? notice.text : undefined;
  const facts = { way: tracker.recallWay(), isWaiting: tracker.isRecallWaiting(), answer };
  if ('reason' in state)
    return { page: { ...facts, recap: undefined, line: 0, chosen: [], reason: state.reason } };
  const { at, recap } = state;
  const { line, declined, ...marked } = selectionAt(at, selection);
  if (panel.first?.at !== at) panel.first = { at, keys: chosenAtFirst(recap, declined) };
  const { chosen = panel.first.keys } = marked;
  const shown = { at, keys: recap.lines.map(itemKey), chosen };
  return { page: { ...facts, recap, line, chosen, reason: '' }, shown };
};

export const makePanel = ({ session, ink, tracker, onDrawn, onClose, onUndrawable }: PanelOptions): Panel => {
  const state = closedPanel();

  const redraw = (): void => {
    const { wanted, contents } = state;
    const current = tracker();
    const flow = current?.flow();
    const render = ink.loaded()?.renderOverview;
    if (!wanted || !current || !flow || !render) return;
    try {
      const keptText = current.keptText();
      const recap = wanted.page === 'recap' ? drawRecap(state, wanted, current) : undefined;
      const drawing = drawOverview(session, wanted, { flow, contents, keptText, recap, render });
      const text = JSON.stringify(drawing);
      if (text !== state.drawn) onDrawn(drawing);
      state.drawn = text;
    } catch (error) {
      session.log.error(`drawing the overview failed: ${errorStack(error)}`);
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
      if (wanted.page !== 'recap') state.first = undefined;
      state.wanted = wanted;
      state.drawn = undefined; // the terminal may have lost it
      if (state.ticking === undefined) begin();
      ink.load().then(redraw, onUndrawable);
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
    case 'take-back':
      return tracker.takeBackRecall();
    case 'handoff':
      return tracker.pressHandoff();
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
