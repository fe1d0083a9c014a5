// The commands about past conversations, of a session of opencode's: it is in a database, and published without a file.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canReadDatabases } from '../../src/storage/database.js';
import { makeOpencodeDatabase, recordedAskId, recordedId } from '../support/opencode-database.js';
import { publishSession } from '../support/published.js';
import { writeStores } from '../support/stored-sessions.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
let database: ReturnType<typeof makeOpencodeDatabase>;
beforeEach(async () => {
  if (!canReadDatabases()) return;
  bench = makeBench();
  database = makeOpencodeDatabase(bench.folder);
  database.restore();
  await publishSession(join(bench.folder, '.local/state/ctxwrap'), {
    id: 'running',
    runtime: 'opencode',
    cwd: bench.folder,
    agentSessionId: recordedId,
    compactions: 2,
    compaction: { mode: 'auto' },
  });
});
afterEach(() => {
  if (!canReadDatabases()) return;
  database.close();
  bench.remove();
});

describe.runIf(canReadDatabases())('a session of opencode (skipped where Node has no SQLite)', () => {
  it.each([[], ['running'], [recordedId]])('is handed off, named as %j', async (...names) => {
    const { stdout, stderr, code } = await ctxwrap(['handoff', ...names], bench);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toContain(`# Handoff from opencode`);
    expect(stdout).toContain('> my number is 10');
    expect(stdout).toContain('MOCK-SUMMARY');
    expect(stdout).toContain('notes.txt');
  });

  it('has a recap, and what was said before', async () => {
    const recap = await ctxwrap(['recall', `${recordedId}#1`], bench);
    expect(recap).toMatchObject({ stderr: '', code: 0 });
    expect(recap.stdout).toMatch(/forgotten +echo from the shell/);
    const before = await ctxwrap(['history', 'show', `${recordedId}#1`, '--before'], bench);
    expect(before.stdout).toContain('my number is 8');
    expect(before.stdout).not.toContain('my number is 9');
  });

  it('is read from its database by the name of that, where it is the only one', async () => {
    const path = join(bench.folder, '.local/share/opencode/opencode.db');
    const { stdout, stderr, code } = await ctxwrap(['context', path], bench);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toContain(`Session  ${recordedId.slice(0, 12)}\n`);
  });

  it('has its compactions in the report of what fills the window', async () => {
    const { stdout, stderr, code } = await ctxwrap(['context', '--json'], bench);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({
      runtime: 'opencode',
      compactions: [{ pre_tokens: 60_040 }, { pre_tokens: 9_040 }],
    });
  });

  it('fills the window with what its tools gave, named by its id while nothing runs', async () => {
    database.run('DELETE FROM message WHERE id >= ?', recordedAskId());
    const given = recordedId.slice(0, 12);
    const { stdout, stderr, code } = await ctxwrap(['context', given, '--json'], bench);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ runtime: 'opencode', agentSessionId: recordedId, compactions: [] });
    expect(stdout).toContain('ls /not/there; exit 3');
    expect(await ctxwrap(['context', 'ses_unknown'], bench)).toMatchObject({ code: 2 });
  });

  it('is read without a row that is damaged', async () => {
    database.run(`UPDATE part SET data = '{"type":' WHERE id = (SELECT min(id) FROM part)`);
    database.run(`UPDATE message SET data = 'x' WHERE id = (SELECT max(id) FROM message)`);
    database.run(`UPDATE session SET revert = '{'`);
    const { stdout, stderr, code } = await ctxwrap(['history', '--json'], bench);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(JSON.parse(stdout)).toMatchObject({
      sessions: [{ compaction: { boundaries: [{}, {}] } }],
    });
    expect((await ctxwrap(['handoff', recordedId], bench)).stdout).toContain('> my number is 10');
  });

  it('is what its short id means while it runs; else others of its database are told from it', async () => {
    const short = recordedId.slice(0, 12);
    const other = `${short}-other`;
    database.session(other, 1);
    expect(await ctxwrap(['handoff', short], bench)).toMatchObject({ code: 0, stderr: '' });
    rmSync(join(bench.folder, '.local/state/ctxwrap/sessions'), { recursive: true });
    const { stderr, code } = await ctxwrap(['handoff', short], bench);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(other) as string });
    expect(stderr).toContain(recordedId);
  });

  it('is not called unknown where the database cannot be read: the reason is told', async () => {
    database.run('ALTER TABLE session RENAME TO other');
    for (const args of [
      ['handoff'],
      ['handoff', recordedId],
      ['recall', `${recordedId}#1`],
      ['handoff', database.path],
    ])
      expect((await ctxwrap(args, bench)).stderr).toContain('no such table: session');
    expect(await ctxwrap(['context'], bench)).toMatchObject({
      stderr: 'ctxwrap: the records of opencode cannot be read: no such table: session\n',
      code: 0,
    });
  });

  it('is left out where its database could be read without end, and other sessions are listed', async () => {
    writeStores(bench.folder);
    database.run('ALTER TABLE part RENAME TO other');
    database.run(
      "CREATE VIEW part AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS id, '{}' AS data, n AS message_id, n AS session_id FROM r",
    );
    const { stdout, stderr, code } = await ctxwrap(['history', '--json'], bench);
    const reason = '"part" in it is a view, not a table, and could run without end';
    expect({ stderr, code }).toEqual({
      stderr: `ctxwrap: left out: ${database.path}: ${reason}\n`,
      code: 0,
    });
    const { sessions, skipped } = JSON.parse(stdout);
    expect(skipped).toEqual([{ path: database.path, reason: `left out: ${reason}` }]);
    expect(sessions).toHaveLength(5);
  });

  it('is never written, and its database is as it was', async () => {
    const before = readFileSync(database.path);
    for (const args of [
      ['compact', recordedId, '--strategy', 'truncate'],
      ['compact', '--strategy', 'truncate'],
    ])
      expect(await ctxwrap(args, bench)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /cannot write sessions of opencode[^]*handoff SESSION --to opencode/,
        ) as string,
      });
    expect(readFileSync(database.path).equals(before)).toBe(true);
  });
});
