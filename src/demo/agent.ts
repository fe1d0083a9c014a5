import stringWidth from 'string-width';
import {
  drawableColumns,
  startPaintState,
  eraseLive,
  paint,
  printLines,
  disableModes,
  title,
  wrapLine,
  type DrawOptions,
  type PaintState,
  type Line,
  type Size,
} from './draw.js';
import type { Key } from './keys.js';
import {
  liveRows,
  spinnerDeadline,
  titleOf,
  type Dialog,
  type Phase,
  type Streaming,
  type Working,
} from './live-rows.js';
import {
  answerAfterCompaction,
  answerAfterDialog,
  answerOf,
  compactedText,
  compactedTokens,
  firstTokens,
  fullText,
  gainAfterCompaction,
  turnTokens,
  helpText,
  takeStep,
  nextStepDeadline,
  windowTokens,
  type Condition,
  type ScriptedUser,
  type Step,
} from './script.js';
import type { PlannedTurn, ToolCall } from './tour.js';

// The demo agent's state machine: takes an event, and returns the next state and the output. No clock, no I/O.

/** The whole state of the agent. */
interface DemoAgent {
  readonly phase: Phase;
  readonly draft: string;
  /** the user, and not the script, has typed some of the draft */
  readonly isDraftTyped: boolean;
  /** a scripted user plays: one key of the real one ends it */
  readonly isShow: boolean;
  /** ctxwrap has nothing more to show by itself */
  readonly isOver: boolean;
  /** the first turns, where they are planned */
  readonly planned: readonly PlannedTurn[];
  /** a second Ctrl-C before this time quits */
  readonly leaveUntil: number;
  readonly usedTokens: number;
  readonly turns: number;
  readonly compactions: number;
  /** true until the first turn after a compaction ends */
  readonly isJustCompacted: boolean;
  readonly drawOptions: DrawOptions;
  readonly paintState: PaintState;
  /** the last finished lines, to redraw the window when its width changes */
  readonly history: readonly Line[];
  readonly title: string;
  /** the agent has quit, or was ended by this signal */
  readonly end?: { readonly signal?: NodeJS.Signals };
}

/** An event for the agent. */
export type DemoEvent =
  | { readonly type: 'start' | 'tick' | 'continued' | 'over' }
  /** by the scripted user unless `isReal` */
  | { readonly type: 'key'; readonly key: Key; readonly isReal?: true }
  | { readonly type: 'resize'; readonly size: Size }
  | { readonly type: 'signal'; readonly signal: NodeJS.Signals };

type KeyEvent = Extract<DemoEvent, { readonly type: 'key' }>;

/** One line of the session log, without `at` (milliseconds since the epoch). */
export type SessionRecord =
  | {
      readonly type: 'turn';
      readonly usedTokens: number;
      readonly windowTokens: number;
      readonly model: string;
    }
  | { readonly type: 'compaction'; readonly preTokens: number; readonly postTokens: number };

/** The result of one event: finished lines, and a record for the session log. */
interface Change {
  readonly agent: DemoAgent;
  readonly printed?: readonly Line[];
  readonly record?: SessionRecord;
}

/** The agent and the scripted user; in interactive mode the script is empty. */
export interface Demo {
  readonly agent: DemoAgent;
  readonly player: ScriptedUser;
}

export const startDemo = (
  drawOptions: DrawOptions,
  steps: readonly Step[],
  planned: readonly PlannedTurn[] = [],
): Demo => ({
  agent: {
    phase: { kind: 'idle' },
    draft: '',
    isDraftTyped: false,
    isShow: steps.length > 0,
    isOver: false,
    planned,
    leaveUntil: 0,
    usedTokens: firstTokens,
    turns: 0,
    compactions: 0,
    isJustCompacted: false,
    drawOptions,
    paintState: startPaintState,
    history: [],
    title: '',
  },
  player: { steps, notBefore: 0 },
});

/** Handles one event, and then every step of the scripted user that is due because of it. */
export const advance = (demo: Demo, event: DemoEvent, now: number) => {
  let { agent, player } = demo;
  let output = '';
  const records: SessionRecord[] = [];
  const dispatch = (next: DemoEvent): void => {
    const change = handleEvent(agent, next, now);
    const drawn = draw(change, now);
    agent = drawn.agent;
    output += drawn.text;
    if (change.record) records.push(change.record);
  };
  if (!agent.end) dispatch(event);
  while (!agent.end) {
    const played = takeStep(player, conditionsOf(agent), now);
    if (played.player === player) break;
    player = played.player;
    if (played.key) dispatch({ type: 'key', key: played.key });
  }
  return { demo: { agent, player }, output, records };
};

/** When time causes the next change; undefined if only events can. */
export const demoDeadline = ({ agent, player }: Demo, now: number): number | undefined => {
  const { phase, leaveUntil } = agent;
  const dues = [
    'until' in phase ? phase.until : undefined,
    'nextAt' in phase ? phase.nextAt : undefined,
    spinnerDeadline(phase, now),
    leaveUntil > now ? leaveUntil : undefined,
    nextStepDeadline(player, conditionsOf(agent)),
  ].filter((due) => due !== undefined);
  return dues.length === 0 ? undefined : Math.min(...dues);
};

