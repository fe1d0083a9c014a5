// Where a session used tools that ctxwrap does not understand, every page that shows evidence says so, in words and as JSON.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeModeSession, compacted, head, rolloutOf, said, script } from '../support/code-mode-session.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

const WORDS = '3 calls of 2 tools that ctxwrap does not understand: mcp__tracker__close, exec';
const TOOLS = [
  { tool: 'mcp__tracker__close', calls: 2 },
  { tool: 'exec', calls: 1 },
];

const unknownOnly = rolloutOf([
  head,
  said('hello'),
  script('c1', 'text(await tools.mcp__tracker__close({id: 7}))'),
  compacted('Summary: nothing.'),
]);

let bench: Bench;
let path: string;
let otherPath: string;
beforeAll(() => {
  bench = makeBench();
  Object.assign(bench.env, { TZ: 'UTC', COLUMNS: '160' });
  const fileOf = (lines: readonly string[], day: string): string => {
    const name = `.codex/sessions/2026/07/${day}/rollout-2026-07-${day}T20-40-00-019f6782-0000-7000-8000-000000000001.jsonl`;
    const file = join(bench.folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${lines.join('\n')}\n`);
    return file;
  };
  path = fileOf(codeModeSession, '15');
  otherPath = fileOf(unknownOnly, '16');
});
afterAll(() => bench.remove());

const printed = async (...words: readonly string[]): Promise<string> => {
  const { stdout, stderr, code } = await ctxwrap(words, bench);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return stdout;
};

describe('tools that are not understood', () => {
  it('are named in the recap', async () => {
    const text = await printed('recall', `${path}#1`);
    expect(text).toContain(`? → ?\n${WORDS}\n\nYour rules: 0 of 1 kept\n`);
    expect(text).toContain('Changed files: 1 of 3 kept\n');
    expect(JSON.parse(await printed('recall', '--json', `${path}#1`))).toMatchObject({
      not_understood: TOOLS,
    });
  });

  it('stand in the recap in place of "nothing"', async () => {
    const text = await printed('recall', `${otherPath}#1`);
    expect(text).toContain('1 call of a tool that ctxwrap does not understand: mcp__tracker__close');
    expect(text).not.toContain('holds no rules');
  });

  it('are named in the history of a compaction', async () => {
    expect(await printed('history', 'show', `${path}#1`)).toContain(WORDS);
    expect(await printed('history', 'show', `${otherPath}#1`)).toMatch(/Kept +unknown: 1 call of a tool/);
    expect(await printed('history', '--full', path)).toContain(WORDS);
    const { sessions } = JSON.parse(await printed('history', '--full', '--json', path));
    expect(sessions[0].compaction.boundaries).toMatchObject([{ not_understood: TOOLS }]);
  });

  it('are named in the text that is given back', async () => {
    expect(await printed('recall', '--print', `${path}#1`)).toContain(`Not looked at: ${WORDS}.`);
  });

  it('are named in the handoff', async () => {
    expect(await printed('handoff', path)).toContain(WORDS);
    const { context } = JSON.parse(await printed('handoff', '--json', path));
    expect(context.notUnderstood).toEqual(TOOLS);
  });
});
