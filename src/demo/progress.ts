// What time alone does: thinking ends, words come, commands and compactions finish.
import { go, type Agent, type Change, type Effect, type SessionRecord, type Streaming } from './agent.js';
import { columnsOf, drawableColumns, type Line } from './draw.js';
import {
  answerAfterDialog,
  compactedText,
  compactedTokens,
  failedText,
  gainAfterCompaction,
  gainOf,
  windowTokens,
} from './talk.js';

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
export const tokensAfterTurn = (agent: Agent): number =>
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
