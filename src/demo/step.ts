import type { Agent, Change, Effect, Event } from './agent.js';
import {
  drawableColumns,
  emptyCanvas,
  eraseLive,
  paint,
  printLines,
  wrapLine,
  type Line,
  type Size,
} from './draw.js';
import { leave, pressKey } from './keyboard.js';
import { holdModes, releaseModes, title } from './modes.js';
import { obey } from './orders.js';
import type { Mood } from './player.js';
import { progress, progressDeadline } from './progress.js';
import { isDrawing, liveRows, spinnerDeadline, titleOf } from './rows.js';
import { windowTokens } from './talk.js';

export interface Step {
  readonly agent: Agent;
  readonly effects: readonly Effect[];
}

/** Everything the agent does: an event in, the next state and what the shell has to do out. No clock, no I/O. */
export const step = (agent: Agent, event: Event, now: number): Step => {
  if (agent.phase.phase === 'gone') return { agent, effects: [] };
  const change = react(forgetLeaving(agent, now), event, now);
  const { text, agent: drawn } = draw(change, now);
  const drawing: readonly Effect[] = text === '' ? [] : [{ type: 'write', text }];
  return { agent: drawn, effects: [...(change.first ?? []), ...drawing, ...(change.effects ?? [])] };
};

/** When time changes something; undefined if only events can. */
export const deadline = (agent: Agent, now: number): number | undefined => {
  const leaving = agent.notice === undefined ? undefined : agent.leaveUntil;
  const dues = [progressDeadline(agent), spinnerDeadline(agent.phase, now), leaving];
  const known = dues.filter((due) => due !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

export const moodOf = ({ phase }: Agent): Mood =>
  phase.phase === 'idle' || phase.phase === 'dialog' ? phase.phase : 'busy';

const react = (agent: Agent, event: Event, now: number): Change => {
  switch (event.type) {
    case 'start':
      return { agent, printed: welcome, first: hold };
    case 'tick':
      return progress(agent, now);
    case 'key':
      return pressKey(agent, event.key, now);
    case 'told':
      return obey(agent, event.step, now);
    case 'resize':
      return resize(agent, event.size);
    case 'signal':
      return signalled(agent, event.signal);
    case 'continued':
      return resume(agent);
  }
};

/** Raw before anything is seen: who sees the prompt box may press a key. */
const hold: readonly Effect[] = [
  { type: 'raw', on: true },
  { type: 'write', text: holdModes },
];

const welcome: readonly Line[] = [
  { text: 'demo agent', style: 'bold' },
  {
    text: `a simulator with a window of ${windowTokens / 1000}k tokens · no model, no network`,
    style: 'dim',
  },
  { text: '' },
];

const forgetLeaving = (agent: Agent, now: number): Agent => {
  const { notice, ...rest } = agent;
  return notice !== undefined && now >= agent.leaveUntil ? rest : agent;
};

/** A new width breaks the rows of the old one, differently in every terminal, so the window is drawn anew. */
const resize = (agent: Agent, size: Size): Change => {
  const anew = size.columns !== agent.brush.size.columns;
  const canvas = anew ? { ...emptyCanvas, anew } : { ...agent.canvas, frame: '' };
  return { agent: { ...agent, brush: { ...agent.brush, size }, canvas } };
};

const signalled = (agent: Agent, signal: string): Change => {
  if (agent.ignored.includes(signal)) return { agent };
  const die: Effect = { type: 'die', signal };
  // after `modes` nothing is given back: that is what the step is for
  if (!isDrawing(agent.phase)) return { agent: { ...agent, phase: { phase: 'gone' } }, effects: [die] };
  const { agent: gone, printed = [] } = leave(agent, 0);
  return { agent: gone, printed, effects: [{ type: 'raw', on: false }, die] };
};

const resume = (agent: Agent): Change => ({
  agent: {
    ...agent,
    canvas: emptyCanvas,
    title: '',
    phase: agent.phase.phase === 'hung' ? agent.phase.before : agent.phase,
  },
  first: isDrawing(agent.phase) || agent.phase.phase === 'hung' ? hold : [],
});

/** Lines kept to draw the window anew; more than a high window has rows. */
const historyLines = 200;

const draw = (
  { agent, printed = [] }: Change,
  now: number,
): { readonly text: string; readonly agent: Agent } => {
  const history = [...agent.history, ...printed].slice(-historyLines);
  if (agent.phase.phase === 'gone' && printed.length > 0) {
    const farewell = printLines(printed, agent.brush) + title('') + releaseModes;
    return { text: eraseLive(agent.canvas) + farewell, agent };
  }
  if (!isDrawing(agent.phase)) return { text: '', agent: { ...agent, history } };
  const live = liveRows(agent, now);
  const above = agent.canvas.anew ? tailOf(history, agent.brush.size, live.lines.length) : printed;
  const { text, canvas } = paint(agent.canvas, above, live, agent.brush);
  const name = titleOf(agent.phase, now);
  return {
    text: (name === agent.title ? '' : title(name)) + (agent.canvas.anew ? '\x1b[H\x1b[2J' : '') + text,
    agent: { ...agent, history, canvas, title: name },
  };
};

/** The last finished lines that fit above the live rows. */
const tailOf = (history: readonly Line[], size: Size, liveCount: number): readonly Line[] => {
  const rows = history.flatMap((line) => wrapLine(line, drawableColumns(size)));
  return rows.slice(Math.max(0, rows.length - Math.max(0, size.rows - liveCount)));
};
