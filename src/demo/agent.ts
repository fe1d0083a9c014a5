import stringWidth from 'string-width';
import {
  drawableColumns,
  emptyCanvas,
  eraseLive,
  paint,
  printLines,
  releaseModes,
  title,
  wrapLine,
  type Brush,
  type Canvas,
  type Line,
  type Size,
} from './draw.js';
import type { Key } from './keys.js';
import { liveRows, spinnerDeadline, titleOf, type Dialog, type Phase, type Streaming } from './live.js';
import {
  answerAfterCompaction,
  answerAfterDialog,
  answerOf,
  compactedText,
  compactedTokens,
  firstTokens,
  fullText,
  gainAfterCompaction,
  gainOf,
  helpText,
  play,
  playerDeadline,
  windowTokens,
  type Mood,
  type Player,
  type Step,
} from './story.js';

// The demo agent without the world: an event in, the next state and what to write out. No clock, no I/O.

/** The whole state of the agent. */
interface Agent {
  readonly phase: Phase;
  readonly draft: string;
  /** a second Ctrl-C until then leaves */
  readonly leaveUntil: number;
  readonly usedTokens: number;
  readonly turns: number;
  /** no turn since the last compaction */
  readonly compacted: boolean;
  readonly brush: Brush;
  readonly canvas: Canvas;
  /** the last finished lines, to draw the window anew when its width changes */
  readonly history: readonly Line[];
  readonly title: string;
  /** it has left: tidily, or by this signal */
  readonly end?: { readonly signal?: NodeJS.Signals };
}

/** What happens to the agent. */
export type Event =
  | { readonly type: 'start' | 'tick' | 'continued' }
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'resize'; readonly size: Size }
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals };

/** One line of the session log, `at` (milliseconds since the epoch) missing. */
export type SessionRecord =
  | {
      readonly type: 'turn';
      readonly usedTokens: number;
      readonly windowTokens: number;
      readonly model: string;
    }
  | { readonly type: 'compaction'; readonly preTokens: number; readonly postTokens: number };

/** What one event changes: lines that are finished, and a record for the session log. */
interface Change {
  readonly agent: Agent;
  readonly printed?: readonly Line[];
  readonly record?: SessionRecord;
}

/** The agent and the scripted user, who has no steps when somebody is at the keyboard. */
export interface Demo {
  readonly agent: Agent;
  readonly player: Player;
}

export const startDemo = (brush: Brush, steps: readonly Step[]): Demo => ({
  agent: {
    phase: { kind: 'idle' },
    draft: '',
    leaveUntil: 0,
    usedTokens: firstTokens,
    turns: 0,
    compacted: false,
    brush,
    canvas: emptyCanvas,
    history: [],
    title: '',
  },
  player: { steps, notBefore: 0 },
});

/** One event, and then every step of the scripted user that is due because of it. */
export const advance = (demo: Demo, event: Event, now: number) => {
  let { agent, player } = demo;
  let output = '';
  const records: SessionRecord[] = [];
  const happen = (next: Event): void => {
    const change = react(agent, next, now);
    const drawn = draw(change, now);
    agent = drawn.agent;
    output += drawn.text;
    if (change.record) records.push(change.record);
  };
  if (!agent.end) happen(event);
  while (!agent.end) {
    const played = play(player, moodOf(agent), now);
    if (played.player === player) break;
    player = played.player;
    if (played.key) happen({ type: 'key', key: played.key });
  }
  return { demo: { agent, player }, output, records };
};

/** When time changes something next; undefined if only events can. */
export const demoDeadline = ({ agent, player }: Demo, now: number): number | undefined => {
  const { phase, leaveUntil } = agent;
  const dues = [
    'until' in phase ? phase.until : undefined,
    phase.kind === 'streaming' ? phase.nextAt : undefined,
    spinnerDeadline(phase, now),
    leaveUntil > now ? leaveUntil : undefined,
    playerDeadline(player, moodOf(agent)),
  ].filter((due) => due !== undefined);
  return dues.length === 0 ? undefined : Math.min(...dues);
};

const moodOf = ({ phase: { kind } }: Agent): Mood => (kind === 'idle' || kind === 'dialog' ? kind : 'busy');

const react = (agent: Agent, event: Event, now: number): Change => {
  switch (event.type) {
    case 'start':
      return { agent, printed: welcome };
    case 'tick':
      return progress(agent, now);
    case 'key':
      return agent.phase.kind === 'dialog'
        ? inDialog(agent, agent.phase, event.key, now)
        : inPrompt(agent, event.key, now);
    case 'resize':
      return { agent: resize(agent, event.size) };
    case 'signal':
      return leave(agent, event.signal);
    case 'continued':
      return { agent: { ...agent, canvas: emptyCanvas, title: '' } };
  }
};

