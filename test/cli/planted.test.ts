// Nothing from outside reaches a terminal, a pager or a page as a control sequence: it stands in every text of every agent's records here, and
// of ctxwrap's own records of other sessions, and is looked for in all that is printed and drawn.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { applyConfiguration } from '../../src/cli/config/apply.js';
import { parseArguments } from '../../src/cli/program.js';
import { fieldNames } from '../../src/cli/template.js';
import { topFrame } from '../../src/cli/commands/top-frame.js';
import { startTop } from '../../src/cli/commands/top-state.js';
import { auditLine } from '../../src/core/compaction/protocol.js';
import type { FooterView } from '../../src/core/footer-view.js';
import { toPrintable } from '../../src/core/printable.js';
import type { SessionRecord } from '../../src/core/report/records.js';
import { notificationSequence } from '../../src/terminal/notification.js';
import { drawnFooter } from '../support/drawn-footer.js';
import { renderOverview } from '../../src/ui/Overview.js';
import { successfulEnd } from '../support/ended.js';
import { canReadDatabases } from '../../src/storage/database.js';
import { makeOpencodeDatabase, recordedId } from '../support/opencode-database.js';
import { overviewCases } from '../support/overview-states.js';
import { performed } from '../support/performed.js';
import { controlsIn, PLANT, PLANT_IN_NAME, planted, textPaths } from '../support/planted.js';
import { runs } from '../support/runs.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
const written: string[] = [];

beforeAll(() => {
  bench = makeBench();
  const env = { ...bench.env, TZ: 'UTC', COLUMNS: '100' };
  for (const name of Object.keys(process.env)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text, ...rest) => {
      written.push(String(text));
      for (const done of rest) if (typeof done === 'function') done();
      return true;
    });
});
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  bench.remove();
});

/** What a command prints in this process; undefined if it fails, as `recall` of a session without a compaction. */
const printed = async (words: readonly string[]): Promise<string | undefined> => {
  written.length = 0;
  const request = parseArguments(words, '1.0.0');
  if (request.kind === 'print') throw new Error(request.text);
  try {
    await performed(await applyConfiguration(request));
  } catch {
    return undefined; // main.ts prints the error, by the same door
  }
  return written.join('');
};

const commandsFor = (file: string, agent: string): readonly (readonly string[])[] =>
  [
    ['history', '--full', file],
    ['history', '--json', file],
    ['history', 'show', `${file}#1`],
    ['history', 'show', `${file}#1`, '--markdown'],
    ['history', 'show', `${file}#1`, '--before'],
    ['history', 'show', `${file}#1`, '--before', '--markdown'],
    ['recall', `${file}#1`],
    ['recall', '--json', `${file}#1`],
    ['recall', '--print', `${file}#1`],
    ['context', file],
    ['context', '--json', file],
    ['handoff', file],
    ['handoff', '--json', file],
  ].map((words) => ['--runtime', agent, ...words]);

/** With something else in one of these a reader takes a record for another one, or for none; they are planted a few at a time. */
const STRUCTURE =
  /\.(?:\w*[tT]ype|\w*_source|role|kind|subtype|status|state|method|event|\w*_?[iI]d|\w*[uU]uid|timestamp|time)$/;

const logs = new URL('../fixtures/logs/', import.meta.url).pathname;

interface Log {
  readonly name: string;
  readonly records: readonly unknown[];
}

const logsOf = (agent: string): readonly Log[] =>
  readdirSync(join(logs, agent))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({
      name,
      records: readFileSync(join(logs, agent, name), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    }));

/** What each command prints that does not fail, by its words without the session. */
const printedFor = async (session: string, agent: string): Promise<ReadonlyMap<string, string>> => {
  const all = new Map<string, string>();
  for (const words of commandsFor(session, agent)) {
    const text = await printed(words);
    if (text !== undefined) all.set(words.filter((word) => !word.startsWith(session)).join(' '), text);
  }
  return all;
};

