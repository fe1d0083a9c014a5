import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { RecordedEvent } from '../../src/storage/recording-reader.js';
import { settledScreens } from '../../src/replay/sources.js';
import { playScreens } from '../support/screen-play.js';

describe('the screens of a recording', () => {
  it('come when the agent has stopped writing', async () => {
    const played = await playScreens('claude/climb-s46-120', agents.generic);
    expect(played.length).toBeGreaterThan(10);
    expect(played.at(-1)?.activity).toEqual({ activity: 'unknown', witnesses: [] });
  });

  const output = (at: number, text: string): RecordedEvent => ({ at, type: 'output', text });
  const firstRows = async (size: { columns: number; rows: number }, events: readonly RecordedEvent[]) => {
    const rows: string[] = [];
    const all = (async function* given() {
      yield* events;
    })();
    for await (const moment of settledScreens(size, all)) {
      if (moment.type === 'screen') rows.push(moment.seen.screen.text(0));
      if (moment.type === 'blank') rows.push('no model');
    }
    return rows;
  };

  it('come at once, whatever the numbers in the recording are', async () => {
    const events = [
      output(0, '\x1b[2147483647L\x1b[2147483647Sx\x1b[2147483647b'),
      output(1e9, '\x1b[H\x1b[Jend'),
    ];
    expect((await firstRows({ columns: 80, rows: 24 }, events)).at(-1)).toBe('end');
  });

  it('are not lost where one piece of output is a very large one', async () => {
    const events = [output(0, `${'x'.repeat(2_000_000)}\x1b[H\x1b[2Jend`)];
    expect(await firstRows({ columns: 80, rows: 24 }, events)).toEqual(['end']);
    expect(await firstRows({ columns: 80, rows: 24 }, [output(0, `begin${'\0'.repeat(600_000)}`)])).toEqual([
      'begin',
    ]);
  });

  it('are not known while the terminal is too large for a model', async () => {
    const events: readonly RecordedEvent[] = [
      output(0, 'large'),
      { at: 1000, type: 'resize', columns: 80, rows: 24 },
      output(2000, 'usual'),
      { at: 3000, type: 'resize', columns: 1000, rows: 1000 },
    ];
    expect(await firstRows({ columns: 1000, rows: 1000 }, events)).toEqual([
      'no model',
      '',
      'usual',
      'no model',
    ]);
  });
});
