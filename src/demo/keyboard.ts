// What keys do, by phase.
import { go, type Agent, type Change } from './agent.js';
import { eraseLive, emptyCanvas, type Line } from './draw.js';
import type { Key } from './keys.js';
import { releaseModes } from './modes.js';
import { compact, tokensAfterTurn } from './progress.js';
import {
  answerAfterCompaction,
  answerOf,
  compactCommand,
  fullText,
  helpText,
  nothingText,
  suspendedText,
  windowTokens,
} from './talk.js';

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
