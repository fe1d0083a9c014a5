// The pages about one session say the same of it: `history`, `recall`, `undo`, `context` and the footer's own number.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { readSessionFile } from '../../src/session-files/read-session-file.js';
import { ctxwrapHere } from '../support/command-here.js';
import { ids, writeStores } from '../support/stored-sessions.js';
import { makeBench, type Bench } from './launcher.js';

let bench: Bench;
beforeAll(() => {
  bench = makeBench();
  Object.assign(bench.env, { TZ: 'UTC', COLUMNS: '160' });
  writeStores(bench.folder);
});
afterAll(() => bench.remove());

const run = async (...words: readonly string[]): Promise<string> => (await ctxwrapHere(words, bench)).stdout;

const session = '22222222-3333-4444-8555-666666666666';
const day = '2026-11-21T08:00:';
const common = { isSidechain: false, sessionId: session, cwd: '/proj/made', version: '2.1.332' };
const user = (second: string, content: string, more: object = {}) => ({
  ...common,
  type: 'user',
  uuid: `u${second}`,
  timestamp: `${day}${second}.000Z`,
  message: { role: 'user', content },
  ...more,
});
const answer = (second: string, tokens: number) => ({
  ...common,
  type: 'assistant',
  uuid: `a${second}`,
  timestamp: `${day}${second}.000Z`,
  message: {
    role: 'assistant',
    model: 'claude-opus-4-5',
    content: [{ type: 'text', text: 'done' }],
    usage: { input_tokens: tokens, output_tokens: 1 },
  },
});

const ANALYSIS = 'Analysis:\nLet me go through it.\n1. The user\n2. asked\n3. for\n4. a lot\n';
const summaryOf = (text: string) =>
  `This session is being continued from a previous conversation that ran out of context.\n${text}`;

/** Of Claude: 24k are fixed, then so much is said that it compacts. */
const madeSession = (summary: string) =>
  [
    user('01', 'a'.repeat(4_000)),
    answer('02', 25_000),
    user('03', 'b'.repeat(4_000)),
    answer('04', 120_000),
    {
      ...common,
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'b05',
      timestamp: `${day}05.000Z`,
      compactMetadata: { trigger: 'manual', preTokens: 120_000, postTokens: 3_000 },
    },
    user('06', summaryOf(summary), { isCompactSummary: true }),
  ]
    .map((each, index, all) => ({ ...each, parentUuid: all[index - 1]?.uuid ?? null }))
    .map((each) => `${JSON.stringify(each)}\n`)
    .join('');

const path = () => join(bench.folder, `.claude/projects/-proj-made/${session}.jsonl`);
const writeMade = (summary: string): void => {
  mkdirSync(dirname(path()), { recursive: true });
  writeFileSync(path(), madeSession(summary));
};

describe('the sizes of a compaction', () => {
  it.each([ids.claude, `${ids.codex}#2`, ids.gemini, `${ids.qwen}#1`, `${ids.qwen}#2`])(
    'of %s are the same in recall, undo and history',
    async (target) => {
      const number = target.includes('#') ? '' : '#1';
      const [, sizes = ''] = /compaction \d+ {2}(.*)/.exec(await run('recall', `${target}${number}`)) ?? [];
      expect(sizes).toMatch(/^~?[\d.]+k → (?:~?[\d.]+k|\?)$/);
      expect(await run('undo', target)).toContain(`(${sizes}) undone`);
      expect(await run('history', 'show', `${target}${number}`)).toContain(`Tokens      ${sizes}\n`);
    },
  );

  it('of Claude count what every request sends besides, as the footer does', async () => {
    writeMade(ANALYSIS);
    const agent = agents.claude;
    const { state } = await readSessionFile({ path: path(), agent, env: {}, now: Date.now() });
    const usedTokens = state.fused?.reading.usedTokens ?? 0;
    expect(usedTokens).toBe(27_000);
    const { sessions } = JSON.parse(await run('history', session, '--json')) as {
      readonly sessions: readonly { readonly compaction: { readonly boundaries: readonly object[] } }[];
    };
    expect(sessions[0]?.compaction.boundaries).toMatchObject([{ post_tokens: 3_000, fixed_tokens: 24_000 }]);
    expect(await run('history', session)).toMatch(/ 120k +~27k /);
    expect(await run('recall', `${session}#1`)).toContain('120k → ~27k');
    expect(await run('undo', session)).toContain('(120k → ~27k)');
    expect(await run('context', session)).toContain('120k → ~27k');
  });
});

describe('the notes that Claude keeps of a session', () => {
  const notes = '# Session Title\n\nthe made one\n\n# Current State\n\ndone';
  const memory = () => join(bench.folder, `.claude/projects/-proj-made/${session}/session-memory/summary.md`);
  const boundary = async () =>
    JSON.parse(await run('history', session, '--ndjson')) as Record<string, unknown>;
  beforeEach(() => {
    writeMade('1. Primary Request: a lot');
    mkdirSync(dirname(memory()), { recursive: true });
  });
  afterEach(() => rmSync(join(bench.folder, `.claude/projects/-proj-made/${session}`), { recursive: true }));

  it('are named by the last compaction, and shown with it', async () => {
    writeFileSync(memory(), `${notes}\n`);
    expect((await boundary())['summary_ref']).toMatchObject({
      path: path(),
      memory: { path: memory(), characters: notes.length, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const shown = await run('history', 'show', `${session}#1`);
    expect(shown).toContain(`~/.claude/projects/-proj-made/${session}/session-memory/summary.md`);
    expect(shown).toMatch(/Session memory, as it is now\n.*# Session Title\n\n.*the made one/);
    expect(await run('history', 'show', `${session}#1`, '--markdown')).toContain(notes);
    expect(JSON.parse(await run('history', 'show', `${session}#1`, '--json'))).toMatchObject({
      summary_ref: { path: path() },
    });
  });

  it.each([
    ['there are none', () => undefined],
    ['a link stands in their place', () => symlinkSync(path(), memory())],
    ['they are larger than any that it writes', () => writeFileSync(memory(), 'a'.repeat(2_000_000))],
  ])('are not needed where %s', async (_, make) => {
    make();
    expect(await boundary()).toMatchObject({ summary_ref: { memory: null } });
    expect(await run('history', 'show', `${session}#1`)).not.toContain('emory');
  });
});

describe('the summary in a row of history', () => {
  it('begins behind the analysis', async () => {
    const summary = `${ANALYSIS}\nSummary:\n1. Primary Request: a lot`;
    writeMade(summary);
    expect(await run('history', session)).toMatch(/ - +1\. Primary Request: a lot *\n/);
    expect(await run('history', session, '--full')).toMatch(/ - +1\. Primary Request: a lot *\n/);
    expect(JSON.parse(await run('history', session, '--ndjson'))).toMatchObject({
      summary: '1. Primary Request: a lot',
      summary_is_cut: true,
      summary_ref: { characters: summary.length },
    });
  });

  it('is the analysis where there is nothing else', async () => {
    writeMade(ANALYSIS);
    expect(await run('history', session)).toContain('Analysis: Let me go');
  });
});
