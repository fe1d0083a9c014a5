import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { footerSequence, linesOf, readLines } from '../support/read-log.js';

// Each case is a recorded session file and everything the footer shows while it grows.
const cases = [
  {
    runtime: 'claude',
    file: 'session-with-compaction.jsonl',
    shows: [
      'waiting for the first turn ×0', // the first prompt
      '100503 of a window not known ×0',
      '130003 of a window not known ×0',
      '131003 of a window not known ×0', // twice in the file: a text and a tool call of one message
      '~777 of a window not known ×1',
      '131003 of a window not known ×1',
    ],
  },
  {
    runtime: 'codex',
    file: 'compactions.jsonl', // also failed, cancelled and disconnected ones, which change nothing
    shows: [
      '~7905 of a window not known ×1',
      '8.3% ~7905/95000 safe ×1',
      '73.7% 70050/95000 auto ×1',
      '8.7% ~8241/95000 safe ×2',
      '9.5% 9050/95000 safe ×2',
      '73.7% 70050/95000 auto ×2',
      '8.7% ~8251/95000 safe ×3',
      '73.7% 70050/95000 auto ×3',
      '8.7% ~8269/95000 safe ×4',
      '15.8% 15050/95000 safe ×4',
    ],
  },
  {
    runtime: 'codex',
    file: 'context-exceeded.jsonl',
    shows: [
      'waiting for the first turn ×0', // a prompt is no number
      '52.7% 50050/95000 safe ×0',
      '100.0%/95000 hard ×0',
      '21.1% 20050/95000 safe ×0',
    ],
  },
  {
    runtime: 'gemini',
    file: 'auto-compactions.jsonl',
    shows: [
      'waiting for the first turn ×0',
      '5.0% 52429/1048576 safe ×0',
      '50.0% 524288/1048576 auto ×0',
      'size pending ×1',
      '65.0% 681574/1048576 auto ×1',
      'size pending ×2',
      '75.0% 786432/1048576 auto ×2',
      'size pending ×3',
      '85.0% 891290/1048576 auto ×3',
      'size pending ×4',
      '92.0% 964690/1048576 auto ×4',
      'size pending ×5',
      '97.0% 1017119/1048576 auto ×5',
      'size pending ×6',
      '100.0% 1048576/1048576 hard ×6',
      'size pending ×7',
      '100.0% 1080033/1048576 hard ×7',
    ],
  },
  {
    runtime: 'gemini',
    file: 'manual-compaction.jsonl',
    shows: [
      'waiting for the first turn ×0',
      '28.6% 300000/1048576 safe ×0',
      '29.6% 310000/1048576 safe ×0',
      'size pending ×1',
    ],
  },
  {
    runtime: 'gemini',
    file: 'failed-compactions.jsonl',
    shows: [
      'waiting for the first turn ×0',
      '47.7% 500000/1048576 warn ×0',
      '0.3% 3000/1048576 safe ×0',
      '47.7% 500000/1048576 warn ×0',
      'size pending ×1',
      '47.7% 500000/1048576 warn ×1',
    ],
  },
  {
    runtime: 'gemini',
    file: 'cancelled-and-failed.jsonl', // the history is written again three times, with the known summary in it
    shows: [
      'waiting for the first turn ×0',
      '66.8% 700000/1048576 auto ×0',
      'size pending ×1',
      '9.5% 100000/1048576 safe ×1',
      '66.8% 700000/1048576 auto ×1',
      '67.7% 710000/1048576 auto ×1',
      '68.7% 720000/1048576 auto ×1',
    ],
  },
  {
    runtime: 'qwen',
    file: 'ladder.jsonl', // ui_telemetry repeats the usage of every call, also of the two compactions
    shows: [
      'waiting for the first turn ×0',
      '50.0% 65536/131072 safe ×0',
      '62.0% 81265/131072 warn ×0',
      '72.0% 94372/131072 auto ×0',
      '76.0% 99615/131072 auto ×0',
      'size pending ×1',
      '50.0% 65536/131072 safe ×1',
      '84.0% 110100/131072 hard ×1',
      '8.0% ~10444/131072 safe ×2',
      '60.0% 78643/131072 warn ×2',
    ],
  },
  {
    runtime: 'qwen',
    file: 'compress-cancelled.jsonl', // one that made nothing smaller, one that Esc came too late for
    shows: [
      'waiting for the first turn ×0',
      '53.4% 70000/131072 safe ×0',
      '54.2% 71000/131072 safe ×0',
      '52.4% ~68732/131072 safe ×1',
    ],
  },
] as const;

describe('a recorded session', () => {
  it.each(cases)('of $runtime ($file) gives the numbers the agent had', ({ runtime: agent, file, shows }) => {
    const { facts, misfits } = readLines(agents[agent], linesOf(agent, file));
    expect(footerSequence(agent, facts)).toEqual(shows);
    expect(misfits).toEqual([]);
  });

  it.each(cases)('of $runtime ($file) is timed by its own records', ({ runtime: agent, file }) => {
    const { facts } = readLines(agents[agent], linesOf(agent, file));
    const times = facts.flatMap((fact) =>
      fact.type === 'reading' ? [fact.reading.at] : fact.type === 'boundary' ? [fact.boundary.at] : [],
    );
    expect(times.length).toBeGreaterThan(0);
    const day = Date.UTC(2026, 10, 21);
    expect(times.every((at) => at > day && at < day + 86_400_000)).toBe(true);
  });
});