const welcome: readonly Line[] = [
  { text: 'demo agent', style: 'bold' },
  {
    text: `a simulator with a window of ${windowTokens / 1000}k tokens · no model, no network`,
    style: 'dim',
  },
  { text: '' },
];

/** A new width breaks the rows of the old one, differently in every terminal, so the window is drawn anew. */
const resize = (agent: Agent, size: Size): Agent => {
  const anew = size.columns !== agent.brush.size.columns;
  const canvas = anew ? { ...emptyCanvas, anew } : { ...agent.canvas, frame: '' };
  return { ...agent, brush: { ...agent.brush, size }, canvas };
};

/** Leaves tidily: the live rows go, the conversation stays. */
const leave = (agent: Agent, signal?: NodeJS.Signals): Change => ({
  agent: { ...agent, end: signal ? { signal } : {} },
  printed: [{ text: 'Goodbye.', style: 'dim' }],
});

/** Lines kept to draw the window anew; more than a high window has rows. */
const historyLines = 200;

const draw = (
  { agent, printed = [] }: Change,
  now: number,
): { readonly text: string; readonly agent: Agent } => {
  const { brush, canvas } = agent;
  if (agent.end) {
    const farewell = printLines(printed, brush) + title('') + releaseModes;
    return { text: eraseLive(canvas) + farewell, agent };
  }
  const history = [...agent.history, ...printed].slice(-historyLines);
  const live = liveRows(agent, now);
  const above = canvas.anew ? tailOf(history, brush.size, live.lines.length) : printed;
  const painted = paint(canvas, above, live, brush);
  const name = titleOf(agent.phase, now);
  return {
    text: (name === agent.title ? '' : title(name)) + (canvas.anew ? '\x1b[H\x1b[2J' : '') + painted.text,
    agent: { ...agent, history, canvas: painted.canvas, title: name },
  };
};

/** The last finished lines that fit above the live rows. */
const tailOf = (history: readonly Line[], size: Size, liveCount: number): readonly Line[] => {
  const rows = history.flatMap((line) => wrapLine(line, drawableColumns(size)));
  return rows.slice(Math.max(0, rows.length - Math.max(0, size.rows - liveCount)));
};

// What time alone does: thinking ends, words come, commands and compactions finish.

const wordMs = 35;
const thinkMs = 1100;
const runMs = 900;
const compactMs = 3500;
const leaveMs = 2000;

const progress = (agent: Agent, now: number): Change => {
  const { phase } = agent;
  if ('until' in phase && now < phase.until) return { agent };
  switch (phase.kind) {
    case 'thinking':
      return { agent: { ...agent, phase: startStreaming(phase.answer, phase.since, now) } };
    case 'streaming':
      return stream(agent, phase, now);
    case 'running':
      return {
        agent: { ...agent, phase: startStreaming(answerAfterDialog, now, now) },
        printed: [{ text: '  ⎿ done, 42 of 42 (nothing was really run)', style: 'dim' }, { text: '' }],
      };
    case 'compacting':
      return finishCompaction(agent);
    default:
      return { agent };
  }
};

const startStreaming = (answer: string, since: number, now: number): Streaming => ({
  kind: 'streaming',
  since,
  nextAt: now + wordMs,
  words: answer.split(/ +/),
  row: '●',
});

const stream = (agent: Agent, phase: Streaming, now: number): Change => {
  if (now < phase.nextAt) return { agent };
  const due = 1 + Math.floor((now - phase.nextAt) / wordMs);
  const columns = drawableColumns(agent.brush.size);
  const printed: Line[] = [];
  let { row } = phase;
  for (const word of phase.words.slice(0, due)) {
    const longer = `${row} ${word}`;
    const fits = stringWidth(longer) <= columns;
    if (!fits) printed.push({ text: row });
    row = fits ? longer : `  ${word}`;
  }
  const words = phase.words.slice(due);
  if (words.length === 0) return finishTurn(agent, [...printed, { text: row }, { text: '' }]);
  const nextAt = phase.nextAt + due * wordMs;
  return { agent: { ...agent, phase: { ...phase, words, row, nextAt } }, printed };
};

const finishTurn = (agent: Agent, printed: readonly Line[]): Change => {
  const usedTokens = tokensAfterTurn(agent);
  return {
    agent: { ...agent, phase: { kind: 'idle' }, usedTokens, turns: agent.turns + 1, compacted: false },
    printed,
    record: { type: 'turn', usedTokens, windowTokens, model: 'demo-1' },
  };
};

