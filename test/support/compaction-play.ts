import type { Activity } from '../../src/core/reading.js';
import type { CopyResult } from '../../src/core/compaction/copy.js';
import { compactionDeadline } from '../../src/core/compaction/machine.js';
import type {
  Compaction,
  CompactRequest,
  CompactSettings,
  Effect,
  TypeResult,
} from '../../src/core/compaction/state.js';
import { compactionText } from '../../src/core/compaction/texts.js';
import { currentMessage } from '../../src/core/messages.js';
import type { Boundary, CompactResult, Event } from '../../src/core/event.js';
import type { Millis } from '../../src/core/reading.js';
import { toAgentFacts } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import {
  flowDeadline,
  startFlow,
  stepFlow,
  type FlowContext,
  type SessionFlow,
} from '../../src/core/session-flow.js';
import { tokens } from './sessions.js';

export const NOON: Millis = 1_800_000_000_000;

/** Tiers of Claude in a window of 200 000: warn 142 000, auto 162 000, hard 177 000. */
export const AUTO_TOKENS = 165_000;
export const HARD_TOKENS = 180_000;

export const settings: CompactSettings = {
  mode: 'auto',
  command: '/compact',
  startMs: 5_000,
  finishMs: 120_000,
  isProactive: false,
};

export interface Done {
  /** milliseconds since the start */
  readonly at: Millis;
  readonly effect: Effect;
}

/** One step of the flow; without an event where its alarm fired. */
export interface PlayStep {
  readonly event?: Event;
  readonly before: SessionFlow;
  readonly after: SessionFlow;
  readonly now: Millis;
}

/** A session with a manual clock; its alarms fire in time. */
export const playCompaction = (
  wish: Partial<CompactSettings> = {},
  more: Partial<FlowContext> = {},
  watch: (step: PlayStep) => void = () => undefined,
  /** the result of every copy that is asked for; undefined if none comes */
  copied: () => CopyResult | undefined = () => undefined,
) => {
  const compact = { ...settings, ...wish };
  const context: FlowContext = { agent: toAgentFacts(agents.claude, {}), compact, ...more };
  let now = NOON;
  let flow: SessionFlow = startFlow(context, now);
  const done: Done[] = [];
  const go = (next: SessionFlow, event?: Event): void => {
    const before = flow;
    flow = next;
    watch({ before, after: flow, now, ...(event ? { event } : {}) });
    const { effects } = flow.compaction;
    for (const effect of effects) done.push({ at: now - NOON, effect });
    for (const effect of effects) {
      const result = effect.type === 'copy' ? copied() : undefined;
      if (effect.type === 'copy' && result) tell({ type: 'copied', id: effect.id, result });
    }
  };
  const tell = (...events: readonly Event[]): void => {
    for (const event of events) go(stepFlow(flow, event, now), event);
  };
  const wait = (milliseconds: number): void => {
    const end = now + milliseconds;
    let rings = 0; // at one instant
    for (let due = flowDeadline(flow, now); due !== undefined && due <= end; due = flowDeadline(flow, now)) {
      rings = due > now ? 0 : rings + 1;
      if (rings > 2) throw new Error(`due again and again: ${due - now} ms from now`);
      now = Math.max(due, now);
      go(stepFlow(flow, { type: 'alarm' }, now));
    }
    now = end;
  };
  const is = (activity: Activity, asks?: string): void => {
    const report = { activity, witnesses: [`it is ${activity}`], ...(asks === undefined ? {} : { asks }) };
    tell({ type: 'activity', report });
  };
  const used = (count: number): void => tell(tokens('log', count));
  const typed = (result: TypeResult): void => tell({ type: 'typed', result });
  const turn = (count?: number): void => {
    is('busy');
    wait(4_000);
    if (count !== undefined) used(count);
    is('ready');
  };
  return {
    tell,
    wait,
    is,
    used,
    /** a turn of the agent, and the number after it */
    turn,
    typed,
    /** sets the clock, and no alarm fires meanwhile */
    setClock: (milliseconds: number): void => {
      now += milliseconds;
    },
    keys: (): void => tell({ type: 'user-keys' }),
    sent: (isQueued = false): void => typed({ kind: 'sent', isQueued, evidence: ['typed /compact, Enter'] }),
    result: (result: CompactResult): void => tell({ type: 'compact-result', result }),
    failed: (text = 'API Error: 500'): void =>
      tell({ type: 'compact-result', result: { kind: 'failed', failure: 'error', text } }),
    boundary: (boundary: Partial<Boundary> = {}): void =>
      tell({ type: 'boundary', boundary: { at: now, ...boundary } }),
    ask: (id: string, more: Partial<CompactRequest> = {}): void =>
      tell({ type: 'compact-requested', request: { id, force: false, ...more } }),
    /** all effects so far */
    done,
    typings: (): readonly Done[] => done.filter(({ effect }) => effect.type === 'type-compact'),
    outcomes: (): readonly string[] =>
      done.flatMap(({ effect }) => (effect.type === 'ended' ? [effect.ended.outcome.kind] : [])),
    last: () => flow.compaction.last,
    phase: (): Compaction['phase'] => flow.compaction.phase,
    state: (): Compaction => flow.compaction,
    /** the ended compactions of the session */
    past: () => flow.record.past.attempts,
    words: (): string | undefined => compactionText(flow.compaction, now),
    /** with the other messages */
    footer: (): string | undefined => currentMessage(flow.messages, flow.compaction, now)?.text,
    due: (): Millis | undefined => compactionDeadline(flow.compaction, now),
    at: (): Millis => now - NOON,
  };
};

export type Play = ReturnType<typeof playCompaction>;

/** An agent that is ready in a full window, at the end of its first turn. */
export const playFull = (wish: Partial<CompactSettings> = {}, count = AUTO_TOKENS): Play => {
  const play = playCompaction(wish);
  play.is('ready');
  play.turn(count);
  return play;
};

/** The same, up to the effect that types the command. */
export const playTyping = (wish: Partial<CompactSettings> = {}, count = AUTO_TOKENS): Play => {
  const play = playFull(wish, count);
  play.wait(11_500);
  return play;
};

/** The same, until the agent compacts. */
export const playBegun = (wish: Partial<CompactSettings> = {}, count = AUTO_TOKENS): Play => {
  const play = playTyping(wish, count);
  play.wait(400);
  play.sent();
  play.wait(200);
  play.is('compacting');
  return play;
};

/** One failed attempt, starting at the effect that types the command. */
export const failOnce = (play: Play, text?: string): void => {
  play.sent();
  play.is('compacting');
  play.wait(1_000);
  play.failed(text);
  play.is('ready');
};
