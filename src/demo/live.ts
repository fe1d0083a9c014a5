import stringWidth from 'string-width';
import { clip, clipStart, drawableColumns, type Brush, type Line, type Live } from './draw.js';

// What the agent is doing, and how the end of its conversation shows it: spinner or dialog, prompt box, hint.

/** Times are virtual milliseconds: the clock runs faster by `--pace`. */
export type Phase =
  | { readonly kind: 'idle' }
  | { readonly kind: 'thinking'; readonly since: number; readonly until: number; readonly answer: string }
  | Streaming
  | Dialog
  | { readonly kind: 'running'; readonly since: number; readonly until: number; readonly command: string }
  | { readonly kind: 'compacting'; readonly since: number; readonly until: number };

export interface Streaming {
  readonly kind: 'streaming';
  readonly since: number;
  readonly nextAt: number;
  readonly words: readonly string[];
  /** the row that is being filled; full rows are printed */
  readonly row: string;
}

/** Asks for permission to run a command. */
export interface Dialog {
  readonly kind: 'dialog';
  readonly command: string;
  /** which answer is chosen */
  readonly yes: boolean;
}

/** What of the agent is shown. */
interface Shown {
  readonly phase: Phase;
  readonly draft: string;
  /** a second Ctrl-C until then leaves */
  readonly leaveUntil: number;
  readonly brush: Brush;
}

const spinnerFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const frameMs = 120;
const titleMs = 960;

export const liveRows = (shown: Shown, now: number): Live => {
  const { phase, draft, leaveUntil, brush } = shown;
  const columns = drawableColumns(brush.size);
  if (phase.kind === 'dialog') return { lines: dialogRows(phase, columns) };
  const answer = phase.kind === 'streaming' ? [{ text: phase.row }, { text: '' }] : [];
  const above = [...answer, ...spinnerRow(phase, now)];
  const typed = clipStart(draft, columns - 7);
  const hint = now < leaveUntil ? 'Press Ctrl-C again to leave' : '/compact · /help · /quit';
  return {
    lines: [
      ...above,
      { text: `╭${'─'.repeat(columns - 2)}╮`, style: 'dim' },
      { text: `│ > ${padded(typed, columns - 6)} │` },
      { text: `╰${'─'.repeat(columns - 2)}╯`, style: 'dim' },
      { text: `  ${hint}`, style: 'dim' },
    ],
    cursor: { row: above.length + 1, column: 4 + stringWidth(typed) },
  };
};

/** The window's title tells the activity, as Claude's does. */
export const titleOf = (phase: Phase, now: number): string => {
  if (!('since' in phase)) return '✳ demo';
  return Math.floor((now - phase.since) / titleMs) % 2 === 0 ? '⠂ demo' : '⠐ demo';
};

/** When the spinner turns next. */
export const spinnerDeadline = (phase: Phase, now: number): number | undefined =>
  'since' in phase ? phase.since + (Math.floor((now - phase.since) / frameMs) + 1) * frameMs : undefined;

const spinnerRow = (phase: Phase, now: number): readonly Line[] => {
  if (!('since' in phase)) return [];
  const ms = now - phase.since;
  const frame = spinnerFrames[Math.floor(ms / frameMs) % spinnerFrames.length] ?? '';
  const work = phase.kind === 'running' ? `Running ${phase.command}` : workOf[phase.kind];
  return [
    { text: `${frame} ${work}… (${Math.floor(ms / 1000)}s · esc to interrupt)`, style: 'accent' },
    { text: '' },
  ];
};

const workOf = { thinking: 'Thinking', streaming: 'Answering', compacting: 'Compacting conversation' };

const dialogRows = ({ command, yes }: Dialog, columns: number): readonly Line[] => {
  const inside = (text: string): Line => ({
    text: `│ ${padded(clip(text, columns - 4), columns - 4)} │`,
  });
  return [
    { text: `╭${'─'.repeat(columns - 2)}╮`, style: 'accent' },
    inside(`Do you want to run ${command}?`),
    inside(`${yes ? '❯' : ' '} 1. Yes`),
    inside(`${yes ? ' ' : '❯'} 2. No`),
    { text: `╰${'─'.repeat(columns - 2)}╯`, style: 'accent' },
    { text: '  Enter to choose · Esc to deny', style: 'dim' },
  ];
};

const padded = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
