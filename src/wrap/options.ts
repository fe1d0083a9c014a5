import type { StatusLineWish, Runtime } from '../agents/agent.js';
import type { Mode } from '../core/compaction/state.js';
import type { FooterItem } from '../core/format.js';
import type { LadderChoice } from '../core/ladder.js';
import type { NotificationKind } from '../core/notifications.js';
import type { Log } from '../storage/log-file.js';
import type { Recording } from '../storage/recording.js';
import type { ThemeChoice } from '../ui/look.js';

/** How a compaction of ours may be made; what is absent is the careful way. */
export interface CompactWish {
  /** a draft in the prompt: wait until it is gone, or put it aside where the agent can */
  readonly draft?: 'hold' | 'stash';
  /** wait for the end of a turn, or give the command to the agent's own queue */
  readonly whenBusy?: 'wait' | 'queue';
  /** text that came after a number at warn counts, too; true when absent */
  readonly isProactive?: boolean;
  /** the user has chosen the mode in so many words; false when absent */
  readonly isModeGiven?: boolean;
  /** what the agent is asked to keep, one line */
  readonly focus?: string;
}

/** What the user wants to be called for while they look elsewhere, and how. */
export interface NotifyWish {
  readonly kinds: readonly NotificationKind[];
  /** run beside what the terminal can do, with the notification on its standard input */
  readonly command?: string;
}
/** What the user can change while a session runs. */
export type LiveWish = Pick<WrapSession, 'window' | 'ladder' | 'mode' | 'compact'>;

/** How the child ended. */
export type ExitStatus =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };

/** Who wraps, for other processes that look for sessions. */
export interface Wrapper {
  /** as in CTXWRAP_SESSION */
  readonly id: string;
  readonly pid: number;
  readonly version: string;
}

export interface SettingsListener {
  /** each time as a whole */
  readonly onChange: (wish: LiveWish) => void;
  /** what is wrong with them, in one line for the footer */
  readonly onNotice: (text: string) => void;
}

/** One run of a child under our PTY, as the command line decided it. */
export interface WrapSession {
  /** path of the program; it holds a slash, so that nothing searches PATH again */
  readonly file: string;
  readonly args: readonly string[];
  /** the child's environment, CTXWRAP_SESSION included */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly runtime: Runtime;
  /** absent for a session that nobody else is to see */
  readonly wrapper?: Wrapper;
  /** window in tokens as the user set it; undefined leaves it to the runtime */
  readonly window: number | undefined;
  /** what it may be, in tokens, where nobody tells; shown with a `?` */
  readonly assumedWindow?: number;
  /** boundaries of the tiers as the user set them; the runtime's own ladder when absent */
  readonly ladder?: LadderChoice;
  readonly footer: boolean;
  /** what the footer shows and in which order; the usual when absent */
  readonly footerItems?: readonly FooterItem[];
  /** colours of the footer; `auto` when absent */
  readonly theme?: ThemeChoice;
  /** whether an agent with a status line may be asked for its numbers through it; `off` when absent */
  readonly statusLine?: StatusLineWish;
  /** where the agent's reports go, when it was asked for them */
  readonly reportPath?: string;
  /** asked, in a shell, before the agent compacts by itself; it does as it likes when absent */
  readonly holdCommand?: string;
  readonly mode: Mode;
  readonly compact?: CompactWish;
  /** seldom, a fact about the window in the footer; true when absent */
  readonly tips?: boolean;
  /** nobody is called when absent */
  readonly notify?: NotifyWish;
  /** a request that OMC leaves in the session's folder counts; false when absent */
  readonly watchOmc?: boolean;
  /** control byte of the hotkey; undefined for none */
  readonly hotkey: number | undefined;
  /** what the user should know from the start, one line each */
  readonly notices?: readonly string[];
  /** tells of other settings until the returned function is called */
  readonly watchSettings?: (listener: SettingsListener) => () => void;
  readonly recording: Recording | undefined;
  readonly log: Log;
}
