import {
  emptyCanvas,
  eraseLive,
  modeNames,
  modeSequences,
  type ModeName,
  drawableColumns,
  paint,
  printLines,
  wrapLine,
  type Line,
  type Size,
  holdModes,
  releaseModes,
  title,
  type Brush,
} from './draw.js';
import {
  type AgentStep,
  type Mood,
  play,
  playerDeadline,
  playerOf,
  type Player,
  type Step as ScriptStep,
} from './script.js';
import { go, type Agent, type Change, type Effect, type Event, windowTokens, startAgent } from './state.js';
import {
  leave,
  think,
  compact,
  pressKey,
  progress,
  progressDeadline,
  isDrawing,
  liveRows,
  spinnerDeadline,
  titleOf,
} from './turn.js';

// What a script tells the agent to do, mostly to misbehave.

const bytesPerMegabyte = 1_048_576;
const bytesPerLine = 64;

const obey = (agent: Agent, step: AgentStep, now: number): Change => {
  switch (step.step) {
    case 'say':
      return { agent: think(agent, step.text, now) };
    case 'fill':
      return { agent: { ...agent, fill: step.usedTokens } };
    case 'compact':
      return { agent: compact(agent, step.trigger, now) };
    case 'dialog':
      return { agent: go(agent, { phase: 'dialog', command: step.command, yes: true, stuck: step.stuck }) };
    case 'exit':
      return leave(agent, step.code);
    case 'never-idle':
      return { agent: go(agent, { phase: 'never-idle', since: now }) };
    case 'no-log':
      return { agent: { ...agent, logging: false } };
    case 'ignore':
      return { agent: { ...agent, ignored: step.signals } };
    case 'suspend-hang':
      return { agent: { ...agent, hangs: true } };
    case 'auto-compact':
      return quirky(agent, { compactsFrom: step.usedTokens });
    case 'on-compact':
      return quirky(agent, { onCompact: step.how, failure: step.text });
    case 'ignore-keys':
      return quirky(agent, { ignoredKeys: step.keys });
    case 'dialog-behind':
      return quirky(agent, { dialogBehind: step.command });
    default:
      return bytes(agent, step, now);
  }
};

const quirky = (agent: Agent, quirks: Partial<Agent['quirks']>): Change => ({
  agent: { ...agent, quirks: { ...agent.quirks, ...quirks } },
});

type ByteStep = Extract<AgentStep, { step: 'write' | 'log' | 'burst' | 'modes' | 'crash' | 'close-output' }>;

/** The steps that send bytes past the drawing. */
const bytes = (agent: Agent, step: ByteStep, now: number): Change => {
  switch (step.step) {
    case 'write':
      return { agent, effects: [{ type: 'write', text: step.text }] };
    case 'log':
      return { agent, effects: [{ type: 'append', line: step.line }] };
    case 'burst': {
      const lines = Math.ceil((step.megabytes * bytesPerMegabyte) / bytesPerLine);
      return {
        agent: { ...go(agent, { phase: 'flooding', line: 0, lines }), canvas: emptyCanvas },
        effects: [{ type: 'write', text: eraseLive(agent.canvas) }],
      };
    }
    case 'modes':
      return {
        agent: go(agent, { phase: 'frozen' }),
        effects: [{ type: 'write', text: turnOn(step.names) }],
      };
    case 'crash': {
      const text = `${turnOn(modeNames)}\r\nthe agent is about to crash${step.half ? '\x1b]0;unfinished' : ''}`;
      const end =
        'signal' in step.end
          ? { type: 'die' as const, signal: step.end.signal }
          : { type: 'end' as const, code: step.end.code };
      return { agent: go(agent, { phase: 'gone' }), effects: [{ type: 'write', text }, end] };
    }
    case 'close-output':
      return {
        agent: go(agent, { phase: 'mute', until: now + step.ms }),
        effects: [{ type: 'close-output' }],
      };
  }
};

const turnOn = (names: readonly ModeName[]): string => names.map((name) => modeSequences[name]).join('');

export interface Step {
  readonly agent: Agent;
  readonly effects: readonly Effect[];
}

/** Everything the agent does: an event in, the next state and what the shell has to do out. No clock, no I/O. */
const step = (agent: Agent, event: Event, now: number): Step => {
  if (agent.phase.phase === 'gone') return { agent, effects: [] };
  const change = react(forgetLeaving(agent, now), event, now);
  const { text, agent: drawn } = draw(change, now);
  const drawing: readonly Effect[] = text === '' ? [] : [{ type: 'write', text }];
  return { agent: drawn, effects: [...(change.first ?? []), ...drawing, ...(change.effects ?? [])] };
};

/** When time changes something; undefined if only events can. */
const deadline = (agent: Agent, now: number): number | undefined => {
  const leaving = agent.notice === undefined ? undefined : agent.leaveUntil;
  const dues = [progressDeadline(agent), spinnerDeadline(agent.phase, now), leaving];
  const known = dues.filter((due) => due !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

const moodOf = ({ phase }: Agent): Mood =>
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

/** The agent and whoever plays the script with it. */
export interface Demo {
  readonly agent: Agent;
  readonly player: Player;
}

export interface Advanced {
  readonly demo: Demo;
  readonly effects: readonly Effect[];
}

export const startDemo = (brush: Brush, steps: readonly ScriptStep[]): Demo => ({
  agent: startAgent(brush),
  player: playerOf(steps),
});

/** One event, and then every move of the script that is due because of it. */
export const advance = (demo: Demo, event: Event, now: number): Advanced => {
  const first = step(demo.agent, event, now);
  let current: Demo = { ...demo, agent: first.agent };
  const effects = [...first.effects];
  for (;;) {
    const { player, move } = play(current.player, moodOf(current.agent), now);
    if (player === current.player) return { demo: current, effects };
    const next = move ? step(current.agent, move, now) : { agent: current.agent, effects: [] };
    effects.push(...next.effects);
    current = { agent: next.agent, player };
  }
};

/** When time changes something next; undefined if only events can. */
export const demoDeadline = ({ agent, player }: Demo, now: number): number | undefined => {
  const dues = [deadline(agent, now), playerDeadline(player, moodOf(agent))].filter(
    (due) => due !== undefined,
  );
  return dues.length === 0 ? undefined : Math.min(...dues);
};
