import { emptyCanvas, type Brush, type Canvas, type Line, type Size } from './draw.js';
import type { Move } from './player.js';
import { usual, type Quirks } from './quirks.js';
import { firstTokens } from './talk.js';

/**
 * What the agent is doing. Times are virtual milliseconds: the shell's clock runs faster by `--pace`.
 */
export type Phase =
  | { readonly phase: 'idle' }
  | { readonly phase: 'thinking'; readonly since: number; readonly until: number; readonly answer: string }
  | Streaming
  | { readonly phase: 'dialog'; readonly command: string; readonly yes: boolean; readonly stuck: boolean }
  | { readonly phase: 'running'; readonly since: number; readonly until: number; readonly command: string }
  | {
      readonly phase: 'compacting';
      readonly since: number;
      readonly until: number;
      readonly trigger: 'user' | 'agent';
    }
  | { readonly phase: 'never-idle'; readonly since: number }
  | { readonly phase: 'flooding'; readonly line: number; readonly lines: number }
  /** draws nothing more and leaves what is on the terminal as it is */
  | { readonly phase: 'frozen' }
  /** has closed its output */
  | { readonly phase: 'mute'; readonly until: number }
  /** believes to be suspended: deaf until SIGCONT */
  | { readonly phase: 'hung'; readonly before: Phase }
  | { readonly phase: 'gone' };

export interface Streaming {
  readonly phase: 'streaming';
  readonly since: number;
  readonly nextAt: number;
  readonly words: readonly string[];
  /** the row that is being filled; full rows are printed */
  readonly row: string;
}

/** The whole state of the demo agent. */
export interface Agent {
  readonly phase: Phase;
  readonly draft: string;
  /** one line under the prompt box instead of the usual hint */
  readonly notice?: string;
  /** a second Ctrl-C until then leaves */
  readonly leaveUntil: number;
  readonly usedTokens: number;
  /** the next turn ends with this many, because a script says so */
  readonly fill?: number;
  readonly turns: number;
  readonly compacted: boolean;
  readonly logging: boolean;
  readonly ignored: readonly string[];
  readonly hangs: boolean;
  readonly quirks: Quirks;
  readonly brush: Brush;
  readonly canvas: Canvas;
  /** the last finished lines, to draw the window anew when its width changes */
  readonly history: readonly Line[];
  readonly title: string;
}

/** What happens to the agent. */
export type Event =
  | Move
  | { readonly type: 'start' | 'tick' | 'continued' }
  | { readonly type: 'resize'; readonly size: Size }
  | { readonly type: 'signal'; readonly signal: string };

/** What the shell has to do, in this order. */
export type Effect =
  | { readonly type: 'write'; readonly text: string }
  /** a session log record; the shell adds `at` */
  | { readonly type: 'record'; readonly record: SessionRecord }
  | { readonly type: 'append'; readonly line: string }
  | { readonly type: 'raw'; readonly on: boolean }
  | { readonly type: 'stop' | 'close-output' }
  | { readonly type: 'end'; readonly code: number }
  | { readonly type: 'die'; readonly signal: string };

/** One line of the session log, `at` (milliseconds since the epoch) missing. */
export type SessionRecord =
  | {
      readonly type: 'turn';
      readonly usedTokens: number;
      readonly windowTokens: number;
      readonly model: string;
    }
  | {
      readonly type: 'compaction';
      readonly trigger: 'user' | 'agent';
      readonly preTokens: number;
      readonly postTokens: number;
    }
  /** a compaction that changed nothing */
  | { readonly type: 'compaction-failed'; readonly text: string };

/** What one event changes: lines that are finished, and effects before and after drawing. */
export interface Change {
  readonly agent: Agent;
  readonly first?: readonly Effect[];
  readonly printed?: readonly Line[];
  readonly effects?: readonly Effect[];
}

export const startAgent = (brush: Brush): Agent => ({
  phase: { phase: 'idle' },
  draft: '',
  leaveUntil: 0,
  usedTokens: firstTokens,
  turns: 0,
  compacted: false,
  logging: true,
  ignored: [],
  hangs: false,
  quirks: usual,
  brush,
  canvas: emptyCanvas,
  history: [],
  title: '',
});

/** The same agent with another phase. */
export const go = (agent: Agent, phase: Phase): Agent => ({ ...agent, phase });
