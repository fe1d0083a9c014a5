import type { OverlayKey } from '../../core/overlay/keys.js';
import type { Size } from '../../terminal/tty.js';
import type { Output } from '../output.js';
import type { CursorQuestion } from '../cursor-question.js';
import type { ShownOverlay } from './shown-overlay.js';

/** What an overlay shows and does. */
export interface OverlayContents {
  /** rows of text and SGR, at most as many as the size has, none wider */
  readonly draw: (size: Size) => readonly string[];
  readonly onKey: (key: OverlayKey) => void;
  readonly onOpen?: () => void;
  readonly onClose?: () => void;
  /** what happens next is among what was drawn last; where absent, it never is */
  readonly showsNext?: () => boolean;
  /** what it draws with has been loaded; until then the hotkey does what it does without an overlay */
  readonly isReady?: () => boolean;
}

export interface OverlayParts {
  readonly output: Pick<Output, 'hold' | 'isHeld' | 'release'>;
  readonly question: CursorQuestion;
  /** the child's screen is to be seen again, without the footer */
  readonly onUncovered: () => void;
}

/** `paused`: the terminal is getting another size. */
export type Phase = 'closed' | 'opening' | 'open' | 'paused';

/** One overlay; changed in place. */
export interface OverlayState {
  phase: Phase;
  /** by `performance.now()` */
  wantedAt: number;
  timer: NodeJS.Timeout | undefined;
  shown: ShownOverlay | undefined;
  /** it waits for the screen model, with the child's output held */
  settling: Promise<void> | undefined;
  isStopped: boolean;
}