const conditionsOf = ({ phase: { kind }, compactions, isOver }: DemoAgent): readonly Condition[] => [
  kind === 'idle' || kind === 'dialog' ? kind : 'busy',
  ...(compactions > 0 && kind === 'idle' ? (['compacted'] as const) : []),
  ...(isOver ? (['over'] as const) : []),
];

const handleEvent = (agent: DemoAgent, event: DemoEvent, now: number): Change => {
  switch (event.type) {
    case 'start':
      return { agent, printed: welcome, ...(agent.planned.length > 0 ? { record: turnRecord(agent) } : {}) };
    case 'over':
      return { agent: { ...agent, isOver: true } };
    case 'tick':
      return advanceTime(agent, now);
    case 'key':
      return handleKey(agent, event, now);
    case 'resize':
      return { agent: resize(agent, event.size) };
    case 'signal':
      return leave(agent, event.signal);
    case 'continued':
      return { agent: { ...agent, paintState: startPaintState, title: '' } };
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

/** Terminals rewrap the old rows differently when the width changes, so the window is redrawn. */
const resize = (agent: DemoAgent, size: Size): DemoAgent => {
  const mustClear = size.columns !== agent.drawOptions.size.columns;
  const paintState = mustClear ? { ...startPaintState, mustClear } : { ...agent.paintState, frame: '' };
  return { ...agent, drawOptions: { ...agent.drawOptions, size }, paintState };
};

/** Quits: removes the live rows, and keeps the conversation. */
const leave = (agent: DemoAgent, signal?: NodeJS.Signals): Change => ({
  agent: { ...agent, end: signal ? { signal } : {} },
  printed: [{ text: 'Goodbye.', style: 'dim' }],
});

/** Lines kept to redraw the window; more than a tall window has rows. */
const historyLines = 200;

const turnRecord = ({ usedTokens }: DemoAgent): SessionRecord => ({
  type: 'turn',
  usedTokens,
  windowTokens,
  model: 'simulated',
});

const draw = (
  { agent, printed = [] }: Change,
  now: number,
): { readonly text: string; readonly agent: DemoAgent } => {
  const { drawOptions, paintState } = agent;
  if (agent.end) {
    const farewell = printLines(printed, drawOptions) + title('') + disableModes;
    return { text: eraseLive(paintState) + farewell, agent };
  }
  const history = [...agent.history, ...printed].slice(-historyLines);
  const live = liveRows(agent, now);
  const above = paintState.mustClear ? lastRows(history, drawOptions.size, live.lines.length) : printed;
  const painted = paint(paintState, above, live, drawOptions);
  const name = titleOf(agent.phase, now);
  return {
    text:
      (name === agent.title ? '' : title(name)) +
      (paintState.mustClear ? '\x1b[H\x1b[2J' : '') +
      painted.text,
    agent: { ...agent, history, paintState: painted.paintState, title: name },
  };
};

/** The last finished lines that fit above the live rows. */
const lastRows = (history: readonly Line[], size: Size, liveCount: number): readonly Line[] => {
  const rows = history.flatMap((line) => wrapLine(line, drawableColumns(size)));
  return rows.slice(Math.max(0, rows.length - Math.max(0, size.rows - liveCount)));
};

// Changes caused by time: thinking ends, words are streamed, commands and compactions finish.

const wordMs = 35;
const thinkMs = 1100;
const callMs = 520;
const runMs = 900;
const compactMs = 3500;
const leaveMs = 2000;

const advanceTime = (agent: DemoAgent, now: number): Change => {
  const { phase } = agent;
  if ('until' in phase && now < phase.until) return { agent };
  switch (phase.kind) {
    case 'thinking':
      return { agent: { ...agent, phase: startWorking(phase, now) } };
    case 'working':
      return call(agent, phase, now);
    case 'streaming':
      return stream(agent, phase, now);
    case 'running':
      return {
        agent: { ...agent, phase: startStreaming(answerAfterDialog, now, now) },
        printed: [{ text: '  └ done, 42 of 42 (nothing was really run)', style: 'dim' }, { text: '' }],
      };
    case 'compacting':
      return finishCompaction(agent);
    default:
      return { agent };
  }
};

const startWorking = (
  { calls, answer, since }: { calls: readonly ToolCall[]; answer: string; since: number },
  now: number,
): Working | Streaming =>
  calls.length === 0
    ? startStreaming(answer, since, now)
    : { kind: 'working', since, nextAt: now + callMs, calls, answer };

/** The next tool has returned; a real agent's record says after each one how full the window is. */
const call = (agent: DemoAgent, phase: Working, now: number): Change => {
  if (now < phase.nextAt) return { agent };
  const [done, ...calls] = phase.calls;
  if (!done) return { agent };
  const usedTokens = agent.usedTokens + done.tokens;
  const after = { ...agent, usedTokens, phase: startWorking({ ...phase, calls }, now) };
  return {
    agent: after,
    printed: [
      { text: `● ${done.text}`, style: 'accent' },
      { text: `  └ ${done.result}`, style: 'dim' },
      ...(calls.length === 0 ? [{ text: '' }] : []),
    ],
    record: turnRecord(after),
  };
};

const startStreaming = (answer: string, since: number, now: number): Streaming => ({
  kind: 'streaming',
  since,
  nextAt: now + wordMs,
  words: answer.split(/ +/),
  row: '●',
});

const stream = (agent: DemoAgent, phase: Streaming, now: number): Change => {
  if (now < phase.nextAt) return { agent };
  const due = 1 + Math.floor((now - phase.nextAt) / wordMs);
  const columns = drawableColumns(agent.drawOptions.size);
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

const finishTurn = (agent: DemoAgent, printed: readonly Line[]): Change => {
  const usedTokens = tokensAfterTurn(agent);
  const after: DemoAgent = {
    ...agent,
    phase: { kind: 'idle' },
    usedTokens,
    turns: agent.turns + 1,
    isJustCompacted: false,
  };
  return { agent: after, printed, record: turnRecord(after) };
};

/** Tokens in the window after the current or next turn. */
const tokensAfterTurn = ({ usedTokens, turns, isJustCompacted, planned }: DemoAgent): number =>
  usedTokens + (isJustCompacted ? gainAfterCompaction : (planned[turns]?.tokens ?? turnTokens(turns)));

const finishCompaction = (agent: DemoAgent): Change => {
  const preTokens = agent.usedTokens;
  const postTokens = compactedTokens(preTokens);
  return {
    agent: {
      ...agent,
      phase: { kind: 'idle' },
      usedTokens: postTokens,
      compactions: agent.compactions + 1,
      isJustCompacted: true,
    },
    printed: [{ text: `✓ ${compactedText(preTokens, postTokens)}`, style: 'good' }, { text: '' }],
    record: { type: 'compaction', preTokens, postTokens },
  };
};

// Changes caused by keys.

const handleKey = (agent: DemoAgent, { key, isReal }: KeyEvent, now: number): Change => {
  if (isReal && agent.isShow && endsShow(agent, key)) return leave(agent);
  const change =
    agent.phase.kind === 'dialog'
      ? handleDialogKey(agent, agent.phase, key, now)
      : handlePromptKey(agent, key, now);
  const { draft } = change.agent;
  const isDraftTyped = draft !== '' && (isReal === true || agent.isDraftTyped);
  return { ...change, agent: { ...change.agent, isDraftTyped } };
};

const endsShow = ({ isDraftTyped }: DemoAgent, key: Key): boolean =>
  key.name === 'ctrl-c' || (key.name === 'text' && key.text === 'q' && !isDraftTyped);

const handlePromptKey = (agent: DemoAgent, key: Key, now: number): Change => {
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

const submit = (before: DemoAgent, now: number): Change => {
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
    return { agent: { ...agent, phase: { kind: 'dialog', command, isYes: true } }, printed: says() };
  if (agent.isJustCompacted) return { agent: think(agent, answerAfterCompaction, now), printed: says() };
  const { answer = answerOf(turns, usedTokens, after), calls = [] } = agent.planned[turns] ?? {};
  return { agent: think(agent, answer, now, calls), printed: says() };
};

/** Starts thinking about an answer, which is given after these calls. */
const think = (
  agent: DemoAgent,
  answer: string,
  now: number,
  calls: readonly ToolCall[] = [],
): DemoAgent => ({
  ...agent,
  phase: { kind: 'thinking', since: now, until: now + (calls.length > 0 ? callMs : thinkMs), calls, answer },
});

const handleDialogKey = (agent: DemoAgent, dialog: Dialog, key: Key, now: number): Change => {
  const { command, isYes } = dialog;
  const asked: Line = { text: `● Run ${command}`, style: 'accent' };
  const answered = (approved: boolean): Change =>
    approved
      ? {
          agent: { ...agent, phase: { kind: 'running', since: now, until: now + runMs, command } },
          printed: [asked],
        }
      : {
          agent: think(agent, `You said no, so I did not run ${command}.`, now),
          printed: [asked, { text: '  └ denied', style: 'dim' }, { text: '' }],
        };
  switch (key.name === 'text' ? key.text : key.name) {
    case 'up':
      return { agent: { ...agent, phase: { ...dialog, isYes: true } } };
    case 'down':
      return { agent: { ...agent, phase: { ...dialog, isYes: false } } };
    case '1':
      return answered(true);
    case 'enter':
      return answered(isYes);
    case '2':
    case 'escape':
    case 'ctrl-c':
      return answered(false);
    default:
      return { agent };
  }
};

const interrupt = (agent: DemoAgent): Change => {
  const { phase } = agent;
  if (!('since' in phase)) return { agent };
  const row: readonly Line[] = phase.kind === 'streaming' ? [{ text: phase.row }] : [];
  return {
    agent: { ...agent, phase: { kind: 'idle' } },
    printed: [...row, { text: '  └ interrupted', style: 'dim' }, { text: '' }],
  };
};
