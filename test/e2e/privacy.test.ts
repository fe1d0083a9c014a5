// Text of a conversation that is played through the wrapper must not appear in the wrapper's files.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { casts } from '../support/casts.js';
import { playScreens } from '../support/screen-play.js';
import { inFolder, withWrapped } from '../support/wrapped.js';

const recordings = [
  { cast: 'claude/climb-s46-120', runtime: agents.claude },
  { cast: 'codex/compact-manual', runtime: agents.codex },
  { cast: 'gemini/subagent', runtime: agents.gemini },
] as const;

const WAIT = { timeout: 60_000, interval: 20 };
const RESTS = 12; // at least so many reads of the screen while the recording is played

/** Texts of the screens: rows without their frames that are long enough to be unique. */
const textsOf = async ({ cast, runtime: agent }: (typeof recordings)[number]): Promise<readonly string[]> => {
  const screens = await playScreens(cast, agent);
  const rows = screens.flatMap(({ rows: each }) =>
    each.map((row) => row.replace(/[^\p{L}\p{N}\p{P} ]/gu, '')),
  );
  return [...new Set(rows.map((row) => row.trim()))].filter((row) => row.split(/\s+/).length > 3);
};

/** Plays the recording; returns the log and everything else that was written to the home folder. */
const leftOf = async (
  { cast: name, runtime: agent }: (typeof recordings)[number],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly log: string; readonly state: string }> => {
  const cast = casts().find((each) => each.name === name);
  if (!cast) throw new Error(`no recording ${name}`);
  const left = { log: '', state: '' };
  await inFolder(async (home) => {
    const path = join(home, 'run.log');
    const log = (): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
    const { columns, rows, output } = cast;
    const size = { columns, rows: rows + 1 };
    const options = ['--runtime', agent.name, '--log', path];
    await withWrapped({ ...size, options, env: { HOME: home, ...env } }, async (wrapped) => {
      const { player, caughtUp, ended } = wrapped;
      await player.ready();
      for (let part = 0; part < RESTS; part += 1) {
        const from = Math.floor((output.length * part) / RESTS);
        await player.write(output.subarray(from, Math.floor((output.length * (part + 1)) / RESTS)), [500]);
        await caughtUp();
      }
      await vi.waitFor(() => expect(log()).toMatch(/activity (?!unknown)/), WAIT);
      player.exit(0);
      await ended();
    });
    left.log = log();
    const state = join(home, '.local/state/ctxwrap');
    const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
      .filter((file) => !file.startsWith('compiled')) // the program's own code
      .map((file) => join(state, file));
    left.state = files
      .filter((file) => statSync(file).isFile())
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
  });
  return left;
};

describe.each(recordings)('of a session of $runtime.name', (recording) => {
  it('numbers and activities are left, and nothing that was said', async () => {
    const { log, state } = await leftOf(recording, {});
    const texts = await textsOf(recording);
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => log.includes(text))).toEqual([]);
    expect(state).toContain('"ctxwrap.session/1"');
    expect(texts.filter((text) => state.includes(text))).toEqual([]);
  });

  it('the log holds the screens when the user has asked for that, and nothing else does', async () => {
    const { log, state } = await leftOf(recording, { CTXWRAP_DEBUG_TEXT: '1' });
    const texts = await textsOf(recording);
    expect(log).toMatch(/ text row \d+ [>|] .*\p{L}{3}/u);
    expect(texts.filter((text) => state.includes(text))).toEqual([]);
  });
});
