// `ctxwrap recall` as users run it: what is printed of a compaction. What a running session is asked is in ask-session.test.ts.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ctxwrapHere } from '../support/command-here.js';
import { publishSession } from '../support/published.js';
import { ids, writeStores } from '../support/stored-sessions.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  bench.env['COLUMNS'] = '72';
  writeStores(bench.folder);
});
afterEach(() => bench.remove());

const session = '33333333-4444-4555-8666-777777777777';
const path = (): string => join(bench.folder, `.claude/projects/-proj/${session}.jsonl`);

/** A conversation of Claude's with two compactions; what a summary must keep is in these records. */
const writeMade = (compactions = 2): void => {
  const lines: string[] = [];
  const add = (record: object): void => {
    const at = new Date(1_800_000_000_000 + lines.length * 1_000).toISOString();
    const [uuid, parentUuid] = [`u${lines.length}`, lines.length === 0 ? null : `u${lines.length - 1}`];
    lines.push(
      JSON.stringify({ uuid, parentUuid, sessionId: session, cwd: '/proj', timestamp: at, ...record }),
    );
  };
  const say = (content: string, more: object = {}): void =>
    add({ type: 'user', message: { content }, ...more });
  const run = (id: string, command: string): void => {
    const use = { type: 'tool_use', id, name: 'Bash', input: { command } };
    add({ type: 'assistant', message: { id, content: [use] } });
    const result = { type: 'tool_result', tool_use_id: id, content: 'Exit code 1', is_error: true };
    add({ type: 'user', message: { content: [result] } });
  };
  const compact = (summary: string): void => {
    const compactMetadata = { trigger: 'manual', preTokens: 160_000, postTokens: 23_000 };
    add({ type: 'system', subtype: 'compact_boundary', compactMetadata });
    say(summary, { isCompactSummary: true });
  };
  say('Never push to the main branch. Always use pnpm instead of npm for everything here.');
  run('t1', 'npm test');
  if (compactions > 0) compact('Summary: never push to the main branch.');
  say('Never rename a table of the old schema.');
  if (compactions > 1) compact('Summary: nothing.');
  mkdirSync(dirname(path()), { recursive: true });
  writeFileSync(path(), `${lines.join('\n')}\n`);
};

const publish = async (more: object = {}): Promise<void> =>
  publishSession(join(bench.folder, '.local/state/ctxwrap'), {
    id: 'running',
    cwd: bench.folder,
    compactions: 2,
    compaction: { mode: 'auto' },
    logPath: path(),
    ...more,
  });

const printed = async (...words: readonly string[]): Promise<string> => {
  const { stdout, stderr, code } = await ctxwrapHere(words, bench);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return stdout;
};

