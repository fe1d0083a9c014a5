import { emptyCanvas, type Brush, type Canvas, type Line, type Size } from './draw.js';
import type { Move } from './script.js';

// How the agent can behave differently from what is expected of it where compacting is concerned.

/**
 * What becomes of `/compact`:
 * - `work`: the conversation becomes short, as it should
 * - `swallow`: the prompt is emptied, and nothing happens
 * - `fail`: it takes its time and ends with an error
 * - `noop`: says at once that there is nothing to compact
 * - `lie`: says that it worked, but the window is as full as before and no record is written
 * - `hang`: goes on for ever
 */
export const compactWays = ['work', 'swallow', 'fail', 'noop', 'lie', 'hang'] as const;
export type CompactWay = (typeof compactWays)[number];

export const ignorableKeys = ['text', 'enter', 'backspace'] as const;
export type IgnorableKey = (typeof ignorableKeys)[number];

export interface Quirks {
  readonly onCompact: CompactWay;
  /** the error of `fail` */
  readonly failure: string;
  readonly ignoredKeys: readonly IgnorableKey[];
  /** asks to run this as soon as the command stands in the prompt */
  readonly dialogBehind?: string;
  /** compacts by itself after a turn that ends with so many tokens or more */
  readonly compactsFrom: number;
}

const usual: Quirks = { onCompact: 'work', failure: '', ignoredKeys: [], compactsFrom: Infinity };

// What the agent says, and what the scripted user asks. Nothing here is computed by a model.

const kilo = (tokens: number): string => `${Math.round(tokens / 1000)}k`;

export const windowTokens = 200_000;

/** System prompt and tools, before anyone has said a word. */
const firstTokens = 12_180;

/** Tokens a turn adds: 151k is past warn, 169k past auto and 178k past hard of a 200k window. */
const gains = [22_310, 23_940, 24_120, 23_770, 24_080, 20_650, 18_240, 8_920] as const;
const usualGain = 18_000;

export const gainOf = (turn: number): number => gains[turn] ?? usualGain;

/** What a compaction leaves: the first tokens and a summary. */
export const compactedTokens = (usedTokens: number): number => firstTokens + Math.round(usedTokens / 100);

/** The first turn after a compaction is a short one, so that the small number is seen before it grows. */
export const gainAfterCompaction = 2_400;

const answers = [
  'I am a simulator of a coding agent: I stream text, show a spinner and ask for permission, but no model is behind me and nothing leaves this machine. The row at the bottom is not mine. It belongs to ctxwrap, which runs me in a terminal of its own.',
  'Each of my turns adds some twenty thousand tokens to a window of 200k, far more than a real turn. I write the numbers to a session log, the way real agents do, and the footer reads them from there and not from this text.',
  'My output scrolls into the history of your terminal as if I ran alone: scroll up and you find every line once. Keys reach me unchanged, and your cursor is where I put it.',
  'The bar has four tiers: safe, then warn, then auto, where a quiet moment is a good one to compact, and hard, close to the end of the window. You will see the colour change on the way.',
] as const;

/** What to say when a turn passes this many tokens: the boundaries of a 200k window. */
const milestones = [
  {
    tokens: 177_000,
    answer:
      'And this is hard: three thousand tokens below what is usable. It is time to type /compact, and I will keep a summary of all this.',
  },
  {
    tokens: 167_000,
    answer:
      'Past auto. A real agent would soon summarise the conversation by itself, often in the middle of a task. A quiet prompt between two tasks is the better moment.',
  },
  {
    tokens: 147_000,
    answer:
      'This is the turn that passes warn. Nothing happens to me because of it: a warning is for the person in front of the terminal, and the conversation goes on as before.',
  },
] as const;

/** The answer of a turn that takes the window from `before` to `after` tokens. */
export const answerOf = (turn: number, before: number, after: number): string =>
  milestones.find(({ tokens }) => before < tokens && tokens <= after)?.answer ??
  answers[turn % answers.length] ??
  answers[0];

export const answerAfterDialog =
  'Thank you. A dialog like that one is the reason why keys are never typed blindly: Enter approves the command.';

export const answerAfterCompaction =
  'The conversation is short again, and the footer knows it from the log of this turn. The mark at its end counts the compactions of the session.';

/** The prompts of the scripted user, one a turn; the fifth one asks for a command. */
export const prompts = [
  'What are you?',
  'How does the footer know how full you are?',
  'And my scrollback?',
  'What do the colours mean?',
  'run npm test',
  'Go on, fill the window',
  'A bit more',
  'One last question before you are full',
] as const;

export const lastPrompt = 'What is left after that?';

export const fullText = (usedTokens: number): string =>
  `Context is full: ${kilo(usedTokens)} of ${kilo(windowTokens)} used. Type /compact to make room.`;

export const compactedText = (preTokens: number, postTokens: number): string =>
  `Compacted ${kilo(preTokens)} → ${kilo(postTokens)}`;

export const compactCommand = '/compact';

export const failedText = (reason: string): string => `Compaction failed: ${reason}`;

export const nothingText = 'Nothing to compact.';

export const helpText =
  'Type anything for an answer, `run <command>` for a permission dialog, /compact to make room, /quit to leave.';

/** Printed when Ctrl-Z is pressed where it cannot stop; see the `suspend-hang` step. */
export const suspendedText = '\r\nThe demo agent has been suspended. Run `fg` to bring it back.\r\n';

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
