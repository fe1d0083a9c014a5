// Enter at hard with `atHard: "hold"`, in a terminal drawn in memory: the footer on the screen decides.
import { afterEach, describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { switchToPassthrough } from '../../src/main-thread/route.js';
import type { FooterDrawing } from '../../src/session/thread-messages.js';
import { eventually } from '../support/eventually.js';
import { makeOverviewHarness, type OverviewHarness } from '../support/overview-harness.js';

const [COLUMNS, ROWS] = [80, 14];
const QUESTION = ' claude  97%  hard  hard: Enter sends anyway';

let run: OverviewHarness;
let events: string[];
const start = (): OverviewHarness => {
  run = makeOverviewHarness(COLUMNS, ROWS);
  events = [];
  Object.assign(run.stage.worker, { handle: ({ type }: Event) => void events.push(type) });
  return run;
};
afterEach(() => run.stop());

/** The worker's drawing is on the screen. */
const shows = async (enter: FooterDrawing['enter'], text = ' claude  97%  hard'): Promise<void> => {
  const drawing = { columns: COLUMNS, text, compactions: 0 };
  run.parts.footer.show(enter ? { ...drawing, enter } : drawing);
  await eventually(() => expect(run.parts.footer.isPainted()).toBe(true), { interval: 5 });
};

describe('an Enter that is to be held', () => {
  it('does not reach the child, and the worker is told to ask; the next one is sent', async () => {
    const { type, writes, stage } = start();
    await shows('holds');
    type('\r');
    expect({ writes, events }).toEqual({ writes: [], events: ['enter-held', 'user-keys'] });
    expect(stage.counters.get('typed')).toBe(1);
    await shows('asked', QUESTION);
    type('\r');
    expect(writes).toEqual(['\r']);
  });

  it('is sent after all where the question does not appear', async () => {
    const { type, writes } = start();
    await shows('holds');
    type('\r');
    expect(writes).toEqual([]);
    await eventually(() => expect(writes).toEqual(['\r']), { interval: 20 });
  });

  it('is sent once when it is pressed again before the question', async () => {
    const { type, writes } = start();
    await shows('holds');
    type('\r');
    type('\r');
    expect(writes).toEqual(['\r']);
  });

  it('is sent before what the user types next, unless the question is there', async () => {
    const { type, writes } = start();
    await shows('holds');
    type('\r');
    type('x');
    expect(writes.join('')).toBe('\rx');
    type('\r');
    await shows('asked', QUESTION);
    type('y');
    expect(writes.join('')).toBe('\rxy');
  });

  it('is sent when ctxwrap goes on as a plain passthrough', async () => {
    const { type, writes, stage, parts } = start();
    await shows('holds');
    type('\r');
    switchToPassthrough(stage, parts.footer);
    type('x');
    expect(writes.join('')).toBe('\rx');
  });

  it.each([
    ['as kitty reports it', '\x1b[13u'],
    ['on the keypad', '\x1b[57414u'],
  ])('is held %s, and so is its release', async (_, key) => {
    const { type, writes } = start();
    await shows('holds');
    type(key);
    type(key.replace('u', ';1:3u'));
    expect(writes).toEqual([]);
  });
});

describe('an Enter', () => {
  it.each([
    ['behind other text of the same read', 'go on\r'],
    ['inside a paste', '\x1b[200~one\rtwo\x1b[201~'],
    ['with Shift, a line break', '\x1b[13;2u'],
    ['with Alt, a line break', '\x1b\r'],
  ])('is not held %s', async (_, keys) => {
    const { type, writes } = start();
    await shows('holds');
    type(keys);
    expect(writes.join('')).toBe(keys);
  });

  it('is not held where the footer asks for nothing, or is not there', async () => {
    const { type, writes } = start();
    type('\r');
    await shows(undefined);
    type('\r');
    expect(writes).toEqual(['\r', '\r']);
  });

  it('is not held where the terminal has no room for the footer', async () => {
    const { type, writes, resize, parts } = start();
    await shows('holds');
    resize(COLUMNS, 4);
    await eventually(() => expect(parts.resize.check()).toBe(false), { interval: 5 });
    type('\r');
    expect(writes.join('')).toContain('\r');
  });
});