describe('ctxwrap recall', () => {
  it('prints what a compaction kept and forgot, in the words of the overview', async () => {
    writeMade();
    expect(await printed('recall', `${session}#1`)).toMatchInlineSnapshot(`
      "claude  compaction 1  160k → 23k

      Your rules: 1 of 2 kept
        kept       Never push to the main branch.
        forgotten  Always use pnpm instead of npm for everything here.

      Commands: 0 of 1 kept
        forgotten  npm test (it failed)
      "
    `);
  });

  it('takes the last compaction of a session that is named without a number', async () => {
    writeMade();
    expect(await printed('recall', session)).toBe(await printed('recall', `${session}#2`));
    expect(await printed('recall', session)).toContain('forgotten  Never rename a table of the old schema');
  });

  it('takes the last compaction of the running session where none is named', async () => {
    writeMade();
    await publish();
    expect(await printed('recall')).toBe(await printed('recall', `${session}#2`));
    expect(await printed('recall', '--print')).toBe(await printed('recall', '--print', session));
  });

  it('takes the last recorded session with a compaction where none runs, and says which it is', async () => {
    writeMade();
    const { stdout, stderr, code } = await ctxwrapHere(['recall'], bench);
    expect(stdout).toBe(await printed('recall', session));
    expect(stderr).toContain(
      `no session is running; this is the last one with a compaction: ${session.slice(0, 8)} in /proj`,
    );
    expect(code).toBe(0);
    const text = await ctxwrapHere(['recall', '--print'], bench);
    expect(text.stdout).toBe(await printed('recall', '--print', session));
  });

  it('passes over a later session without a compaction', async () => {
    writeMade(0);
    const { stdout } = await ctxwrapHere(['recall', '--runtime', 'claude'], bench);
    expect(stdout).toBe(await printed('recall', ids.claude));
  });

  it('takes no other session where it is called within one that has ended', async () => {
    writeMade();
    bench.env['CTXWRAP_SESSION'] = 'ended';
    const { stdout, stderr, code } = await ctxwrapHere(['recall', '--print'], bench);
    expect(stdout).toBe('');
    expect(stderr).toContain('no session is running');
    expect(code).toBe(2);
  });

  it('prints the text that would be given back, of a session that was never wrapped', async () => {
    const { stdout, stderr, code } = await ctxwrap(['recall', '--print', `${ids.claude}#1`], bench);
    expect(stdout).toMatchInlineSnapshot(`
      "The summary of our conversation left this out:

      Commands you ran:
      - touch /srv/zz-lab

      All of this still holds.
      "
    `);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  });

  it('prints JSON that has each item and whether it was kept', async () => {
    writeMade();
    const { items, number } = JSON.parse(await printed('recall', '--json', `${session}#1`)) as {
      readonly number: number;
      readonly items: readonly { readonly kind: string; readonly kept: boolean }[];
    };
    expect(number).toBe(1);
    expect(items.map(({ kind, kept }) => `${kind} ${kept}`)).toEqual([
      'command false',
      'constraint true',
      'constraint false',
    ]);
  });

  it.each([
    [['receipt', `${session}#1`], [`${session}#1`]],
    [['receipt', '--full', `${session}#1`], [`${session}#1`]],
    [
      ['receipt', '--json', `${session}#1`],
      ['--json', `${session}#1`],
    ],
    [
      ['brief', '--print', `${session}#1`],
      ['--print', `${session}#1`],
    ],
  ])('is what %j still does', async (old, words) => {
    writeMade();
    expect(await printed(...old)).toBe(await printed('recall', ...words));
  });

  it('is named by the history of a compaction', async () => {
    writeMade();
    expect(await printed('history', 'show', `${session}#1`)).toContain(
      `Recap       ctxwrap recall '${session}#1'\n`,
    );
  });

  it.each([
    [['recall', '--runtime', 'kimi'], 'no session file with a compaction was found', 'ctxwrap history', 2],
    [['recall', '--into', 'draft'], 'no session is running', 'ctxwrap recall 0f3a9c12#2', 2],
    [['recall', `${ids.claude}#7`], `there is no compaction "${ids.claude}#7"`, '#1', 2],
    [['recall', session], `nothing was compacted in "${session}" yet`, 'ctxwrap history', 1],
    [['recall', '--into', 'draft', 'abc#2'], '"abc#2" is not a running session', "recall --print 'abc#2'", 2],
    [['recall', '--into', 'context', "a'b"], '"a\'b" is not a running session', String.raw`'a'\''b'`, 2],
    [['recall', '--into', 'prompt'], '--into must be one of draft, context', 'recall --into draft', 2],
    [
      ['recall', '--into', 'draft', '--print'],
      '--print cannot be combined with --into',
      'use only one of them',
      2,
    ],
    [['brief'], 'no session is running', 'ctxwrap recall 0f3a9c12#2', 2],
  ] as const)('with %j says what is wrong and what to do', async (words, wrong, fix, status) => {
    writeMade(0);
    const { stderr, code } = await ctxwrapHere(words, bench);
    expect(stderr).toContain(wrong);
    expect(stderr).toContain(fix);
    expect(code).toBe(status);
  });

  it.each([
    ['was given back', ['Never push to main.', 'Always lint.'], 'everything known to be lost in'],
    ['was kept', [], 'nothing is known to be lost in'],
  ])('--print says that there is nothing to print where all %s', async (_, lines, words) => {
    const text = `The summary of our conversation left this out:\n\nWhat I asked for:\n${lines.map((line) => `- ${line}`).join('\n')}\n\nAll of this still holds.`;
    const summary = lines.length > 0 ? 'Summary: nothing.' : 'Never push to main. Always lint.';
    const records = [
      { type: 'user', message: { content: 'Never push to main. Always lint.' } },
      { type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'manual' } },
      { type: 'user', message: { content: summary }, isCompactSummary: true },
      { type: 'user', message: { content: text } },
    ].map((record, index) => ({
      uuid: `u${index}`,
      parentUuid: index === 0 ? null : `u${index - 1}`,
      sessionId: session,
      cwd: '/proj',
      timestamp: new Date(1_800_000_000_000 + index * 1_000).toISOString(),
      ...record,
    }));
    mkdirSync(dirname(path()), { recursive: true });
    writeFileSync(path(), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { stderr, code } = await ctxwrapHere(['recall', '--print', session], bench);
    expect(stderr).toContain(words);
    expect(code).toBe(1);
  });

  it('says that a running session has no file yet', async () => {
    await publish({ logPath: undefined });
    const { stderr, code } = await ctxwrapHere(['recall'], bench);
    expect(stderr).toContain('(claude) is running, but nothing of its conversation is on record yet');
    expect(code).toBe(1);
  });
});
