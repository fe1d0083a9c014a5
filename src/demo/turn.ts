import {
  columnsOf,
  drawableColumns,
  type Line,
  eraseLive,
  emptyCanvas,
  releaseModes,
  clip,
  clipStart,
  type Live,
} from './draw.js';
import type { Key } from './keys.js';
import {
  go,
  type Agent,
  type Change,
  type Effect,
  type SessionRecord,
  type Streaming,
  answerAfterDialog,
  compactedText,
  compactedTokens,
  failedText,
  gainAfterCompaction,
  gainOf,
  windowTokens,
  answerAfterCompaction,
  answerOf,
  compactCommand,
  fullText,
  helpText,
  nothingText,
  suspendedText,
  type Phase,
} from './state.js';

// What time alone does: thinking ends, words come, commands and compactions finish.

const wordMs = 35;
const compactMs = 3500;
/** One chunk of a burst: 1024 lines of 64 bytes, as much as a PTY read returns at most. */
const floodLines = 1024;

export const progress = (agent: Agent, now: number): Change => {
  const { phase } = agent;
  switch (phase.phase) {
    case 'thinking':
      return now < phase.until ? { agent } : { agent: go(agent, startStreaming(phase, now)) };
    case 'streaming':
      return stream(agent, phase, now);
    case 'running':
      return now < phase.until ? { agent } : finishCommand(agent, now);
    case 'compacting':
      return now < phase.until ? { agent } : endCompaction(agent, phase.trigger);
    case 'flooding':
      return flood(agent, phase);
    case 'mute':
      return now < phase.until
        ? { agent }
        : { agent: go(agent, { phase: 'gone' }), effects: [{ type: 'end', code: 0 }] };
    default:
      return { agent };
  }
};

/** When `progress` has something to do; undefined if nothing depends on time. */
export const progressDeadline = ({ phase }: Agent): number | undefined => {
  switch (phase.phase) {
    case 'thinking':
    case 'running':
    case 'compacting':
    case 'mute':
      return phase.until;
    case 'streaming':
      return phase.nextAt;
    case 'flooding':
      return 0;
    default:
      return undefined;
  }
};

const startStreaming = (
  { since, answer }: { readonly since: number; readonly answer: string },
  now: number,
): Streaming => ({
  phase: 'streaming',
  since,
  nextAt: now + wordMs,
  words: answer.split(/ +|(?<=\n)|(?=\n)/).filter((word) => word !== ''),
  row: '●',
});

const stream = (agent: Agent, phase: Streaming, now: number): Change => {
  if (now < phase.nextAt) return { agent };
  const due = 1 + Math.floor((now - phase.nextAt) / wordMs);
  const columns = drawableColumns(agent.brush.size);
  const { rows, row } = fillRows(phase.row, phase.words.slice(0, due), columns);
  const printed = rows.map((text): Line => ({ text }));
  const words = phase.words.slice(due);
  if (words.length === 0) return finishTurn(agent, [...printed, { text: row }, { text: '' }], now);
  return { agent: go(agent, { ...phase, words, row, nextAt: phase.nextAt + due * wordMs }), printed };
};

const fillRows = (begun: string, words: readonly string[], columns: number) => {
  const rows: string[] = [];
  let row = begun;
  for (const word of words) {
    if (word === '\n' || columnsOf(`${row} ${word}`) > columns) {
      rows.push(row);
      row = word === '\n' ? ' ' : `  ${word}`;
    } else {
      row = `${row} ${word}`;
    }
  }
  return { rows, row };
};

const finishTurn = (agent: Agent, printed: readonly Line[], now: number): Change => {
  const { fill: _used, ...rest } = agent;
  const usedTokens = tokensAfterTurn(agent);
  const ended: Agent = {
    ...rest,
    phase: { phase: 'idle' },
    usedTokens,
    turns: agent.turns + 1,
    compacted: false,
  };
  return {
    agent: usedTokens >= agent.quirks.compactsFrom ? compact(ended, 'agent', now) : ended,
    printed,
    effects: recorded(agent, { type: 'turn', usedTokens, windowTokens, model: 'demo-1' }),
  };
};

/** Tokens in the window when the turn that runs now, or the next one, has ended. */
const tokensAfterTurn = (agent: Agent): number =>
  agent.fill ?? agent.usedTokens + (agent.compacted ? gainAfterCompaction : gainOf(agent.turns));

const finishCommand = (agent: Agent, now: number): Change => ({
  agent: go(agent, startStreaming({ since: now, answer: answerAfterDialog }, now)),
  printed: [{ text: '  ⎿ done, 42 of 42 (nothing was really run)', style: 'dim' }, { text: '' }],
});

export const compact = (agent: Agent, trigger: 'user' | 'agent', now: number): Agent =>
  go(agent, {
    phase: 'compacting',
    since: now,
    until: trigger === 'user' && agent.quirks.onCompact === 'hang' ? Infinity : now + compactMs,
    trigger,
  });

