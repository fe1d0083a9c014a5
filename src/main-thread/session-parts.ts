import { type CursorQuery, makeCursorQuery } from './cursor-query.js';
import { type Ending, makeEnding } from './ending.js';
import { type Footer, makeFooter } from './footer.js';
import { type IdleWriter, makeIdleWriter } from './idle-writer.js';
import { type Keyboard, makeKeyboard } from './keyboard.js';
import { type Output, makeOutput } from './output.js';
import {
  makeOverview,
  makeOverviewHint,
  makeOverviewTour,
  type Overview,
  type OverviewHint,
  type OverviewTour,
} from './overview.js';
import { makeProtection, type Protection } from './protection.js';
import { type Resize, makeResize } from './resize.js';
import type { Emit } from './terminal-event.js';
import { makeSuspend, type Suspend } from './suspend.js';
import type { TerminalSession } from './terminal-session.js';
import { makeTitleAnimation, type TitleAnimation } from './title-animation.js';
import { makeWorkerContents, type WorkerContents } from './worker-effects.js';

// The parts of a wrapped session, each built from those before it. What happens in one is an event for the others: route.ts.

/** The parts of a running session. */
export interface Parts {
  readonly terminal: TerminalSession;
  readonly ending: Ending;
  readonly cursorQuery: CursorQuery;
  readonly output: Output;
  readonly resize: Resize;
  readonly suspend: Suspend;
  readonly overview: Overview;
  readonly overviewTour: OverviewTour;
  readonly hint: OverviewHint;
  readonly onDrawn: WorkerContents['onDrawn'];
  readonly footer: Footer;
  readonly titleAnimation: TitleAnimation;
  readonly protection: Protection;
  readonly keyboard: Keyboard;
  /** writes notifications */
  readonly idleWriter: IdleWriter;
}

/** Makes the overview's contents; `close` closes the overview. */
export type MakeContents = (terminal: TerminalSession, close: () => void) => WorkerContents;

/** Builds the parts, which emit nothing before the last one is built. */
export const makeParts = (
  terminal: TerminalSession,
  emit: Emit,
  makeContents: MakeContents = makeWorkerContents,
): Parts => {
  const ending = makeEnding();
  const cursorQuery = makeCursorQuery(terminal, emit);
  const output = makeOutput(terminal, emit);
  const resize = makeResize(terminal, { output, cursorQuery, emit });
  const suspend = makeSuspend(terminal, { output, cursorQuery, emit });
  const { contents, onDrawn } = makeContents(terminal, () => emit({ type: 'overview-left' }));
  const overview = makeOverview(terminal, { output, cursorQuery, emit }, contents);
  const overviewTour = makeOverviewTour(terminal, overview);
  const hint = makeOverviewHint(terminal, emit);
  const footer = makeFooter(terminal, { resize, overview, hint });
  const titleAnimation = makeTitleAnimation(terminal, emit);
  const protection = makeProtection(terminal, { footer, resize });
  const keyboard = makeKeyboard(terminal, { footer, overview, protection, emit });
  const idleWriter = makeIdleWriter(terminal);
  const front = { terminal, ending, cursorQuery, output, resize, suspend };
  const shown = { overview, overviewTour, hint, onDrawn, footer, titleAnimation };
  return { ...front, ...shown, protection, keyboard, idleWriter };
};
