// The footer as the worker draws it for the main thread.
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { nullLog } from '../../src/storage/log-file.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { FooterView } from '../../src/core/footer-view.js';
import type { FooterDrawing } from '../../src/session/thread-messages.js';
import { renderFooter } from '../../src/ui/Footer.js';
import { renderOverview } from '../../src/ui/Overview.js';
import { makeFooterDrawer } from '../../src/worker/footer-drawer.js';
import type { Drawings } from '../../src/worker/ink-loader.js';

const view: FooterView = {
  runtime: 'claude',
  usedTokens: 168_000,
  windowTokens: 200_000,
  usedPercent: 84,
  tier: 'auto',
  estimated: false,
  windowInferred: false,
  compactions: 0,
  words: 'compacting in 9 s · Esc: not now',
  due: 'countdown',
};

const start = (isLoaded: boolean) => {
  let drawings: Drawings | undefined = isLoaded ? { renderFooter, renderOverview } : undefined;
  const posted: FooterDrawing[] = [];
  const errors: string[] = [];
  const env = { TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  const session = {
    env,
    values: defaultValues,
    log: { ...nullLog, error: (text: string) => void errors.push(text) },
  };
  const drawer = makeFooterDrawer(session, { loaded: () => drawings }, 80, (each) => posted.push(each));
  return {
    ...drawer,
    posted,
    errors,
    break: (): void => {
      drawings = {
        renderOverview,
        renderFooter: () => {
          throw new Error('broken');
        },
      };
    },
    load: (): void => {
      drawings = { renderFooter, renderOverview };
      drawer.redraw();
    },
  };
};
const bare = (row = ''): string => row.replaceAll(/\x1b\[[\d;]*m/g, '');

describe('the footer', () => {
  it('is a plain line until Ink is loaded, and the same items in colour from then on', () => {
    const { show, load, posted } = start(false);
    show(view);
    load();
    expect(posted.map(({ row }) => row !== undefined)).toEqual([false, true]);
    const [plain, painted] = posted;
    expect(plain?.text).toBe(' claude  ▰▰▰▰▰▰▰▰▱▱  84%  168k/200k  auto  compacting in 9 s · Esc: not now');
    expect(bare(painted?.row)).toBe(plain?.text);
    expect(painted?.row).toContain('\x1b[');
    expect(plain).toMatchObject({ columns: 80, tier: 'auto', due: 'countdown', compactions: 0 });
  });

  it('stays the plain line where Ink fails, which is logged once', () => {
    const { show, break: breakInk, posted, errors } = start(true);
    breakInk();
    show(view);
    show({ ...view, words: 'compacting in 8 s · Esc: not now' });
    expect(posted.map(({ row }) => row)).toEqual([undefined, undefined]);
    expect(posted[1]?.text).toContain('compacting in 8 s · Esc: not now');
    expect(errors).toHaveLength(1);
  });

  it('is posted only when it has changed', () => {
    const { show, posted } = start(true);
    show(view);
    show({ ...view });
    expect(posted).toHaveLength(1);
    show({ ...view, words: 'compacting in 8 s · Esc: not now' });
    expect(posted).toHaveLength(2);
  });

  it('is drawn again for another width, background or hint', () => {
    const { show, move, posted } = start(true);
    const { words: _, due: __, ...quiet } = view;
    show(quiet);
    move({ columns: 44 });
    move({ columns: 120, hint: 'Ctrl-] overview' });
    move({ columns: 120, hint: 'Ctrl-] overview', background: 'light' });
    expect(posted.map(({ columns }) => columns)).toEqual([80, 44, 120, 120]);
    expect(stringWidth(posted[1]?.row ?? '')).toBeLessThanOrEqual(44);
    expect(posted[2]?.row).toContain('Ctrl-] overview');
    expect(posted[3]?.row).not.toBe(posted[2]?.row);
  });

  it('has a plain line whose characters are one column each, so that it can be cut by characters', () => {
    const { show, posted } = start(false);
    show({ ...view, words: '模型 is overloaded' });
    expect(posted[0]?.text).toContain('____ is overloaded');
    for (const character of posted[0]?.text ?? '') expect(stringWidth(character)).toBe(1);
  });

  it('says that Enter may be held only where the question would be in the row, and that it asks only where it is', () => {
    const { show, move, posted } = start(true);
    const { words: _, due: __, ...quiet } = view;
    const enter = { text: 'hard: Enter sends anyway · Ctrl-] c compacts first', isAsked: false };
    show({ ...quiet, enter });
    move({ columns: 30 });
    show({ ...quiet, words: enter.text, enter: { ...enter, isAsked: true } });
    move({ columns: 60 });
    expect(posted.map((each) => each.enter)).toEqual(['holds', undefined, undefined, 'asked']);
    expect(posted[3]?.text).toContain('hard: Enter sends anyway');
  });

  it('is nothing before there is a view', () => {
    const { move, redraw, posted } = start(true);
    move({ columns: 100 });
    redraw();
    expect(posted).toEqual([]);
  });
});
