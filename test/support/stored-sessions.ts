// The agents' own stores in a home folder, with recorded sessions in them.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ids = {
  claude: '11111111-2222-4333-8444-555555555555',
  codex: '01a1fd1c-f01b-7b00-a700-c9e1017aceb1',
  gemini: '60f4dd20-5ca6-4622-ac05-e88aa42d09a4',
  qwen: 'b3603808-fed8-4da3-976d-e26fb89ab012',
} as const;

const files: Readonly<Record<string, string>> = {
  [`.claude/projects/-proj-app-claude/${ids.claude}.jsonl`]: 'claude/session-with-compaction.jsonl',
  [`.codex/sessions/2026/11/21/rollout-2026-11-21T07-58-14-${ids.codex}.jsonl`]: 'codex/compactions.jsonl',
  '.codex/archived_sessions/rollout-2026-11-21T08-28-01-01a1fd38-352f-7bc2-bbae-91f5e30548c0.jsonl':
    'codex/context-exceeded.jsonl',
  '.gemini/tmp/app-gemini/chats/session-2026-11-21T08-41-60f4dd20.jsonl': 'gemini/manual-compaction.jsonl',
  '.gemini/tmp/app-gemini/chats/4561a90d/645155a2.jsonl': 'gemini/subagent.jsonl',
  [`.gemini/tmp/${'a'.repeat(64)}/chats/session-2026-11-21T15-24-27b5599c.json`]:
    'gemini/document-0.20.0.json',
  [`.qwen/projects/-proj-app-qwen/chats/${ids.qwen}.jsonl`]: 'qwen/ladder.jsonl',
};

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/logs/${name}`, import.meta.url));

/** Fills the stores of all agents below this home folder. */
export const writeStores = (home: string): void => {
  for (const [path, name] of Object.entries(files)) {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(fixture(name), file);
  }
  writeFileSync(join(home, '.gemini/tmp/app-gemini/.project_root'), '/proj/app-gemini\n');
};
