// What a script tells the agent to do, mostly to misbehave.
import { go, type Agent, type Change } from './agent.js';
import { emptyCanvas, eraseLive } from './draw.js';
import { leave, think } from './keyboard.js';
import { modeNames, modeSequences, type ModeName } from './modes.js';
import { compact } from './progress.js';
import type { AgentStep } from './script.js';

const bytesPerMegabyte = 1_048_576;
const bytesPerLine = 64;

export const obey = (agent: Agent, step: AgentStep, now: number): Change => {
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
