import type { Event } from '../../core/event.js';
import { quirksOfDeviceAttributes } from '../../terminal/filter/quirks.js';
import { lookOf } from '../../ui/look.js';
import { makeCursorQuestion, type CursorQuestion } from '../cursor-question.js';
import { compactByKey } from '../follow-child.js';
import { makeFooter, type Footer } from '../footer.js';
import { makeKeys, type Keys } from '../keys.js';
import { makeNotifier, type Notifier } from '../notifier.js';
import { makeOutput, type Output } from '../output.js';
import { makeOverlay, type Overlay } from './overlay.js';
import { type OverlayContents } from './state.js';
import { makeResize, type Resize } from '../resize.js';
import { armWatchdog } from '../set-stage.js';
import { survive, type Stage } from '../stage.js';
import { makeSuspend, type Suspend } from '../suspend.js';
import { makeTitleTurns, type TitleTurns } from '../title-turns.js';
import { goVerbatim } from '../verbatim.js';

/** The parts of a running wrap. */
export interface Parts {
  readonly stage: Stage;
  readonly question: CursorQuestion;
  readonly output: Output;
  readonly footer: Footer;
  readonly overlay: Overlay | undefined;
  readonly resize: Resize;
  readonly suspend: Suspend;
  readonly keys: Keys;
  readonly notifier: Notifier;
  readonly titles: TitleTurns;
}

/** What the overlay shows, made for the overlay that it is shown in. */
export type MakeContents = (overlay: Pick<Overlay, 'close' | 'redraw'>, stage: Stage) => OverlayContents;

/** The parts, each told of the others. Without contents there is no overlay. */
export const makeParts = (stage: Stage, makeContents?: MakeContents): Parts => {
  const question: CursorQuestion = questionOf(stage, () => resize.realign());
  const footer = makeFooter(
    stage,
    (columns) => lookOf(stage.session.env, true, columns, stage.session.theme),
    () => resize.check(),
  );
  const output = makeOutput(stage, {
    isResized: () => resize.check(),
    onOutput: (bytes) => {
      footer.noteOutput();
      overlay?.noteOutput();
      stage.readings?.noteOutput();
      suspend.noteOutput(bytes);
      titles.noteOutput();
      if (stage.filter.ledger.takeChanged()) armWatchdog(stage);
    },
    onFailure: () => goPlain({ stage, footer, overlay }),
  });
  const overlay = makeContents && overlayWith({ stage, output, question, footer }, makeContents);
  const onDone = (): void => {
    footer.refresh();
    armWatchdog(stage);
    overlay?.resume();
  };
  const onStart = (): void => overlay?.pause();
  const resize = makeResize(stage, { output, question, onStart, onDone });
  const onStopping = (): void => overlay?.close();
  const suspend = makeSuspend(stage, { output, question, onStopping, onResumed: () => resize.renew() });
  const titles = makeTitleTurns(stage, (bytes) => keys.forward(bytes));
  const keys = keysOf({ stage, question, resize, suspend, overlay, titles });
  const notifier = makeNotifier(stage);
  return { stage, question, output, footer, overlay, resize, suspend, keys, notifier, titles };
};

/** Something of ours has failed: the child gets the terminal to itself. */
export const goPlain = ({ stage, footer, overlay }: Pick<Parts, 'stage' | 'footer' | 'overlay'>): void => {
  survive(stage, 'closing the overlay', () => void overlay?.stop());
  goVerbatim(stage, footer);
};

const questionOf = (stage: Stage, realign: () => Promise<void>): CursorQuestion => {
  const { grid } = stage.filter;
  return makeCursorQuestion(stage, {
    onAttributes: (text) => {
      grid.quirks = quirksOfDeviceAttributes(text, grid.quirks);
    },
    onLate: () => {
      if (!stage.cursorKnown && !stage.cover) void realign();
    },
  });
};

const overlayWith = (
  { stage, output, question, footer }: Pick<Parts, 'stage' | 'output' | 'question' | 'footer'>,
  makeContents: MakeContents,
): Overlay => {
  const contents = makeContents({ close: () => overlay.close(), redraw: () => overlay.redraw() }, stage);
  const overlay: Overlay = makeOverlay(
    stage,
    { output, question, onUncovered: () => footer.noteOutput() },
    contents,
  );
  return overlay;
};

const keysOf = ({
  stage,
  question,
  resize,
  suspend,
  overlay,
  titles,
}: Pick<Parts, 'stage' | 'question' | 'resize' | 'suspend' | 'overlay' | 'titles'>): Keys =>
  makeKeys(stage, {
    onHotkey: () => {
      stage.footerWanted = !stage.footerWanted;
      resize.check();
    },
    overlay,
    onCompactKey: stage.session.runtime.recipe && (() => told(stage, compactByKey())),
    onTyped: () => told(stage, { type: 'user-keys' }),
    onAnswer: question.answered,
    onForward: (bytes) => {
      suspend.noteKeys(bytes);
      titles.noteKeys(bytes);
    },
  });

/** A failure here must not look as if the keys had not been sent. */
const told = (stage: Stage, event: Event): void => {
  survive(stage, 'noting the keys', () => stage.readings?.take(event));
};
