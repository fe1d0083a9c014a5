import stringWidth from 'string-width';
import { clip, drawableColumns, type DrawOptions, type Line, type LiveRows } from './draw.js';

// The live rows, which show what the agent is doing: spinner or dialog, prompt box, hint.

/** The part of the agent's state that is drawn. Times are virtual milliseconds: `--pace` makes the clock run faster. */
export interface View {
  /** what it does, and since when; undefined while it waits for the user */
  readonly work?: string | undefined;
  readonly since: number;
  /** the row of the answer that is being filled */
  readonly row?: string | undefined;
  /** it asks for permission to run a command */
  readonly dialog?: Dialog | undefined;
  readonly draft: string;
  /** a scripted user plays: one key of the real one ends it */
  readonly isShow: boolean;
  /** a second Ctrl-C before this time quits */
  readonly leaveUntil: number;
  readonly drawOptions: DrawOptions;
}

export interface Dialog {
  readonly command: string;
  /** which answer is selected */
  readonly isYes: boolean;
}

const spinnerFrames = Array.from('⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏');
const [frameMs, titleMs] = [120, 960];

export const liveRows = (view: View, now: number): LiveRows => {
  const { row, dialog, draft, leaveUntil, isShow, drawOptions } = view;
  const columns = drawableColumns(drawOptions.size);
  if (dialog) return { lines: dialogRows(dialog, columns) };
  const above = [...(row === undefined ? [] : [{ text: row }, { text: '' }]), ...spinnerRow(view, now)];
  const typed = clipToEnd(draft, columns - 7);
  const usual = isShow ? 'q ends the demo' : '/compact · /help · /quit';
  const hint = now < leaveUntil ? 'Press Ctrl-C again to leave' : usual;
  return {
    lines: [
      ...above,
      { text: `╭${'─'.repeat(columns - 2)}╮`, style: 'dim' },
      { text: `│ > ${padded(typed, columns - 6)} │`, sides: 'dim' },
      { text: `╰${'─'.repeat(columns - 2)}╯`, style: 'dim' },
      { text: `  ${hint}`, style: 'dim' },
    ],
    cursor: { row: above.length + 1, column: 4 + stringWidth(typed) },
  };
};

/** The window title shows the activity, as Claude's does. */
export const titleOf = ({ work, since }: Pick<View, 'work' | 'since'>, now: number): string => {
  if (work === undefined) return '✳ demo';
  return Math.floor((now - since) / titleMs) % 2 === 0 ? '⠂ demo' : '⠐ demo';
};

/** The time of the next spinner frame. */
export const spinnerDeadline = ({ since }: View, now: number): number =>
  since + (Math.floor((now - since) / frameMs) + 1) * frameMs;

const spinnerRow = ({ work, since }: View, now: number): readonly Line[] => {
  if (work === undefined) return [];
  const ms = now - since;
  const frame = spinnerFrames[Math.floor(ms / frameMs) % spinnerFrames.length] ?? '';
  return [
    { text: `${frame} ${work}… (${Math.floor(ms / 1000)}s · esc to interrupt)`, style: 'accent' },
    { text: '' },
  ];
};

const dialogRows = ({ command, isYes }: Dialog, columns: number): readonly Line[] => {
  const inside = (text: string): Line => ({
    text: `│ ${padded(clip(text, columns - 4), columns - 4)} │`,
    sides: 'accent',
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

/** The end of a text that fits, as a prompt box shows a long draft. */
const clipToEnd = (text: string, columns: number): string => {
  let chars = Array.from(text).slice(-columns);
  while (stringWidth(chars.join('')) > columns) chars = chars.slice(1);
  return chars.join('');
};

const padded = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - stringWidth(text)));
