// `ctxwrap report`: one page that needs nothing else, from what ctxwrap has recorded.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseArguments } from '../../src/cli/program.js';
import { auditLine } from '../../src/core/compaction/protocol.js';
import { receiptLine } from '../../src/core/conversation/receipt.js';
import { ensureSessionsFolder, writeSession } from '../../src/storage/sessions.js';
import { renderReportPage } from '../../src/ui/report-page.js';
import { successfulEnd } from '../support/ended.js';
import { publishSession } from '../support/published.js';
import { ctxwrapHere } from '../support/command-here.js';
import { ids, writeStores } from '../support/stored-sessions.js';
import { makeBench } from './launcher.js';
import { performed } from '../support/performed.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'report-test-'));
  vi.stubEnv('XDG_STATE_HOME', folder);
  vi.stubEnv('HOME', folder); // with the agents' files
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const write = async (html: string): Promise<string> =>
  String(await performed(parseArguments(['report', '--html', html], '1.2.3')));
const HOSTILE = '<script>alert("x")</script>&\x1b[31m';
const at = Date.now() - 3_600_000;

const record = async (): Promise<void> => {
  const state = join(folder, 'ctxwrap');
  await publishSession(state, {
    cwd: `/proj/${HOSTILE}`,
    startedAt: at,
    compactions: 2,
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
  const counts = [
    { kind: 'path', kept: 3, of: 41 },
    { kind: 'command', kept: 0, of: 12 },
  ] as const;
  const origin = { session: '4711-a', version: '1', runtime: 'claude' };
  const lines = [
    ended({ outcome: { kind: 'verified', after: { usedTokens: 12_000 } } }),
    receiptLine({ at: at + 8_000, counts }, origin),
    receiptLine({ at: at + 8_000, counts }, { ...origin, session: '4711-b' }), // of another session
    'half a line\n',
    ended({ outcome: { kind: 'failed', failure: 'error', text: HOSTILE } }),
  ];
  writeFileSync(join(state, 'audit.jsonl'), lines.join(''));
};

describe('the page', () => {
  it('shows sessions and compactions, and is for the user alone', async () => {
    await record();
    const path = join(folder, 'page.html');
    expect(await write(path)).toBe(`Wrote ${path}: 1 session, 1 compaction, 1 attempt without one.\n`);
    const page = readFileSync(path, 'utf8');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(page.match(/<svg /g)).toHaveLength(4);
    expect(page).toContain('166k → 12k');
    expect(page).toContain('<b>7%</b> of the tokens remain (median)');
    expect(page).toContain('<td>4711</td>'); // as ps shows it
  });

  it('has no session of the simulator, which history does not find either, unless it is named', async () => {
    await record();
    const audit = join(folder, 'ctxwrap', 'audit.jsonl');
    const origin = { session: '4712-d', version: '1', runtime: 'demo' };
    writeFileSync(audit, auditLine(successfulEnd({ startedAt: at, endedAt: at + 9_000 }), origin), {
      flag: 'a',
    });
    const path = join(folder, 'page.html');
    expect(await write(path)).toBe(`Wrote ${path}: 1 session, 1 compaction, 1 attempt without one.\n`);
  });

  it('has the session of a demo that is running', async () => {
    await record();
    const state = join(folder, 'ctxwrap');
    const logPath = join(folder, 'outside.jsonl');
    writeFileSync(logPath, '');
    await publishSession(state, { id: '4712-d', runtime: 'demo', startedAt: at, logPath });
    const path = join(folder, 'page.html');
    expect(await write(path)).toBe(`Wrote ${path}: 2 sessions, 1 compaction, 1 attempt without one.\n`);
  });

  it('takes the place of an earlier page, and of no other file', async () => {
    const path = join(folder, 'page.html');
    await write(path);
    expect(await write(path)).toContain('Wrote ');
    writeFileSync(path, 'precious');
    await expect(write(path)).rejects.toThrow('already exists, and ctxwrap overwrites no file');
    expect(readFileSync(path, 'utf8')).toBe('precious');
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

  it('has the receipt of each compaction, and what all of them kept', async () => {
    await record();
    const path = join(folder, 'page.html');
    await write(path);
    const page = readFileSync(path, 'utf8');
    expect(page.match(/<td>3 of 41 paths, 0 of 12 commands<\/td>/g)).toHaveLength(1);
    expect(page).toContain('>3 of 41 (7%)</text>');
    expect(page).toContain('From the receipts of 1 compaction;');
  });

  it('has the compactions that history finds, once each, and the attempts without one apart', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z'), toFake: ['Date'] });
    const bench = makeBench();
    writeStores(bench.folder);
    const state = join(bench.folder, '.local/state/ctxwrap');
    await ensureSessionsFolder(state);
    const endedAt = Date.parse('2026-11-21T08:37:12.300Z'); // as the session of Claude tells
    const origin = { session: '4711-a', version: '1', runtime: 'claude', conversation: ids.claude };
    const seen = { startedAt: endedAt - 9_000, endedAt, before: { usedTokens: 131_023 } };
    const none = { kind: 'noop', text: 'Not enough messages to compact.' } as const;
    writeFileSync(
      join(state, 'audit.jsonl'),
      [
        auditLine(successfulEnd({ ...seen, outcome: { kind: 'verified' } }), origin),
        auditLine(successfulEnd({ ...seen, outcome: none }), origin),
      ].join(''),
    );
    const count = async (...words: readonly string[]) =>
      /\d+ compactions(?: in \d+ sessions)?/.exec((await ctxwrapHere(words, bench)).stdout)?.[0];
    expect(await count('history')).toBe('9 compactions in 5 sessions');
    const path = join(bench.folder, 'page.html');
    const { stdout } = await ctxwrapHere(['report', '--html', path], bench);
    expect(stdout).toContain(': 5 sessions, 9 compactions, 1 attempt without one.');
    const page = readFileSync(path, 'utf8');
    bench.remove();
    expect(page.match(/<td>4711-a<\/td>/g)).toHaveLength(2);
    expect(page).toContain('131k → 101k');
    expect(page).toContain(`<td>${ids.qwen.slice(0, 8)}</td>`);
  });

  it('has one session alone where one is named, by the id that the other commands take', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z'), toFake: ['Date'] });
    const bench = makeBench();
    writeStores(bench.folder);
    const path = join(bench.folder, 'page.html');
    const told = async (target: string) =>
      (await ctxwrapHere(['report', target, '--html', path], bench)) satisfies object;
    expect((await told(ids.qwen.slice(0, 8))).stdout).toContain(': 1 session, 2 compactions.');
    expect(readFileSync(path, 'utf8')).not.toContain(ids.claude.slice(0, 8));
    expect((await told('nowhere')).stderr).toContain('there is no session or session file "nowhere"');
    expect((await told('b3603808#1')).stderr).toContain('of the session: ctxwrap report b3603808');
    bench.remove();
  });

  it('has what ctxwrap itself has recorded where the file of the named session cannot be parsed', async () => {
    await record();
    const state = join(folder, 'ctxwrap/sessions/4711-a.json');
    const logPath = join(folder, 'session.jsonl');
    const { schema: _, ...recorded } = JSON.parse(readFileSync(state, 'utf8'));
    writeFileSync(state, JSON.stringify({ schema: 'ctxwrap.session/1', ...recorded, logPath }));
    const path = join(folder, 'page.html');
    for (const broken of ['no session\n', '\0\0\0', '{"type":'.repeat(99)]) {
      writeFileSync(logPath, broken);
      const page = String(await performed(parseArguments(['report', '4711-a', '--html', path], '1.2.3')));
      expect(page).toContain(': 1 session, 1 compaction, 1 attempt without one.');
    }
  });

  it('says how many compactions are too old for its charts', async () => {
    vi.useFakeTimers({ now: Date.parse('2028-11-22T12:00:00Z'), toFake: ['Date'] });
    const bench = makeBench();
    writeStores(bench.folder);
    const { stdout } = await ctxwrapHere(['report', '--html', join(bench.folder, 'page.html')], bench);
    bench.remove();
    expect(stdout).toContain('0 compactions, without 9 compactions from more than a year ago.');
  });

  it('leaves out what has an impossible time, which would leave no room for the others', async () => {
    await record();
    const state = join(folder, 'ctxwrap');
    for (const [id, startedAt] of [
      ['4711-b', 0],
      ['4711-c', 1e300],
    ] as const)
      await writeSession(join(state, 'sessions'), {
        ...JSON.parse(readFileSync(join(state, 'sessions', '4711-a.json'), 'utf8')),
        id,
        startedAt,
      });
    const odd = successfulEnd({ startedAt: at, endedAt: 1e300 });
    appendFileSync(
      join(state, 'audit.jsonl'),
      auditLine(odd, { session: '4711-a', version: '1', runtime: 'claude' }),
    );
    const path = join(folder, 'page.html');
    expect(await write(path)).toContain(': 1 session, 1 compaction, 1 attempt without one.');
    expect(readFileSync(path, 'utf8')).not.toMatch(/NaN|Invalid|Infinity|1970/);
  });

  it('is in the state folder where no file is named, and the path is said where no browser can be opened', async () => {
    await record();
    const said = String(await performed(parseArguments(['report'], '1.2.3')));
    const path = join(folder, 'ctxwrap/report.html');
    expect(said).toMatch(/^Wrote .*report\.html: 1 session, .*\nOpen .*report\.html in a browser\.\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('has each label of an axis once, and the same distance between marks', () => {
    const one = { session: 'a', agent: 'claude', by: 'user', group: 'verified', words: 'compacted' } as const;
    for (const span of [20_000, 90_000, 3_600_000, 3 * 86_400_000]) {
      const compactions = [0, span].map((after) => ({
        ...one,
        endedAt: at + after,
        before: { usedTokens: 900_000 },
        after: { usedTokens: 50_000 },
        kept: [],
      }));
      const page = renderReportPage({ now: at + span, version: '1', sessions: [], compactions });
      const [, chart = ''] = /Tokens before and after([^]*?)<\/svg>/.exec(page) ?? [];
      const labels = [...chart.matchAll(/y="(\d+)" text-anchor="(\w+)">([^<]+)</g)];
      const [times, sizes] = [
        labels.filter(([, , , words = '']) => /:|[A-Z]/.test(words)).map(([, , , words]) => words),
        labels.filter(([, , anchor, words = '']) => anchor === 'end' && !/:|[A-Z]/.test(words)),
      ];
      expect(times.length).toBeGreaterThan(0);
      expect(new Set(times).size).toBe(times.length);
      const gaps = sizes.slice(1).map(([, y], index) => Number(sizes[index]?.[1]) - Number(y));
      expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
    }
  });

  it('shows the days without a compaction, too', async () => {
    const day = 86_400_000;
    const one = { session: 'a', agent: 'claude', by: 'user', group: 'verified', words: 'compacted' } as const;
    const compactions = [0, 4].map((days) => ({
      ...one,
      endedAt: at + days * day,
      kept: [],
    }));
    const page = renderReportPage({ now: at + 5 * day, version: '1', sessions: [], compactions });
    const [, chart = ''] = /Compactions per day([^]*?)<\/svg>/.exec(page) ?? [];
    expect(chart.match(/>[A-Z][a-z]{2} \d+<\/text>/g)).toHaveLength(5);
  });

  const chromium = spawnSync('chromium', ['--version']);
  it.skipIf(chromium.error !== undefined)(
    `fits on a phone, where only its charts and tables scroll${chromium.error ? ' (skipped: chromium is not installed)' : ''}`,
    async () => {
      await record();
      const page = join(folder, 'page.html');
      await write(page);
      const frame = join(folder, 'frame.html');
      writeFileSync(
        frame,
        `<iframe style="width:390px;height:800px" src="page.html" onload="const root = this.contentDocument.documentElement; document.title = root.scrollWidth + ' of ' + root.clientWidth"></iframe>`,
      );
      const { stdout } = spawnSync(
        'chromium',
        [
          '--headless',
          '--no-sandbox',
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
          '--allow-file-access-from-files',
          `--user-data-dir=${join(folder, 'chromium')}`,
          '--virtual-time-budget=5000',
          '--dump-dom',
          `file://${frame}`,
        ],
        { encoding: 'utf8' },
      );
      expect(stdout).toMatch(/<title>(\d+) of \1<\/title>/);
    },
  );

  it('is whole where nothing is recorded', () => {
    const page = renderReportPage({ now: at, version: '1', sessions: [], compactions: [] });
    expect(page.match(/Nothing is recorded/g)).toHaveLength(6);
    expect(page).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('that cannot be written is an error that says why', async () => {
    mkdirSync(join(folder, 'page.html'));
    await expect(write(join(folder, 'page.html'))).rejects.toThrow('cannot be written');
    await expect(write(join(folder, 'none', 'page.html'))).rejects.toThrow('cannot be written');
  });
});