/** Tokens in the window when the turn that runs now, or the next one, has ended. */
const tokensAfterTurn = ({ usedTokens, turns, compacted }: Agent): number =>
  usedTokens + (compacted ? gainAfterCompaction : gainOf(turns));

const finishCompaction = (agent: Agent): Change => {
  const preTokens = agent.usedTokens;
  const postTokens = compactedTokens(preTokens);
  return {
    agent: { ...agent, phase: { kind: 'idle' }, usedTokens: postTokens, compacted: true },
    printed: [{ text: `✓ ${compactedText(preTokens, postTokens)}`, style: 'good' }, { text: '' }],
    record: { type: 'compaction', preTokens, postTokens },
  };
};

// What keys do.

const inPrompt = (agent: Agent, key: Key, now: number): Change => {
  const { draft } = agent;
  switch (key.name) {
    case 'text':
      return { agent: { ...agent, draft: draft + key.text } };
    case 'backspace':
      return { agent: { ...agent, draft: Array.from(draft).slice(0, -1).join('') } };
    case 'ctrl-u':
      return { agent: { ...agent, draft: '' } };
    case 'enter':
      return agent.phase.kind === 'idle' ? submit(agent, now) : { agent };
    case 'escape':
      return interrupt(agent);
    case 'ctrl-c':
      if (draft !== '') return { agent: { ...agent, draft: '' } };
      return now < agent.leaveUntil ? leave(agent) : interrupt({ ...agent, leaveUntil: now + leaveMs });
    case 'ctrl-d':
      return draft === '' ? leave(agent) : { agent };
    default:
      return { agent };
  }
};

const submit = (before: Agent, now: number): Change => {
  const prompt = before.draft.trim();
  const agent = { ...before, draft: '' };
  const says = (...lines: readonly Line[]): readonly Line[] => [
    { text: `> ${prompt}`, style: 'bold' },
    { text: '' },
    ...lines,
  ];
  if (prompt === '') return { agent };
  if (prompt === '/quit' || prompt === '/exit') return leave(agent);
  if (prompt === '/compact')
    return {
      agent: { ...agent, phase: { kind: 'compacting', since: now, until: now + compactMs } },
      printed: says(),
    };
  if (prompt.startsWith('/')) {
    const text = prompt === '/help' ? helpText : `Unknown command ${prompt}. ${helpText}`;
    return { agent, printed: says({ text: `  ${text}`, style: 'dim' }, { text: '' }) };
  }
  const { usedTokens, turns } = agent;
  const after = tokensAfterTurn(agent);
  if (after > windowTokens)
    return { agent, printed: says({ text: `● ${fullText(usedTokens)}` }, { text: '' }) };
  const command = /^run (.+)/.exec(prompt)?.[1];
  if (command !== undefined)
    return { agent: { ...agent, phase: { kind: 'dialog', command, yes: true } }, printed: says() };
  const answer = agent.compacted ? answerAfterCompaction : answerOf(turns, usedTokens, after);
  return { agent: think(agent, answer, now), printed: says() };
};

/** Starts thinking about an answer. */
const think = (agent: Agent, answer: string, now: number): Agent => ({
  ...agent,
  phase: { kind: 'thinking', since: now, until: now + thinkMs, answer },
});

const inDialog = (agent: Agent, dialog: Dialog, key: Key, now: number): Change => {
  const { command, yes } = dialog;
  const asked: Line = { text: `● Run ${command}`, style: 'accent' };
  const answered = (approved: boolean): Change =>
    approved
      ? {
          agent: { ...agent, phase: { kind: 'running', since: now, until: now + runMs, command } },
          printed: [asked],
        }
      : {
          agent: think(agent, `You said no, so I did not run ${command}.`, now),
          printed: [asked, { text: '  ⎿ denied', style: 'dim' }, { text: '' }],
        };
  switch (key.name === 'text' ? key.text : key.name) {
    case 'up':
      return { agent: { ...agent, phase: { ...dialog, yes: true } } };
    case 'down':
      return { agent: { ...agent, phase: { ...dialog, yes: false } } };
    case '1':
      return answered(true);
    case 'enter':
      return answered(yes);
    case '2':
    case 'escape':
    case 'ctrl-c':
      return answered(false);
    default:
      return { agent };
  }
};

const interrupt = (agent: Agent): Change => {
  const { phase } = agent;
  if (!('since' in phase)) return { agent };
  const row: readonly Line[] = phase.kind === 'streaming' ? [{ text: phase.row }] : [];
  return {
    agent: { ...agent, phase: { kind: 'idle' } },
    printed: [...row, { text: '  ⎿ interrupted', style: 'dim' }, { text: '' }],
  };
};