const endCompaction = (agent: Agent, trigger: 'user' | 'agent'): Change => {
  const { onCompact, failure } = agent.quirks;
  if (trigger === 'user' && onCompact === 'fail') return failCompaction(agent, failedText(failure));
  if (trigger === 'user' && onCompact === 'lie') return feignCompaction(agent);
  return finishCompaction(agent, trigger);
};

const failCompaction = (agent: Agent, text: string): Change => ({
  agent: go(agent, { phase: 'idle' }),
  printed: [{ text: `✗ ${text}` }, { text: '' }],
  effects: recorded(agent, { type: 'compaction-failed', text }),
});

const feignCompaction = (agent: Agent): Change => ({
  agent: go(agent, { phase: 'idle' }),
  printed: [
    { text: `✓ ${compactedText(agent.usedTokens, compactedTokens(agent.usedTokens))}`, style: 'good' },
    { text: '' },
  ],
});

const finishCompaction = (agent: Agent, trigger: 'user' | 'agent'): Change => {
  const preTokens = agent.usedTokens;
  const postTokens = Math.min(preTokens, compactedTokens(preTokens));
  return {
    agent: { ...agent, phase: { phase: 'idle' }, usedTokens: postTokens, compacted: true },
    printed: [{ text: `✓ ${compactedText(preTokens, postTokens)}`, style: 'good' }, { text: '' }],
    effects: recorded(agent, { type: 'compaction', trigger, preTokens, postTokens }),
  };
};

const recorded = (agent: Agent, record: SessionRecord): readonly Effect[] =>
  agent.logging ? [{ type: 'record', record }] : [];

const flood = (agent: Agent, { line, lines }: { readonly line: number; readonly lines: number }): Change => {
  // idle only with the next tick: the prompt box is drawn before an event's other bytes
  if (line === lines) return { agent: go(agent, { phase: 'idle' }) };
  const end = Math.min(lines, line + floodLines);
  const text = Array.from({ length: end - line }, (_, index) => floodLine(line + index)).join('');
  return { agent: go(agent, { phase: 'flooding', line: end, lines }), effects: [{ type: 'write', text }] };
};

/** 64 bytes with CR LF; the number lets a reader prove that none is missing. */
const floodLine = (line: number): string =>
  `${String(line).padStart(9, '0')} ${'burst '.repeat(9).slice(0, 52)}\r\n`;

// What keys do, by phase.

const thinkMs = 1100;
const runMs = 900;
const leaveMs = 2000;

export const pressKey = (agent: Agent, key: Key, now: number): Change => {
  switch (agent.phase.phase) {
    case 'hung':
    case 'frozen':
    case 'mute':
    case 'gone':
      return { agent };
    case 'dialog':
      return inDialog(agent, agent.phase, key, now);
    default:
      return isIgnored(agent, key) ? { agent } : inPrompt(agent, key, now);
  }
};

const isIgnored = ({ quirks }: Agent, { name }: Key): boolean =>
  quirks.ignoredKeys.some((ignored) => ignored === name);

/** Starts thinking about an answer. */
export const think = (agent: Agent, answer: string, now: number): Agent =>
  go(agent, { phase: 'thinking', since: now, until: now + thinkMs, answer });

/** Leaves tidily: the live rows go, the conversation stays. */
export const leave = (agent: Agent, code: number): Change => ({
  agent: go(agent, { phase: 'gone' }),
  printed: [{ text: 'Goodbye.', style: 'dim' }],
  effects: [
    { type: 'raw', on: false },
    { type: 'end', code },
  ],
});

const inPrompt = (agent: Agent, key: Key, now: number): Change => {
  switch (key.name) {
    case 'text':
      return { agent: typed(agent, agent.draft + key.text) };
    case 'backspace':
      return { agent: { ...agent, draft: Array.from(agent.draft).slice(0, -1).join('') } };
    case 'ctrl-u':
      return { agent: { ...agent, draft: '' } };
    case 'enter':
      return agent.phase.phase === 'idle' ? submit(agent, now) : { agent };
    case 'escape':
      return interrupt(agent);
    case 'ctrl-c':
      return interruptOrLeave(agent, now);
    case 'ctrl-d':
      return agent.draft === '' ? leave(agent, 0) : { agent };
    case 'ctrl-z':
      return agent.hangs ? hang(agent) : { agent };
    case 'up':
    case 'down':
      return { agent };
  }
};

/** With a quirk, the permission dialog comes up between the command and its Enter. */
const typed = ({ quirks, ...rest }: Agent, draft: string): Agent => {
  const { dialogBehind, ...others } = quirks;
  const agent: Agent = { ...rest, draft, quirks };
  if (dialogBehind === undefined || draft !== compactCommand || agent.phase.phase !== 'idle') return agent;
  const dialog = { phase: 'dialog', command: dialogBehind, yes: true, stuck: false } as const;
  return go({ ...agent, quirks: others }, dialog);
};

