// What the agent shows at the end of its conversation: spinner or dialog, prompt box, hint.
import type { Agent, Phase } from './agent.js';
import { clip, clipStart, columnsOf, drawableColumns, type Line, type Live } from './draw.js';

const spinnerFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
const frameMs = 120;

export const liveRows = (agent: Agent, now: number): Live => {
  const { phase } = agent;
  if (phase.phase === 'dialog') return { lines: dialogRows(agent, phase) };
  const above = [...answerRow(phase), ...spinnerRow(phase, now)];
  const { lines, column } = promptBox(agent);
  return {
    lines: [...above, ...lines, { text: `  ${agent.notice ?? usualHint}`, style: 'dim' }],
    cursor: { row: above.length + 1, column },
  };
};

/** Phases in which the agent owns the end of the screen and draws it. */
export const isDrawing = ({ phase }: Phase): boolean =>
  phase !== 'flooding' && phase !== 'frozen' && phase !== 'mute' && phase !== 'hung' && phase !== 'gone';

/** The window's title tells the activity, as Claude's does. */
export const titleOf = (phase: Phase, now: number): string => {
  const since = busySince(phase);
  if (since === undefined) return '✳ demo';
  return Math.floor((now - since) / 960) % 2 === 0 ? '⠂ demo' : '⠐ demo';
};

/** When the spinner turns next. */
export const spinnerDeadline = (phase: Phase, now: number): number | undefined => {
  const since = busySince(phase);
  return since === undefined ? undefined : since + (Math.floor((now - since) / frameMs) + 1) * frameMs;
};

const usualHint = '/compact · /help · /quit';

const busySince = (phase: Phase): number | undefined => ('since' in phase ? phase.since : undefined);

const answerRow = (phase: Phase): readonly Line[] =>
  phase.phase === 'streaming' ? [{ text: phase.row }, { text: '' }] : [];

const spinnerRow = (phase: Phase, now: number): readonly Line[] => {
  const since = busySince(phase);
  if (since === undefined) return [];
  const frame = spinnerFrames[Math.floor((now - since) / frameMs) % spinnerFrames.length] ?? '';
  const seconds = Math.floor((now - since) / 1000);
  return [
    { text: `${frame} ${workOf(phase)}… (${seconds}s · esc to interrupt)`, style: 'accent' },
    { text: '' },
  ];
};

const workOf = (phase: Phase): string => {
  switch (phase.phase) {
    case 'compacting':
      return 'Compacting conversation';
    case 'running':
      return `Running ${phase.command}`;
    case 'streaming':
      return 'Answering';
    default:
      return 'Thinking';
  }
};

const promptBox = (agent: Agent): { readonly lines: readonly Line[]; readonly column: number } => {
  const columns = drawableColumns(agent.brush.size);
  const draft = clipStart(agent.draft, columns - 7);
  const fill = ' '.repeat(Math.max(0, columns - 6 - columnsOf(draft)));
  return {
    lines: [
      { text: `╭${'─'.repeat(columns - 2)}╮`, style: 'dim' },
      { text: `│ > ${draft}${fill} │` },
      { text: `╰${'─'.repeat(columns - 2)}╯`, style: 'dim' },
    ],
    column: 4 + columnsOf(draft),
  };
};

const dialogRows = (agent: Agent, dialog: Extract<Phase, { phase: 'dialog' }>): readonly Line[] => {
  const columns = drawableColumns(agent.brush.size);
  const inside = (text: string): Line => {
    const shown = clip(text, columns - 4);
    return { text: `│ ${shown}${' '.repeat(columns - 4 - columnsOf(shown))} │` };
  };
  return [
    { text: `╭${'─'.repeat(columns - 2)}╮`, style: 'accent' },
    inside(`Do you want to run ${dialog.command}?`),
    inside(`${dialog.yes ? '❯' : ' '} 1. Yes`),
    inside(`${dialog.yes ? ' ' : '❯'} 2. No`),
    { text: `╰${'─'.repeat(columns - 2)}╯`, style: 'accent' },
    { text: '  Enter to choose · Esc to deny', style: 'dim' },
  ];
};
