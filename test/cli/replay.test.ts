import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ctxwrapHere } from '../support/command-here.js';
import { bin } from '../support/programs.js';
import { ctxwrap, makeBench, runToEnd } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const cast = (name: string): string => resolve(import.meta.dirname, `../fixtures/casts/${name}.cast.gz`);
const file = (text: string): string => {
  const path = join(bench.folder, 'session.cast');
  writeFileSync(path, text);
  return path;
};

interface Printed {
  readonly schema: string;
  readonly at?: number;
}

interface Replayed {
  readonly runtime: string;
  readonly events: readonly Printed[];
}

describe('ctxwrap replay', () => {
  it('prints one line an event and what it comes to, of the agent it recognises', async () => {
    const { stdout, stderr, code } = await ctxwrap(['replay', cast('claude/climb-s46-120')], bench);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^ +0\.\d{3} {2}activity {2}unknown$/);
    expect(lines).toContainEqual(
      expect.stringMatching(/^ +12\.098 {2}reading {3}screen {6}89% of auto-compact/),
    );
    expect(lines.at(-1)).toMatch(/^claude, 19\.5 s: \d+ readings, \d+ activity changes, \d+ tier changes/);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it('gives the same events as one object and as one object a line', async () => {
    const whole = await ctxwrapHere(['replay', cast('claude/climb-s46-120'), '--json'], bench);
    const lines = await ctxwrapHere(['replay', '--ndjson', cast('claude/climb-s46-120')], bench);
    const object = JSON.parse(whole.stdout) as Replayed;
    const events = lines.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Printed);
    expect(object).toEqual({ schema: 'ctxwrap.replay/1', runtime: 'claude', events });
    expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at ?? NaN).toSorted((a, b) => a - b));
    expect(new Set(events.map(({ schema }) => schema))).toEqual(
      new Set(['ctxwrap.activity/1', 'ctxwrap.reading/1', 'ctxwrap.tier/1']),
    );
  });

  it('takes the window of the user and the runtime it is told', async () => {
    const args = ['replay', cast('claude/climb-s46-120'), '--runtime', 'generic', '--json', '--window', '1M'];
    const { runtime: agent, events } = JSON.parse((await ctxwrapHere(args, bench)).stdout) as Replayed;
    expect(agent).toBe('generic');
    const isEstimate = {
      schema: 'ctxwrap.reading/1',
      source: 'estimate',
      windowTokens: 1_000_000,
      exact: false,
    };
    expect(events[0]).toMatchObject(isEstimate);
    expect(events.some(({ schema }) => schema === 'ctxwrap.activity/1')).toBe(false);
  });

  it("judges by the user's own boundaries", async () => {
    const args = ['--warn', '10%', '--hard', '20%', 'replay', cast('claude/climb-s46-120'), '--ndjson'];
    expect((await ctxwrapHere(args, bench)).stdout).toContain('"tier":"hard"');
  });

  it('says what was wrong with a recording that was cut off, and prints what there is', async () => {
    const path = file('{"version":2,"width":80,"height":24}\n[0.5,"o","x"]\n[1,"o');
    const { stdout, stderr, code } = await ctxwrapHere(['replay', path], bench);
    expect(stdout).toMatch(/^generic, 0\.\d s: 1 reading,/m);
    expect(stderr).toContain('the recording was cut off: line 3');
    expect(code).toBe(0);
  });

  it.each([
    { name: 'no recording', text: 'hello', error: /cannot replay ".*session\.cast": its first line is not/ },
    { name: 'an empty file', text: '', error: /cannot replay ".*": it is empty/ },
    {
      name: 'a later version',
      text: '{"version":3}',
      error: /version 3, .*\nctxwrap: convert it with: asciinema/,
    },
    {
      name: 'a broken line',
      text: '{"version":2,"width":80,"height":24}\nx\n[1,"o","y"]',
      error: /line 2 is not/,
    },
    {
      name: 'a time that is none',
      text: '{"version":2,"width":80,"height":24}\n[1e999,"o","x"]\n[1e999,"o","y"]',
      error: /line 2 is not/,
    },
  ])('ends with status 2 for $name', async ({ text, error }) => {
    const { stdout, stderr, code } = await ctxwrapHere(['replay', file(text)], bench);
    expect(stderr).toMatch(error);
    expect({ stdout, code }).toEqual({ stdout: '', code: 2 });
  });

  it.each([
    ['claude', 'the session files say nothing of claude up to the end of the recording'],
    ['generic', 'the session files are not read: generic has none that is known'],
  ])('tells a user of %s who gives a file in vain', async (agent, note) => {
    const path = join(bench.folder, 'other.jsonl');
    writeFileSync(path, '{"type":"nothing","timestamp":"2026-11-21T07:52:00.000Z"}\n');
    const args = ['replay', cast('claude/keys1'), '--runtime', agent, '--log', path];
    const { stderr, code } = await ctxwrapHere(args, bench);
    expect({ stderr, code }).toEqual({ stderr: `ctxwrap: ${note}\n`, code: 0 });
  });

  it('does not wait for a session file that is a pipe', async () => {
    const pipe = join(bench.folder, 'pipe');
    await runToEnd('/usr/bin/mkfifo', [pipe], bench);
    const { stderr, code } = await ctxwrapHere(['replay', cast('claude/keys1'), '--log', pipe], bench);
    expect(stderr).toContain(`cannot read the session file "${pipe}": it is not a regular file`);
    expect(code).toBe(2);
  });

  it('ends quietly when nobody reads any more', async () => {
    const script = `"${process.execPath}" "${bin}" replay "${cast('claude/keys1')}" --ndjson | head -n 1`;
    const { stdout, stderr } = await runToEnd('/bin/sh', ['-c', script], bench);
    expect({ lines: stdout.trimEnd().split('\n').length, stderr }).toEqual({ lines: 1, stderr: '' });
  });
});