/** Writes the log with its plants, and returns what each command prints of it. */
const printedOf = async (
  agent: string,
  { name, records }: Log,
  isWanted: (path: string) => boolean,
): Promise<ReadonlyMap<string, string>> => {
  const folder = join(bench.folder, `proj${PLANT_IN_NAME}`);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, records.map((each) => `${JSON.stringify(planted(each, isWanted))}\n`).join(''));
  return printedFor(file, agent);
};

const faultsIn = (all: ReadonlyMap<string, string>): readonly string[] =>
  [...all].flatMap(([command, text]) => controlsIn(text).map((found) => `${command}: ${found}`));

describe.each(['claude', 'codex', 'gemini', 'qwen', 'kimi', 'copilot'])('session files of %s', (agent) => {
  it('print no control sequence, whichever text of a record holds one', async () => {
    const shown = new Set<string>();
    for (const log of logsOf(agent)) {
      const all = await printedOf(agent, log, (path) => !STRUCTURE.test(path));
      expect(faultsIn(all)).toEqual([]);
      for (const [command, text] of all) if (text.includes('52;c;QUJD')) shown.add(command);
    }
    // what is planted is what is printed
    const runtime = `--runtime ${agent}`;
    for (const command of ['history show --before', 'context', 'handoff'])
      expect([...shown]).toContain(`${runtime} ${command}`);
  });

  it('nor where it makes a record another one', async () => {
    const all = logsOf(agent);
    const structure = [
      ...new Set(all.flatMap(({ records }) => records.flatMap((each) => textPaths(each)))),
    ].filter((path) => STRUCTURE.test(path));
    const few = fc.uniqueArray(fc.constantFrom(...structure), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...all), few, async (log, paths) => {
        expect(faultsIn(await printedOf(agent, log, (path) => paths.includes(path)))).toEqual([]);
      }),
      runs(4),
    );
  });
});

describe.runIf(canReadDatabases())('sessions of opencode (skipped where Node has no SQLite)', () => {
  it('print no control sequence, whichever text of a record holds one', async () => {
    const database = makeOpencodeDatabase(bench.folder);
    database.restore((data) => planted(data, (path) => !STRUCTURE.test(path)));
    database.close();
    const all = await printedFor(recordedId, 'opencode');
    expect(faultsIn(all)).toEqual([]);
    const shown = [...all].filter(([, text]) => text.includes('52;c;QUJD')).map(([command]) => command);
    expect(shown).toContain('--runtime opencode history show --before');
  });
});

const now = Date.now();
const record: SessionRecord = {
  schema: 'ctxwrap.session/1',
  id: '4711-a',
  version: '1.0.0',
  pid: process.pid,
  childPid: process.pid,
  runtime: 'claude',
  cwd: '/proj/app',
  startedAt: now - 60_000,
  heartbeatAt: now,
  agentVersion: '2.1.332',
  agentSessionId: '11111111-2222-4333-8444-555555555555',
  logPath: '/proj/app/session.jsonl',
  reading: {
    schema: 'ctxwrap.reading/1',
    at: now,
    runtime: 'claude',
    source: 'log',
    usedTokens: 100_000,
    windowTokens: 200_000,
    usedPercent: 50,
    basis: 'window',
    model: 'opus',
    exact: true,
  },
  note: 'no reading',
  activity: 'dialog',
  asks: 'Bash: npm test',
  compactions: 1,
  thresholds: [],
  compaction: { mode: 'auto', words: 'waiting: the agent is busy' },
};
/** A text elsewhere would make it no record of a session at all. */
const FREE =
  /^\.(?:version|runtime|cwd|agentVersion|agentSessionId|logPath|note|asks|reading\.model|compaction\.words)$/;
const hostile = planted(record, (path) => FREE.test(path));

