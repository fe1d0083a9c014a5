// Who wanted a compaction: by the agent's own record, and by our audit log where it was us.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { auditLine } from '../../src/core/compaction/protocol.js';
import { openAudit } from '../../src/storage/log-file.js';
import { bin } from '../support/programs.js';
import { makeBench, runToEnd, type Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const context = (path: string) => runToEnd(process.execPath, [bin, 'context', path], bench);

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/logs/gemini/${name}`, import.meta.url));

const COMPACTED_AT = Date.parse('2026-11-21T08:41:36.050Z'); // in the recording

interface Attempt {
  readonly conversation: string;
  readonly at: number;
  readonly initiator?: 'ctxwrap' | 'user';
}

/** What `ctxwrap context` says of a compaction in the recording, after this attempt was written down. */
const saidWith = async (...attempts: readonly Attempt[]): Promise<string> => {
  const { folder } = bench;
  const stateFolder = join(folder, '.local', 'state', 'ctxwrap');
  const audit = openAudit({ stateFolder, onFailure: (reason) => expect.fail(reason) });
  for (const { conversation, at, initiator = 'ctxwrap' } of attempts) {
    const times = { startedAt: at, endedAt: at + 3_000 };
    const ended = { initiator, ...times, outcome: { kind: 'verified' }, evidence: [] } as const;
    audit.append(auditLine(ended, { session: 'one', version: '1', runtime: 'gemini', conversation }));
  }
  await audit.flushed();
  const path = join(folder, 'session-2026-11-21T08-41-60f4dd20.jsonl');
  copyFileSync(fixture('manual-compaction.jsonl'), path);
  const { stdout } = await context(path);
  return /310k.*/.exec(stdout)?.[0] ?? stdout;
};

const conversation = '60f4dd20-5ca6-4622-ac05-e88aa42d09a4';

it('context names us for a compaction in the time of an attempt of ours', async () => {
  expect(await saidWith({ conversation, at: COMPACTED_AT - 2_000 })).toMatch(/, by ctxwrap$/);
});

it.each([
  ['nothing was written down', []],
  ['our attempt was another time', [{ conversation, at: COMPACTED_AT - 60_000 }]],
  ['our attempt was in another conversation', [{ conversation: 'another', at: COMPACTED_AT - 2_000 }]],
  ['the attempt was not ours', [{ conversation, at: COMPACTED_AT - 2_000, initiator: 'user' as const }]],
])('context names the user, as the file of gemini does, when %s', async (_, attempts) => {
  expect(await saidWith(...attempts)).toMatch(/, by you$/);
});

it('context names the agent where its file says that it compacted by itself', async () => {
  const { stdout } = await context(fixture('auto-compactions.jsonl'));
  expect(stdout).toMatch(/Compactions: 7\n/);
  expect(stdout.match(/ → ~\S+, by the agent$/gm)).toHaveLength(7);
});

it('context recognises the session document of an old gemini', async () => {
  const { stdout, code } = await context(fixture('document-0.20.0.json'));
  expect(code).toBe(0);
  expect(stdout).toMatch(/^gemini · gemini-2\.5-flash\n/);
});