const submit = (agent: Agent, now: number): Change => {
  const prompt = agent.draft.trim();
  const cleared = { ...agent, draft: '' };
  const asked: readonly Line[] = [{ text: `> ${prompt}`, style: 'bold' }, { text: '' }];
  if (prompt === '') return { agent: cleared };
  if (prompt === '/quit' || prompt === '/exit') return leave(cleared, 0);
  if (prompt === compactCommand) return submitCompact(cleared, asked, now);
  if (prompt.startsWith('/')) {
    const said = prompt === '/help' ? helpText : `Unknown command ${prompt}. ${helpText}`;
    return { agent: cleared, printed: [...asked, { text: `  ${said}`, style: 'dim' }, { text: '' }] };
  }
  if (tokensAfterTurn(agent) > windowTokens) {
    return { agent: cleared, printed: [...asked, { text: `● ${fullText(agent.usedTokens)}` }, { text: '' }] };
  }
  const command = /^run (.+)/.exec(prompt)?.[1];
  if (command === undefined) return { agent: think(cleared, nextAnswer(agent), now), printed: asked };
  return { agent: go(cleared, { phase: 'dialog', command, yes: true, stuck: false }), printed: asked };
};

const submitCompact = (agent: Agent, asked: readonly Line[], now: number): Change => {
  switch (agent.quirks.onCompact) {
    case 'swallow':
      return { agent };
    case 'noop':
      return { agent, printed: [...asked, { text: `● ${nothingText}` }, { text: '' }] };
    default:
      return { agent: compact(agent, 'user', now), printed: asked };
  }
};

const nextAnswer = (agent: Agent): string =>
  agent.compacted ? answerAfterCompaction : answerOf(agent.turns, agent.usedTokens, tokensAfterTurn(agent));

type Dialog = Extract<Agent['phase'], { phase: 'dialog' }>;

const inDialog = (agent: Agent, dialog: Dialog, key: Key, now: number): Change => {
  if (dialog.stuck) return { agent };
  switch (key.name === 'text' ? key.text : key.name) {
    case 'up':
      return { agent: go(agent, { ...dialog, yes: true }) };
    case 'down':
      return { agent: go(agent, { ...dialog, yes: false }) };
    case '1':
      return approve(agent, dialog.command, now);
    case 'enter':
      return dialog.yes ? approve(agent, dialog.command, now) : deny(agent, dialog.command, now);
    case '2':
    case 'escape':
    case 'ctrl-c':
      return deny(agent, dialog.command, now);
    default:
      return { agent };
  }
};

const approve = (agent: Agent, command: string, now: number): Change => ({
  agent: go(agent, { phase: 'running', since: now, until: now + runMs, command }),
  printed: [{ text: `● Run ${command}`, style: 'accent' }],
});

const deny = (agent: Agent, command: string, now: number): Change => ({
  agent: think(agent, `You said no, so I did not run ${command}.`, now),
  printed: [
    { text: `● Run ${command}`, style: 'accent' },
    { text: '  ⎿ denied', style: 'dim' },
    { text: '' },
  ],
});

const interruptOrLeave = (agent: Agent, now: number): Change => {
  if (agent.draft !== '') return { agent: { ...agent, draft: '' } };
  if (now < agent.leaveUntil) return leave(agent, 0);
  const { agent: after, printed = [] } = interrupt(agent);
  return {
    agent: { ...after, leaveUntil: now + leaveMs, notice: 'Press Ctrl-C again to leave' },
    printed,
  };
};

const interrupt = (agent: Agent): Change => {
  const { phase } = agent;
  const interrupted: readonly Line[] = [{ text: '  ⎿ interrupted', style: 'dim' }, { text: '' }];
  switch (phase.phase) {
    case 'streaming':
      return { agent: go(agent, { phase: 'idle' }), printed: [{ text: phase.row }, ...interrupted] };
    case 'thinking':
    case 'running':
    case 'compacting':
      return { agent: go(agent, { phase: 'idle' }), printed: interrupted };
    default:
      return { agent };
  }
};

/** As Claude does where the kernel discards its SIGTSTP: cooked terminal, modes off, a text over its own box, no stop. */
const hang = (agent: Agent): Change => ({
  agent: { ...go(agent, { phase: 'hung', before: agent.phase }), canvas: emptyCanvas },
  effects: [
    { type: 'write', text: eraseLive(agent.canvas) + releaseModes + suspendedText },
    { type: 'raw', on: false },
    { type: 'stop' },
  ],
});

// What the agent shows at the end of its conversation: spinner or dialog, prompt box, hint.

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