describe('records of other sessions', () => {
  it('print no control sequence', { timeout: 60_000 }, async () => {
    const state = join(bench.folder, '.local/state/ctxwrap');
    mkdirSync(join(state, 'sessions'), { recursive: true, mode: 0o700 });
    writeFileSync(join(state, 'sessions', '4711-a.json'), JSON.stringify(hostile), { mode: 0o600 });
    const compacted = successfulEnd({
      startedAt: now - 9_000,
      endedAt: now,
      outcome: { kind: 'failed', failure: 'error', text: `no${PLANT}` },
    });
    const origin = { session: `4711-a${PLANT}`, version: `1${PLANT}`, runtime: `claude${PLANT}` };
    const line = auditLine(compacted, origin);
    writeFileSync(join(state, 'audit.jsonl'), line, { mode: 0o600 });
    const page = join(bench.folder, 'page.html');
    const ended = await Promise.all(
      [
        ['ps'],
        ['ps', '--json'],
        ['ps', '--format', fieldNames.map((name) => `{${name}}`).join(' ')],
        ['context', '4711-a'],
        ['context', '--json'],
        ['history'],
        ['compact', '--no-wait', 'claude'],
        ['checkpoint', 'list'],
        ['report', '--html', page],
        ['complete', 'context', ''],
      ].map((words) => ctxwrap(words, bench)),
    );
    const texts = [
      line,
      readFileSync(page, 'utf8'),
      ...ended.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    ];
    expect(texts.flatMap(controlsIn)).toEqual([]);
    expect(ended[2]?.stdout).toContain('/proj/app');
    expect(readFileSync(page, 'utf8')).toContain('/proj/app');
  });

  it('draw none in top', () => {
    const session = { record: hostile, liveness: 'live' } as const;
    const { frame } = topFrame(
      { ...startTop, hasDetails: true, filter: PLANT },
      {
        now,
        home: '/home/u',
        look: { columns: 200, colorLevel: 0, ascii: false },
        rows: 40,
        scroll: 0,
        chosen: [session],
        all: [session],
        known: [session],
        news: `Asked ${PLANT}`,
      },
    );
    const rows = [frame.head, frame.titles, ...frame.lines, ...frame.details, frame.message, frame.keys];
    expect(rows.flatMap(controlsIn)).toEqual([]);
    expect(rows.join('\n')).toContain('/proj/app');
  });
});

describe('what a session draws', () => {
  const look = { columns: 200, colorLevel: 0, ascii: false } as const;

  it('has no control sequence in the footer', () => {
    const view: FooterView = {
      runtime: `claude${PLANT}`,
      usedTokens: 100_000,
      windowTokens: 200_000,
      usedPercent: 50,
      estimated: false,
      windowInferred: false,
      model: `opus${PLANT}`,
      compactions: 1,
      cache: `12m${PLANT}`,
      limits: `5h 42%${PLANT}`,
      note: `no reading${PLANT}`,
      words: `waiting${PLANT}`,
      hint: `Ctrl-]${PLANT}`,
    };
    const items = ['runtime', 'bar', 'percent', 'used', 'model', 'cache', 'limits', 'message'] as const;
    const { usedPercent: _, usedTokens: __, ...unknown } = view;
    expect([view, unknown].map((each) => drawnFooter(each, look, items)).flatMap(controlsIn)).toEqual([]);
  });

  it.each(overviewCases())('has none in the overview: $name', ({ report }) => {
    // the name of a part chooses its look
    const all = planted(report(), (path) => !/\.(?:name|tone|tier|sign|emphasis|kind)$/.test(path));
    const { rows } = renderOverview(all, { look: { ...look, columns: 100 }, rows: 100, scroll: 0 });
    expect(rows.flatMap(controlsIn)).toEqual([]);
    expect(rows.join('\n')).toContain('52;c;QUJD');
  });

  it('has none in a notification but its own', () => {
    const text = toPrintable(PLANT);
    const sequence = notificationSequence({ TERM: 'foot' }, { title: text, text });
    expect(controlsIn(sequence.replace(/^\u001b\]777;/, '').replace(/\u001b\\$/, ''))).toEqual([]);
  });
});
