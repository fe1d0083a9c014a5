import stringWidth from 'string-width';
import {
  disableModes,
  drawableColumns,
  eraseLive,
  paint,
  printLines,
  startPaintState,
  title,
  wrapLine,
  type Line,
  type PaintState,
  type Size,
} from './draw.js';
import type { Key } from './keys.js';
import { liveRows, spinnerDeadline, titleOf, type Dialog, type View } from './live-rows.js';
import * as script from './script.js';
import type { Condition, PlannedTurn, ScriptedUser, Step, ToolCall, ToolUse } from './script.js';

// The demo agent: takes an event, and returns the next state and the output. No clock, no I/O.

/** Something that the agent does for a time; it finishes with a change. */
interface Act {
  readonly work: string;
  readonly ms: number;
  readonly finish: (agent: DemoAgent) => Change;
}

/** The whole state of the agent. Without acts it waits for the user. */
interface DemoAgent extends View {
  readonly acts: readonly Act[];
  /** when the first act finishes */
  readonly actEndsAt: number;
  /** the user, and not the script, has typed some of the draft */
  readonly isDraftTyped: boolean;
  /** ctxwrap has nothing more to show by itself */
  readonly isOver: boolean;
  /** the first turns, where they are planned */
  readonly planned: readonly PlannedTurn[];
  readonly usedTokens: number;
  readonly turns: number;
  readonly hasCompacted: boolean;
  /** true until the first turn after a compaction ends */
  readonly isJustCompacted: boolean;
  /** what the next summary tells: the last prompt, and what was done since the last compaction */
  readonly lastPrompt: string;
  readonly done: readonly ToolCall[];
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

/** One line of the session log, without `at` (milliseconds since the epoch). */
export type SessionRecord =
  | {
      readonly type: 'turn';
      readonly usedTokens: number;
      readonly windowTokens: number;
      readonly model: string;
    }
  | { readonly type: 'prompt' | 'answer'; readonly text: string }
  | ({ readonly type: 'call'; readonly output: string } & ToolUse)
  | {
      readonly type: 'compaction';
      readonly preTokens: number;
      readonly postTokens: number;
      readonly summary: string;
    };

/** The next state, finished lines, and records for the session log. */
interface Change {
  readonly agent: DemoAgent;
  readonly printed: readonly Line[];
  readonly records: readonly SessionRecord[];
}

const become = (
  agent: DemoAgent,
  printed: readonly Line[] = [],
  records: readonly SessionRecord[] = [],
): Change => ({ agent, printed, records });

/** The agent and the scripted user; in interactive mode the script is empty. */
export interface Demo {
  readonly agent: DemoAgent;
  readonly player: ScriptedUser;
}

export const startDemo = (
  drawOptions: View['drawOptions'],
  steps: readonly Step[],
  planned: readonly PlannedTurn[] = [],
): Demo => ({
  agent: {
    acts: [],
    actEndsAt: 0,
    since: 0,
    draft: '',
    isDraftTyped: false,
    isShow: steps.length > 0,
    isOver: false,
    planned,
    leaveUntil: 0,
    usedTokens: script.firstTokens,
    turns: 0,
    hasCompacted: false,
    isJustCompacted: false,
    lastPrompt: '',
    done: [],
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
    records.push(...change.records);
  };
  if (!agent.end) dispatch(event);
  while (!agent.end) {
    const played = script.takeStep(player, meets(agent), now);
    if (played.player === player) break;
    player = played.player;
    if (played.key) dispatch({ type: 'key', key: played.key });
  }
  return { demo: { agent, player }, output, records };
};

/** When time causes the next change; undefined if only events can. */
export const demoDeadline = ({ agent, player }: Demo, now: number): number | undefined => {
  const { acts, actEndsAt, leaveUntil } = agent;
  const dues = [
    ...(acts.length > 0 ? [actEndsAt, spinnerDeadline(agent, now)] : []),
    leaveUntil > now ? leaveUntil : undefined,
    script.nextStepDeadline(player, meets(agent)),
  ].filter((due) => due !== undefined);
  return dues.length === 0 ? undefined : Math.min(...dues);
};

const isIdle = ({ acts, dialog }: DemoAgent): boolean => acts.length === 0 && !dialog;

/** Whether the agent is what the scripted user waits for. */
const meets =
  (agent: DemoAgent) =>
  (what: Condition): boolean =>
    ({
      idle: isIdle(agent),
      dialog: agent.dialog !== undefined,
      drafted: agent.draft !== '',
      compacted: isIdle(agent) && agent.hasCompacted,
      over: agent.isOver,
    })[what];

const handleEvent = (agent: DemoAgent, event: DemoEvent, now: number): Change => {
  switch (event.type) {
    case 'start':
      return become(agent, welcome, agent.planned.length > 0 ? [turnRecord(agent)] : []);
    case 'over':
      return become({ ...agent, isOver: true });
    case 'tick':
      return finishActs(agent, now);
    case 'key':
      return handleKey(agent, event, now);
    case 'resize':
      return become(resize(agent, event.size));
    case 'signal':
      return leave(agent, { signal: event.signal });
    case 'continued':
      return become({ ...agent, paintState: startPaintState, title: '' });
  }
};

const blank: Line = { text: '' };
const bold = (text: string): Line => ({ text, style: 'bold' });
const dim = (text: string): Line => ({ text, style: 'dim' });
const accent = (text: string): Line => ({ text, style: 'accent' });

const welcome: readonly Line[] = [
  bold('demo agent'),
  dim(`a simulator with a window of ${script.windowTokens / 1000}k tokens · no model, no network`),
  blank,
];

/** Terminals rewrap the old rows differently when the width changes, so the window is redrawn. */
const resize = (agent: DemoAgent, size: Size): DemoAgent => {
  const mustClear = size.columns !== agent.drawOptions.size.columns;
  const paintState = mustClear ? { ...startPaintState, mustClear } : { ...agent.paintState, frame: '' };
  return { ...agent, drawOptions: { ...agent.drawOptions, size }, paintState };
};

/** Quits: removes the live rows, and keeps the conversation. */
const leave = (agent: DemoAgent, end: DemoAgent['end'] = {}): Change =>
  become({ ...agent, end }, [dim('Goodbye.')]);

/** Lines kept to redraw the window; more than a tall window has rows. */
const historyLines = 200;

const draw = ({ agent, printed }: Change, now: number) => {
  const { drawOptions, paintState } = agent;
  if (agent.end)
    return {
      agent,
      text: eraseLive(paintState) + printLines(printed, drawOptions) + title('') + disableModes,
    };
  const history = [...agent.history, ...printed].slice(-historyLines);
  const live = liveRows(agent, now);
  const above = paintState.mustClear ? lastRows(history, drawOptions.size, live.lines.length) : printed;
  const painted = paint(paintState, above, live, drawOptions);
  const name = titleOf(agent, now);
  const before = (name === agent.title ? '' : title(name)) + (paintState.mustClear ? '\x1b[H\x1b[2J' : '');
  return {
    agent: { ...agent, history, paintState: painted.paintState, title: name },
    text: before + painted.text,
  };
};

/** The last finished lines that fit above the live rows. */
const lastRows = (history: readonly Line[], size: Size, liveCount: number): readonly Line[] => {
  const rows = history.flatMap((line) => wrapLine(line, drawableColumns(size)));
  return rows.slice(Math.max(0, rows.length - Math.max(0, size.rows - liveCount)));
};

// What the agent does: it thinks, calls tools, writes its answer word by word, runs a command, compacts.

const [wordMs, thinkMs, callMs, runMs, compactMs, leaveMs] = [35, 800, 520, 900, 2000, 2000];

const begin = (agent: DemoAgent, acts: readonly Act[], now: number): DemoAgent => {
  const [first] = acts;
  return { ...agent, acts, work: first?.work, since: now, actEndsAt: now + (first?.ms ?? 0) };
};

/** Finishes the acts that are due. */
const finishActs = (agent: DemoAgent, now: number): Change => {
  const [act, ...acts] = agent.acts;
  if (!act || now < agent.actEndsAt) return become(agent);
  const done = act.finish(agent);
  const actEndsAt = agent.actEndsAt + (acts[0]?.ms ?? 0);
  const later = finishActs({ ...done.agent, acts, work: acts[0]?.work, actEndsAt }, now);
  return become(later.agent, [...done.printed, ...later.printed], [...done.records, ...later.records]);
};

const thinking = (ms: number): Act => ({ work: 'Thinking', ms, finish: become });

/** A real agent's record says after each tool how full the window is. */
const calling = (call: ToolCall, isLast: boolean): Act => ({
  work: 'Working',
  ms: callMs,
  finish: (agent) => {
    const { text, result, tokens, use } = call;
    const after = { ...agent, usedTokens: agent.usedTokens + tokens, done: [...agent.done, call] };
    const shown = [accent(`● ${text}`), dim(`  └ ${result}`), ...(isLast ? [blank] : [])];
    return become(after, shown, [{ type: 'call', ...use, output: result }, turnRecord(after)]);
  },
});

const answering = (answer: string): readonly Act[] => {
  const act = (ms: number, finish: Act['finish']): Act => ({ work: 'Answering', ms, finish });
  return [
    act(0, (agent) => become({ ...agent, row: '●' })),
    ...answer.split(/ +/).map((word) => act(wordMs, (agent) => addWord(agent, word))),
    act(0, (agent) => finishTurn(agent, answer)),
  ];
};

/** Full rows are printed. */
const addWord = (agent: DemoAgent, word: string): Change => {
  const { row = '', drawOptions } = agent;
  const longer = `${row} ${word}`;
  if (stringWidth(longer) <= drawableColumns(drawOptions.size)) return become({ ...agent, row: longer });
  return become({ ...agent, row: `  ${word}` }, [{ text: row }]);
};

const finishTurn = (agent: DemoAgent, text: string): Change => {
  const { row = '', turns } = agent;
  const usedTokens = tokensAfterTurn(agent);
  const after = { ...agent, row: undefined, usedTokens, turns: turns + 1, isJustCompacted: false };
  return become(after, [{ text: row }, blank], [{ type: 'answer', text }, turnRecord(after)]);
};

const turnRecord = ({ usedTokens }: DemoAgent): SessionRecord => ({
  type: 'turn',
  usedTokens,
  windowTokens: script.windowTokens,
  model: 'simulated',
});

/** Tokens in the window after the current or next turn. */
const tokensAfterTurn = ({ usedTokens, turns, isJustCompacted, planned }: DemoAgent): number =>
  usedTokens +
  (isJustCompacted ? script.gainAfterCompaction : (planned[turns]?.tokens ?? script.turnTokens(turns)));

const running = (command: string): readonly Act[] => [
  {
    work: `Running ${command}`,
    ms: runMs,
    finish: (agent) =>
      become({ ...agent, since: agent.actEndsAt }, [
        dim('  └ done, 42 of 42 (nothing was really run)'),
        blank,
      ]),
  },
  ...answering(script.answerAfterDialog),
];

const compacting: Act = {
  work: 'Compacting conversation',
  ms: compactMs,
  finish: (agent) => {
    const { usedTokens: preTokens, lastPrompt, done } = agent;
    const postTokens = script.compactedTokens(preTokens);
    return become(
      { ...agent, usedTokens: postTokens, hasCompacted: true, isJustCompacted: true, done: [] },
      [{ text: `✓ ${script.compactedText(preTokens, postTokens)}`, style: 'good' }, blank],
      [{ type: 'compaction', preTokens, postTokens, summary: script.summaryText(lastPrompt, done) }],
    );
  },
};

// Changes caused by keys.

const handleKey = (
  agent: DemoAgent,
  { key, isReal = false }: { readonly key: Key; readonly isReal?: boolean },
  now: number,
): Change => {
  if (isReal && agent.isShow && endsShow(agent, key)) return leave(agent);
  const change = agent.dialog
    ? handleDialogKey(agent, agent.dialog, key, now)
    : handlePromptKey(agent, key, now);
  const isDraftTyped = change.agent.draft !== '' && (isReal || agent.isDraftTyped);
  return { ...change, agent: { ...change.agent, isDraftTyped } };
};

const endsShow = ({ isDraftTyped }: DemoAgent, key: Key): boolean =>
  key.name === 'ctrl-c' || (key.name === 'text' && key.text === 'q' && !isDraftTyped);

const handlePromptKey = (agent: DemoAgent, key: Key, now: number): Change => {
  const { draft, leaveUntil } = agent;
  switch (key.name) {
    case 'text':
      return become({ ...agent, draft: draft + key.text });
    case 'backspace':
      return become({ ...agent, draft: Array.from(draft).slice(0, -1).join('') });
    case 'ctrl-u':
      return become({ ...agent, draft: '' });
    case 'enter':
      return isIdle(agent) ? submit(agent, now) : become(agent);
    case 'escape':
      return interrupt(agent);
    case 'ctrl-c':
      if (draft !== '') return become({ ...agent, draft: '' });
      return now < leaveUntil ? leave(agent) : interrupt({ ...agent, leaveUntil: now + leaveMs });
    case 'ctrl-d':
      return draft === '' ? leave(agent) : become(agent);
    default:
      return become(agent);
  }
};

const submit = (before: DemoAgent, now: number): Change => {
  const prompt = before.draft.trim();
  const agent = { ...before, draft: '' };
  const { usedTokens, turns, isJustCompacted, planned } = agent;
  const says = (after: DemoAgent, ...lines: readonly Line[]): Change =>
    become(after, [bold(`> ${prompt}`), blank, ...lines]);
  if (prompt === '') return become(agent);
  if (prompt === '/quit' || prompt === '/exit') return leave(agent);
  if (prompt === '/compact') return says(begin(agent, [compacting], now));
  if (prompt.startsWith('/')) {
    const text = prompt === '/help' ? script.helpText : `Unknown command ${prompt}. ${script.helpText}`;
    return says(agent, dim(`  ${text}`), blank);
  }
  const after = tokensAfterTurn(agent);
  if (after > script.windowTokens) return says(agent, { text: `● ${script.fullText(usedTokens)}` }, blank);
  const heard = { ...agent, lastPrompt: prompt };
  const hears = (next: DemoAgent): Change => ({ ...says(next), records: [{ type: 'prompt', text: prompt }] });
  const command = /^run (.+)/.exec(prompt)?.[1];
  if (command !== undefined) return hears({ ...heard, dialog: { command, isYes: true } });
  const { answer = script.answerOf(turns, usedTokens, after), calls = [] } = isJustCompacted
    ? { answer: script.answerAfterCompaction(prompt) }
    : (planned[turns] ?? {});
  const turn = [
    thinking(calls.length > 0 ? callMs : thinkMs),
    ...calls.map((call, index) => calling(call, index === calls.length - 1)),
    ...answering(answer),
  ];
  return hears(begin(heard, turn, now));
};

const handleDialogKey = (agent: DemoAgent, { command, isYes }: Dialog, key: Key, now: number): Change => {
  const answered = (isApproved: boolean): Change => {
    const denied = [thinking(thinkMs), ...answering(`You said no, so I did not run ${command}.`)];
    return become(begin({ ...agent, dialog: undefined }, isApproved ? running(command) : denied, now), [
      accent(`● Run ${command}`),
      ...(isApproved ? [] : [dim('  └ denied'), blank]),
    ]);
  };
  const name = key.name === 'text' ? key.text : key.name;
  switch (name) {
    case 'up':
    case 'down':
      return become({ ...agent, dialog: { command, isYes: name === 'up' } });
    case 'enter':
      return answered(isYes);
    case '1':
      return answered(true);
    case '2':
    case 'escape':
    case 'ctrl-c':
      return answered(false);
    default:
      return become(agent);
  }
};

const interrupt = (agent: DemoAgent): Change => {
  const { acts, row } = agent;
  if (acts.length === 0) return become(agent);
  return become({ ...agent, acts: [], work: undefined, row: undefined }, [
    ...(row === undefined ? [] : [{ text: row }]),
    dim('  └ interrupted'),
    blank,
  ]);
};
