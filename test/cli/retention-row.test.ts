// The row of `ctxwrap doctor` about transcripts that claude deletes.
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { doctorOf, rowIn } from '../support/boundaries.js';

describe('how long claude keeps transcripts', () => {
  const home = '/home/u';
  const user = `${home}/.claude/settings.json`;
  const row = async (texts: Readonly<Record<string, string>>) => {
    const port = { text: async (path: string) => texts[path], names: async () => [] };
    const where = { env: {}, home, cwd: '/p', args: [] };
    const retention = await agents.claude.home?.retention?.(port, where);
    return rowIn(
      { checks: doctorOf('claude', { trigger: undefined, settings: [] }, { retention, userHome: home }) },
      'transcripts',
    );
  };

  it('is 30 days where nothing is set', async () => {
    expect(await row({})).toBe(
      'warn: claude deletes transcripts after 30 days (its default) → set cleanupPeriodDays in ~/.claude/settings.json',
    );
  });

  it.each([
    [
      '1',
      'warn: claude deletes transcripts after 1 day (cleanupPeriodDays = 1 in ~/.claude/settings.json) → raise cleanupPeriodDays in ~/.claude/settings.json',
    ],
    [
      '30',
      'warn: claude deletes transcripts after 30 days (cleanupPeriodDays = 30 in ~/.claude/settings.json) → raise cleanupPeriodDays in ~/.claude/settings.json',
    ],
    ['31', 'ok: claude keeps transcripts for 31 days (cleanupPeriodDays = 31 in ~/.claude/settings.json)'],
    [
      '9999',
      'ok: claude keeps transcripts for 9,999 days (cleanupPeriodDays = 9999 in ~/.claude/settings.json)',
    ],
    [
      '0',
      'warn: cleanupPeriodDays = 0 in ~/.claude/settings.json: versions before 2.1.89 write no transcripts then, and later ones reject the value → set cleanupPeriodDays in ~/.claude/settings.json to a number of days',
    ],
  ])('is told with its place when it is set to %s', async (days, expected) => {
    expect(await row({ [user]: `{"cleanupPeriodDays":${days}}` })).toBe(expected);
  });

  it('is what the strongest settings file says', async () => {
    const managed = '/etc/claude-code/managed-settings.json';
    const texts = { [user]: '{"cleanupPeriodDays":365}', [managed]: '{"cleanupPeriodDays":7}' };
    expect(await row(texts)).toBe(
      `warn: claude deletes transcripts after 7 days (cleanupPeriodDays = 7 in ${managed}) → raise cleanupPeriodDays in ${managed}`,
    );
  });

  it('is not known of other agents, and not told of them', () => {
    for (const name of ['codex', 'gemini', 'qwen'] as const)
      expect(agents[name].home?.retention).toBeUndefined();
  });
});
