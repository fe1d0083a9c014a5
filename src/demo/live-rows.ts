import stringWidth from 'string-width';
import { clip, clipToEnd, drawableColumns, type DrawOptions, type Line, type LiveRows } from './draw.js';
import type { ToolCall } from './tour.js';

// What the agent is doing, and the live rows that show it: spinner or dialog, prompt box, hint.

/** Times are virtual milliseconds: `--pace` makes the clock run faster. */
export type Phase =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'thinking';
      readonly since: number;
      readonly until: number;
      readonly calls: readonly ToolCall[];
      readonly answer: string;
    }
  | Working
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

/** Calls tools, one after the other, before it answers. */
export interface Working {
  readonly kind: 'working';
  readonly since: number;
  readonly nextAt: number;
  readonly calls: readonly ToolCall[];
  readonly answer: string;
}

/** Asks for permission to run a command. */
export interface Dialog {
  readonly kind: 'dialog';
  readonly command: string;
  /** which answer is selected */
  readonly isYes: boolean;
}

/** The part of the agent's state that is drawn. */
interface ViewState {
  readonly phase: Phase;
  readonly draft: string;
  /** a key ends it */
  readonly isShow: boolean;
  /** a second Ctrl-C before this time quits */
  readonly leaveUntil: number;
  readonly drawOptions: DrawOptions;
}

const spinnerFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const frameMs = 120;
const titleMs = 960;

export const liveRows = (view: ViewState, now: number): LiveRows => {
  const { phase, draft, leaveUntil, isShow, drawOptions } = view;
  const columns = drawableColumns(drawOptions.size);
  if (phase.kind === 'dialog') return { lines: dialogRows(phase, columns) };
  const answer = phase.kind === 'streaming' ? [{ text: phase.row }, { text: '' }] : [];
  const above = [...answer, ...spinnerRow(phase, now)];
  const typed = clipToEnd(draft, columns - 7);
  const usual = isShow ? 'q ends the demo' : '/compact · /help · /quit';
  const hint = now < leaveUntil ? 'Press Ctrl-C again to leave' : usual;
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

/** The window title shows the activity, as Claude's does. */
export const titleOf = (phase: Phase, now: number): string => {
  if (!('since' in phase)) return '✳ demo';
  return Math.floor((now - phase.since) / titleMs) % 2 === 0 ? '⠂ demo' : '⠐ demo';
};

/** The time of the next spinner frame. */
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

const workOf = {
  thinking: 'Thinking',
  working: 'Working',
  streaming: 'Answering',
  compacting: 'Compacting conversation',
};

const dialogRows = ({ command, isYes }: Dialog, columns: number): readonly Line[] => {
  const inside = (text: string): Line => ({
    text: `│ ${padded(clip(text, columns - 4), columns - 4)} │`,
  });
  return [
    { text: `╭${'─'.repeat(columns - 2)}╮`, style: 'accent' },
    inside(`Do you want to run ${command}?`),
    inside(`${isYes ? '❯' : ' '} 1. Yes`),
    inside(`${isYes ? ' ' : '❯'} 2. No`),
    { text: `╰${'─'.repeat(columns - 2)}╯`, style: 'accent' },
    { text: '  Enter to choose · Esc to deny', style: 'dim' },
  ];
};

const padded = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
