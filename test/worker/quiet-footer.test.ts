// How often the footer gets something to draw.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { CompactSettings } from '../../src/core/compaction/state.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { FooterView } from '../../src/core/footer-view.js';
import type { WrapSession } from '../../src/session/options.js';
import { makeSessionLoop } from '../../src/worker/session-loop.js';
import { tokens } from '../support/sessions.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const settings: CompactSettings = {
  mode: 'auto',
  command: '/compact',
  startMs: 5_000,
  finishMs: 120_000,
  isProactive: true,
};

describe('the footer', () => {
  const viewsOf = (footer: boolean | 'quiet', mode: CompactSettings['mode'] = 'auto') => {
    const views: FooterView[] = [];
    const values = { ...defaultValues, footer };
    const session = { agent: agents.claude, env: {}, log, values } as unknown as WrapSession;
    const loop = makeSessionLoop(
      session,
      { ...settings, mode },
      {
        onView: (view) => views.push(view),
        unseen: () => undefined,
        onEffect: () => undefined,
        onState: () => undefined,
      },
    );
    loop.take({ type: 'activity', report: { activity: 'ready', witnesses: [] } });
    loop.take(tokens('log', 20_000));
    loop.take(tokens('log', 21_000));
    loop.take(tokens('log', 165_000));
    vi.advanceTimersByTime(11_000);
    return views;
  };
  const rowsOf = (footer: boolean | 'quiet') => viewsOf(footer).map(({ words, tier }) => `${tier}: ${words}`);

  it('is drawn for each second of a countdown', () => {
    expect(rowsOf(true).filter((row) => row.includes('compacting in')).length).toBeGreaterThanOrEqual(10);
  });

  it('has the way to the point of the agent itself in a mode in which ctxwrap only looks on', () => {
    const wayIn = (mode: CompactSettings['mode']) => viewsOf(true, mode).at(-1)?.wayPercent;
    expect(wayIn('auto')).toBe(100);
    expect(wayIn('warn')).toBe((165_000 * 100) / 167_000);
  });

  it('is drawn only for another tier and another kind of message where it is quiet', () => {
    const rows = rowsOf('quiet');
    expect(rows.filter((row) => row.includes('compacting in'))).toEqual([
      'auto: compacting in 10 s · Esc: not now',
    ]);
    expect(rows.filter((row) => row.startsWith('safe'))).toHaveLength(1);
    expect(rows.length).toBeLessThan(8);
  });
});
