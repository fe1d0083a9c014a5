// `ctxwrap report`: one page that needs nothing else, from what ctxwrap has recorded.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { report } from '../../src/cli/commands/report.js';
import { parseArguments } from '../../src/cli/program.js';
import { auditLine } from '../../src/core/compaction/protocol.js';
import { ensureSessionsFolder, writeSession } from '../../src/storage/sessions.js';
import { renderReportPage } from '../../src/ui/report-page.js';
import { successfulEnd } from '../support/ended.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'report-test-'));
  vi.stubEnv('XDG_STATE_HOME', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const write = (html: string): Promise<string> => {
  const made = parseArguments(['report', '--html', html], '1');
  if (made.kind !== 'report') throw new Error(made.kind);
  return report(made, '1.2.3');
};
const HOSTILE = '<script>alert("x")</script>&\x1b[31m';
const at = Date.now() - 3_600_000;

const record = async (): Promise<void> => {
  const state = join(folder, 'ctxwrap');
  await writeSession(await ensureSessionsFolder(state), {
    schema: 'ctxwrap.session/1',
    id: '4711-a',
    version: '1',
    pid: process.pid,
    childPid: 1,
    runtime: 'claude',
    cwd: `/proj/${HOSTILE}`,
    startedAt: at,
    heartbeatAt: Date.now(),
    activity: 'ready',
    compactions: 2,
    thresholds: [],
  });
  const ended = (more: Parameters<typeof successfulEnd>[0]) =>
    auditLine(
      successfulEnd({ startedAt: at, endedAt: at + 9_000, before: { usedTokens: 166_000 }, ...more }),
      {
        session: '4711-a',
        version: '1',
        runtime: 'claude',
      },
    );
  const lines = [
    ended({ outcome: { kind: 'verified', after: { usedTokens: 12_000 } } }),
    'half a line\n',
    ended({ outcome: { kind: 'failed', failure: 'error', text: HOSTILE } }),
  ];
  writeFileSync(join(state, 'audit.jsonl'), lines.join(''));
};

describe('the page', () => {
  it('shows sessions and compactions, and is for the user alone', async () => {
    await record();
    const path = join(folder, 'page.html');
    expect(await write(path)).toBe(`Wrote ${path}: 1 sessions, 2 compactions.\n`);
    const page = readFileSync(path, 'utf8');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(page.match(/<svg /g)).toHaveLength(3);
    expect(page).toContain('166k → 12k');
    expect(page).toContain('<td>4711-a</td>');
  });

  it('loads nothing, runs nothing, and takes every text as a text', async () => {
    await record();
    const path = join(folder, 'page.html');
    await write(path);
    const page = readFileSync(path, 'utf8');
    expect(page).not.toMatch(/<script|<link|<img|<iframe|https?:|url\(|@import/i);
    expect(page).toContain('&#60;script&#62;');
    expect(page).not.toContain('\x1b');
    expect(page).toContain("default-src 'none'");
  });

  it('is whole where nothing is recorded', () => {
    const page = renderReportPage({ now: at, version: '1', sessions: [], compactions: [] });
    expect(page.match(/Nothing is recorded/g)).toHaveLength(5);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('that cannot be written is an error that says why', async () => {
    mkdirSync(join(folder, 'page.html'));
    await expect(write(join(folder, 'page.html'))).rejects.toThrow('cannot be written');
    await expect(write(join(folder, 'none', 'page.html'))).rejects.toThrow('cannot be written');
  });
});
