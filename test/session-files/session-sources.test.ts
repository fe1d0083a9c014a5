import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { readHistory, type SessionSource } from '../../src/session-files/read-history.js';
import { findSources, sourcesAt } from '../../src/session-files/session-sources.js';

let home: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'sources-test-')));
});
afterEach(() => rmSync(home, { recursive: true }));

const id = '11111111-2222-4333-8444-555555555555';
const record = JSON.stringify({
  type: 'user',
  isSidechain: false,
  uuid: 'u',
  cwd: '/p',
  message: { content: 'hi' },
});
const write = (path: string, text = `${record}\n`): string => {
  const whole = join(home, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, text);
  return whole;
};
const search = (env: Record<string, string> = {}) => ({
  agents: [agents.claude, agents.codex, agents.gemini, agents.qwen],
  where: { env, home, cwd: home },
});
const namesOf = (sources: readonly SessionSource[]) =>
  sources.map(({ agent, path }) => `${agent.name} ${path.slice(home.length + 1)}`).toSorted();

describe('the sessions of the agents', () => {
  it('are the conversations in their folders, and not those of subagents', async () => {
    write(`.claude/projects/-p/${id}.jsonl`);
    write('.claude/projects/-p/agent-1.jsonl');
    write(`.claude/projects/-p/${id}/subagents/agent-2.jsonl`);
    write(`.codex/sessions/2026/11/21/rollout-2026-11-21T07-58-14-${id}_9.jsonl`);
    write('.codex/history.jsonl');
    write('.gemini/tmp/p/chats/session-2026-11-21T08-41-11111111.jsonl');
    write(`.gemini/tmp/p/chats/${id}/1.jsonl`);
    write('.gemini/tmp/p/logs.json');
    write(`.qwen/projects/-p/chats/${id}.jsonl`);
    write(`.qwen/projects/-p/chats/${id}.runtime.json`);
    const { sources, skipped } = await findSources(search());
    expect(namesOf(sources)).toEqual([
      `claude .claude/projects/-p/${id}.jsonl`,
      `codex .codex/sessions/2026/11/21/rollout-2026-11-21T07-58-14-${id}_9.jsonl`,
      'gemini .gemini/tmp/p/chats/session-2026-11-21T08-41-11111111.jsonl',
      `qwen .qwen/projects/-p/chats/${id}.jsonl`,
    ]);
    expect(skipped).toEqual([]);
  });

  it('are where their environment says', async () => {
    write(`a/projects/-p/${id}.jsonl`);
    write(`b/sessions/2026/11/21/rollout-1.jsonl`);
    const env = { CLAUDE_CONFIG_DIR: join(home, 'a'), CODEX_HOME: join(home, 'b') };
    const { sources } = await findSources(search(env));
    expect(namesOf(sources)).toEqual([
      `claude a/projects/-p/${id}.jsonl`,
      'codex b/sessions/2026/11/21/rollout-1.jsonl',
    ]);
  });

  it('are also those that a copy was kept of, when their own file is gone', async () => {
    const there = write(`.claude/projects/-p/${id}.jsonl`);
    async function* open() {
      yield await Promise.resolve(Buffer.from(`${record}\n`));
    }
    const copyOf = (path: string): SessionSource => ({
      agent: agents.claude,
      path,
      size: 1,
      modifiedAt: 1,
      open,
    });
    const gone = join(home, '.claude/projects/-p/22222222-2222-4333-8444-555555555555.jsonl');
    const { sources } = await findSources({ ...search(), kept: [copyOf(there), copyOf(gone)] });
    expect(sources.map(({ path }) => path)).toEqual([there, gone]);
    const read = sources[1] && (await readHistory(sources[1], { isFull: false, withUsage: false, now: 0 }));
    expect(read?.history).toMatchObject({ isKept: true, path: gone, messages: 1, project: '/p' });
  });
});

describe('the sessions at a path', () => {
  it('are those of one file or of a folder, known by their place or their records', async () => {
    write(`.claude/projects/-p/${id}.jsonl`);
    write('elsewhere/session.jsonl');
    write('elsewhere/other.jsonl', '{"a":1}\n');
    write('elsewhere/package.json', '{\n  "name": "x"\n}\n');
    const at = async (path: string) =>
      namesOf((await sourcesAt({ ...search(), path: join(home, path) })).sources);
    expect(await at('.claude')).toEqual([`claude .claude/projects/-p/${id}.jsonl`]);
    expect(await at('elsewhere')).toEqual(['claude elsewhere/session.jsonl']);
    expect(await at('elsewhere/session.jsonl')).toEqual(['claude elsewhere/session.jsonl']);
    expect(await at('elsewhere/other.jsonl')).toEqual([]);
  });

  it('are of the agent that the user names', async () => {
    const path = write('session.jsonl', '{"a":1}\n');
    const { sources } = await sourcesAt({ ...search(), path, asked: agents.qwen });
    expect(namesOf(sources)).toEqual(['qwen session.jsonl']);
  });
});

describe('a file that cannot be read', () => {
  it('is an error where the user has named it, and skipped with its reason in a folder', async () => {
    write('elsewhere/session.jsonl');
    writeFileSync(join(home, 'elsewhere/broken.jsonl.gz'), '\u001f\u008b\u0000', 'latin1');
    const found = await sourcesAt({ ...search(), path: join(home, 'elsewhere') });
    expect(namesOf(found.sources)).toEqual(['claude elsewhere/session.jsonl']);
    expect(found.skipped).toEqual([
      { path: join(home, 'elsewhere/broken.jsonl.gz'), reason: expect.stringMatching(/./) as unknown },
    ]);
    const named = sourcesAt({ ...search(), path: join(home, 'elsewhere/broken.jsonl.gz') });
    await expect(named).rejects.toThrow(/./);
  });

  it('or a store, is named', async () => {
    symlinkSync('.claude', join(home, '.claude'));
    const { skipped } = await findSources(search());
    expect(skipped).toEqual([
      { path: join(home, '.claude/projects'), reason: 'too many symbolic links encountered' },
    ]);
  });
});
