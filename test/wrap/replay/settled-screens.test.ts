import { describe, expect, it } from 'vitest';
import { runtimes } from '../../../src/runtimes/index.js';
import { playScreens } from '../../support/screen-play.js';

describe('the screens of a recording', () => {
  it('come when the agent has stopped writing', async () => {
    const played = await playScreens('claude/climb-s46-120', runtimes.generic);
    expect(played.length).toBeGreaterThan(10);
    expect(played.at(-1)?.activity).toEqual({ activity: 'unknown', witnesses: [] });
  });
});
