// `ctxwrap history` as users run it, over a home folder with the session files of all agents.
import { mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditLine } from '../../src/core/compaction/protocol.js';
import { canUnpack } from '../../src/storage/session-store.js';
import { openAudit } from '../../src/storage/log-file.js';
import { parseArguments } from '../../src/cli/program.js';
import { fixture, ids, writeStores } from '../support/stored-sessions.js';
import { ctxwrapHere } from '../support/command-here.js';
import type { SessionRecord } from '../../src/core/report/records.js';
import { publishSession } from '../support/published.js';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench, type Bench } from './launcher.js';

let bench: Bench;
const at = (path: string): string => join(bench.folder, path);

beforeAll(() => {
  bench = makeBench();
  Object.assign(bench.env, { TZ: 'UTC', COLUMNS: '110' });
  writeStores(bench.folder);
});
afterAll(() => bench.remove());

const history = (...args: readonly string[]) => ctxwrapHere(['history', ...args], bench);
const json = async (...args: readonly string[]) => {
  const { stdout } = await history(...args, '--json');
  return JSON.parse(stdout) as {
    readonly schema: string;
    readonly skipped: readonly { readonly path: string; readonly reason: string }[];
    readonly sessions: readonly {
      readonly runtime: string;
      readonly session_id: string;
      readonly damaged_lines: number;
      readonly compaction: { readonly boundaries: readonly Record<string, unknown>[] };
    }[];
  };
};
const sessionsOf = async (...args: readonly string[]) =>
  (await json(...args)).sessions
    .map(({ runtime, session_id }) => `${runtime} ${session_id.slice(0, 8)}`)
    .toSorted();

describe('ctxwrap history', () => {
  it('lists all compactions by session, newest first', async () => {
    const { stdout, stderr, code } = await history();
    expect(stdout).toMatchInlineSnapshot(`
      "gemini · ~/.gemini/tmp/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/chats/session-2026-11…
      COMPACTION  WHEN              BEFORE  AFTER  TRIGGER  BY   TOOK  SUMMARY
      27b5599c#1  2026-11-21 15:24   ~500k   ~20k  manual   you     -  not in the file

      gemini · /proj/app-gemini · 60f4dd20
      COMPACTION  WHEN              BEFORE  AFTER  TRIGGER  BY   TOOK  SUMMARY
      60f4dd20#1  2026-11-21 08:41   ~310k      -  manual   you     -  MOCK-SUMMARY

      claude · /proj/app-claude · 11111111
      COMPACTION  WHEN              BEFORE  AFTER  TRIGGER  BY    TOOK  SUMMARY
      11111111#1  2026-11-21 08:37    131k  ~101k  manual   you  97 ms  1. Primary Request: mock summary.

      qwen · /proj/app-qwen · b3603808
      COMPACTION  WHEN              BEFORE  AFTER  TRIGGER  BY     TOOK  SUMMARY
      b3603808#2  2026-11-21 08:36    110k    10k  auto     agent     -  MOCK-SUMMARY
      b3603808#1  2026-11-21 08:36    100k   ~66k  auto     agent     -  MOCK-SUMMARY

      codex · /proj/app-codex · 01a1fd1c
      COMPACTION  WHEN              BEFORE  AFTER  TRIGGER  BY    TOOK  SUMMARY
      01a1fd1c#4  2026-11-21 07:59    ~70k   8.3k  manual   you    6 s  MOCK SUMMARY: the user and the agent talked…
      01a1fd1c#3  2026-11-21 07:58    ~70k   8.3k  manual   you    1 s  empty: nothing was kept
      01a1fd1c#2  2026-11-21 07:58    ~70k   8.2k  manual   you    4 s  MOCK SUMMARY: the user and the agent talked…
      01a1fd1c#1  2026-11-21 07:58       -   7.9k  manual   you  24 ms  MOCK SUMMARY: the user and the agent talked…

      9 compactions in 5 sessions; 1 other session without any
      "
    `);
    expect([stderr, code]).toEqual(['', 0]);
  });

  it('prints them as boundary records with every field', async () => {
    const { schema, sessions, skipped } = await json('--runtime', 'claude');
    expect([schema, skipped]).toEqual(['ctxwrap.history/1', []]);
    const path = at(`.claude/projects/-proj-app-claude/${ids.claude}.jsonl`);
    expect(sessions).toMatchObject([
      { runtime: 'claude', session_id: ids.claude, project: '/proj/app-claude', path },
    ]);
    expect(sessions[0]?.compaction.boundaries).toEqual([
      {
        schema: 'ctxwrap.boundary/1',
        runtime: 'claude',
        session_id: ids.claude,
        number: 1,
        project: '/proj/app-claude',
        timestamp: '2026-11-21T08:37:12.289Z',
        trigger: 'manual',
        initiator: 'user',
        pre_tokens: 131_023,
        pre_tokens_estimated: false,
        post_tokens_estimated: false,
        post_tokens: 777,
        fixed_tokens: 100_500,
        next_tokens: 131_003,
        duration_ms: 97,
        after_message_index: 9,
        replaced_message_indices: [1, 2, 3, 4, 5, 6, 7, 8],
        uuid: 'c1f4ee78-0433-4846-8f99-a5f862eceff8',
        summary: '1. Primary Request: mock summary.',
        summary_kind: 'text',
        summary_is_cut: false,
        summary_ref: {
          path,
          line: 30,
          characters: 33,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          memory: null,
        },
        kept: null,
        not_understood: null,
        path,
        line: 29,
        byte_offset: expect.any(Number),
        kept_copy: false,
        verified: true,
      },
    ]);
  });

  it('prints the same records one a line', async () => {
    const { stdout } = await history('--ndjson');
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const all = (await json()).sessions.flatMap(({ compaction }) => compaction.boundaries);
    expect(records.length).toBe(9);
    const order = (list: readonly Record<string, unknown>[]) =>
      list.toSorted((a, b) => String(a['uuid']).localeCompare(String(b['uuid'])));
    expect(order(records)).toEqual(order(all));
  });

  it.each([
    [['--runtime', 'qwen'], ['qwen b3603808']],
    [['--project', '/proj/app-codex'], ['codex 01a1fd1c']],
    [['--project', '/proj/app-gemini/'], ['gemini 60f4dd20']],
    [['--project', '/proj/app'], []],
    [
      ['--since', '2026-11-21T08:37:00Z'],
      ['claude 11111111', 'gemini 27b5599c', 'gemini 60f4dd20'],
    ],
    [['01a1fd1c'], ['codex 01a1fd1c']],
    [[ids.gemini], ['gemini 60f4dd20']],
    [['.codex/sessions'], ['codex 01a1fd1c']],
    [
      ['.qwen', '.claude'],
      ['claude 11111111', 'qwen b3603808'],
    ],
  ] as const)('looks for %j', async (args, found) => {
    expect(await sessionsOf(...args)).toEqual(found);
  });

  it('lists one compaction by its number', async () => {
    const { sessions } = await json('01a1fd1c#3');
    expect(sessions[0]?.compaction.boundaries.map((each) => each['number'])).toEqual([3]);
  });

  it.each([
    [['nowhere'], /^ctxwrap: there is no session or session file "nowhere"\n/],
    [['claude'], /ctxwrap history --runtime claude\n$/],
    [
      ['show', '11111111#2'],
      /^ctxwrap: there is no compaction "11111111#2"\nctxwrap: this session has one: #1\n$/,
    ],
    [
      ['--since', 'soon'],
      /^ctxwrap: --since must be a date or an age, got "soon"\nctxwrap: try --since 7d\n$/,
    ],
    [['.gemini/tmp/app-gemini/.project_root'], /is not a known kind of session file/],
  ] as const)('says what is wrong with %j', async (args, told) => {
    const { stderr, stdout, code } = await history(...args);
    expect(stderr).toMatch(told);
    expect([stdout, code]).toEqual(['', 2]);
  });

  it('fits into any width, without colours in a pipe', async () => {
    for (const columns of ['20', '40', '80', '200']) {
      const { stdout } = await ctxwrap(['history'], { ...bench, env: { ...bench.env, COLUMNS: columns } });
      expect(stdout).not.toContain('\x1b');
      expect(Math.max(...stdout.split('\n').map((line) => stringWidth(line)))).toBeLessThanOrEqual(
        Number(columns),
      );
    }
  });

  it('draws how full the window was, with the compactions below', async () => {
    const { stdout } = await history('01a1fd1c', '--chart');
    expect(stdout).toMatch(/^ 100% [\u2800-\u28ff]+$/m);
    expect(stdout.match(/⟳/g)?.length).toBe(4);
    const shown = inTerminal(process.execPath, [bin, 'history', '01a1fd1c', '--chart'], bench);
    await shown.seen(/\u001b\[2m 100% \u001b\[22m/);
    expect((await shown.ended).exitCode).toBe(0);
    expect(shown.output()).not.toContain('\ufffd');
  });

  it('says with --full what each compaction has kept, and its whole summary', async () => {
    const { stdout } = await history('11111111', '--full');
    expect(stdout).toMatch(
      /^11111111#1 .*\n {4}kept 0 of 1 command\n {4}1\. Primary Request: mock summary\.$/m,
    );
    const { sessions } = await json('11111111', '--full');
    expect(sessions[0]?.compaction.boundaries[0]?.['kept']).toEqual([{ kind: 'command', kept: 0, of: 1 }]);
  });

  it('names ctxwrap for a compaction in the time of an attempt of its own', async () => {
    const stateFolder = at('.local/state/ctxwrap');
    const audit = openAudit({ stateFolder, onFailure: (reason) => expect.fail(reason) });
    const startedAt = Date.parse('2026-11-21T08:41:34.000Z');
    const ended = {
      initiator: 'ctxwrap',
      startedAt,
      endedAt: startedAt + 3_000,
      outcome: { kind: 'verified' },
      evidence: [],
    } as const;
    audit.append(
      auditLine(ended, { session: 's', version: '1', runtime: 'gemini', conversation: ids.gemini }),
    );
    await audit.flushed();
    const { sessions } = await json(ids.gemini);
    expect(sessions[0]?.compaction.boundaries[0]).toMatchObject({ initiator: 'ctxwrap', trigger: 'manual' });
  });
});

describe('a session that runs with its file outside the folders of its agent, as that of the demo', () => {
  const id = '0d0d0d0d-1111-4222-8333-444444444444';
  const publish = async (more: Partial<SessionRecord> = {}): Promise<void> =>
    publishSession(at('.local/state/ctxwrap'), {
      runtime: 'demo',
      agentSessionId: id,
      logPath: at(`outside/${id}.jsonl`),
      ...more,
    });
  afterAll(() => rmSync(at('.local/state/ctxwrap/sessions'), { recursive: true }));

  it('is listed while it runs', async () => {
    mkdirSync(at('outside'));
    const compacted = { type: 'compaction', at: Date.now(), preTokens: 34_490, postTokens: 13_000 };
    writeFileSync(at(`outside/${id}.jsonl`), `${JSON.stringify(compacted)}\n`);
    await publish();
    expect(await sessionsOf('--runtime', 'demo')).toEqual(['demo 0d0d0d0d']);
    expect(await sessionsOf()).toContain('demo 0d0d0d0d');
    expect(await sessionsOf('--runtime', 'qwen')).toEqual(['qwen b3603808']);
    await publish({ endedAt: Date.now() });
    expect(await sessionsOf()).not.toContain('demo 0d0d0d0d');
  });

  it('is listed once where the agent has it in its folder, too', async () => {
    const before = await sessionsOf();
    const file = `.qwen/projects/-proj-app-qwen/chats/${ids.qwen}.jsonl`;
    symlinkSync(at('.qwen'), at('linked'));
    await publish({
      runtime: 'qwen',
      agentSessionId: ids.qwen,
      logPath: at(file.replace('.qwen', 'linked')),
    });
    expect(await sessionsOf()).toEqual(before);
  });
});

describe('what cannot be read', () => {
  const store = '.claude/projects/-damaged';
  const packedId = '01b00000-0000-7000-8000-000000000000';
  const damaged = (): string => at(`${store}/22222222-2222-4333-8444-555555555555.jsonl`);

  beforeAll(() => {
    mkdirSync(at(store), { recursive: true });
    const lines = readFileSync(fixture('claude/session-with-compaction.jsonl'), 'utf8').split('\n');
    writeFileSync(damaged(), lines.toSpliced(5, 0, 'garbage', '{"half').join('\n'));
    writeFileSync(
      at(`.codex/sessions/2026/11/21/rollout-2026-01-01T00-00-00-${packedId}.jsonl.zst`),
      `\x28\xb5\x2f\xfd${'\xff'.repeat(20)}`,
      'latin1',
    );
    symlinkSync('/etc', at('.claude/projects/etc'));
    symlinkSync('/etc/passwd', at(`${store}/33333333-2222-4333-8444-555555555555.jsonl`));
  });

  it('is told and keeps nothing else from being listed', async () => {
    const { stdout, stderr, code } = await history();
    expect(stdout).toMatch(/^22222222#1 /m);
    expect(stdout).toMatch(/^01a1fd1c#4 /m);
    expect(stderr).toContain(`ctxwrap: ${damaged()}: 2 damaged lines were skipped\n`);
    expect(stderr).toMatch(/ctxwrap: skipped \S+\.jsonl\.zst: /);
    expect(code).toBe(0);
    const { skipped, sessions } = await json();
    expect(skipped).toEqual([
      {
        path: expect.stringMatching(/\.zst$/) as unknown,
        reason: expect.stringMatching(canUnpack('.zst') ? /./ : /^compressed with zstd: /) as unknown,
      },
    ]);
    expect(sessions.find(({ session_id }) => session_id.startsWith('2222'))?.damaged_lines).toBe(2);
  });

  it('is named with the reason when it is what the user has asked for', async () => {
    const listed = await history(packedId);
    expect(listed.stdout).toBe('No sessions found.\n');
    expect(listed.stderr).toContain(`rollout-2026-01-01T00-00-00-${packedId}.jsonl.zst: `);
    const shown = await history('show', `${packedId}#1`);
    expect(shown.stderr).toMatch(/^ctxwrap: cannot read the session file "\S+\.jsonl\.zst": /);
    expect(shown.code).toBe(2);
  });

  it('reaches no terminal as a control sequence', async () => {
    const line = readFileSync(damaged(), 'utf8').replaceAll(
      'mock summary',
      '\\u001b]0;evil\\u0007\\u001b[31mred\\u202e',
    );
    writeFileSync(damaged(), line);
    for (const args of [
      ['--full'],
      ['--json'],
      ['show', '22222222#1'],
      ['show', '22222222#1', '--markdown'],
    ]) {
      const { stdout } = await history(...args);
      expect(stdout).toContain('red');
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });
});

describe('what is more than is read', () => {
  const store = '.claude/projects/-large';
  const [holes, complex] = [4, 5].map(
    (digit) => `${store}/${`${digit}`.repeat(8)}-2222-4333-8444-555555555555.jsonl`,
  ) as [string, string];

  it('is left out, which is told with the reason, and nothing else is lost', async () => {
    const before = await sessionsOf();
    mkdirSync(at(store), { recursive: true });
    const fixtureText = readFileSync(fixture('claude/session-with-compaction.jsonl'), 'utf8');
    const deep = `{"type":"assistant","x":${'['.repeat(600)}${']'.repeat(600)}}`;
    writeFileSync(at(complex), `${fixtureText.trimEnd()}\n${deep}\n`);
    writeFileSync(at(holes), fixtureText);
    truncateSync(at(holes), 2 ** 41);
    const { stdout, stderr, code } = await history();
    expect([stdout, code]).toEqual([expect.stringMatching(/^55555555#1 /m), 0]);
    const large = /^ctxwrap: left out: (\S+): it holds more than 1 GB, and takes \S+ kB on the disk$/m.exec(
      stderr,
    );
    expect(large?.[1]).toBe(at(holes));
    expect(await ctxwrap(['context', at(holes)], bench)).toMatchObject({
      stderr: expect.stringContaining(
        `cannot read the session file "${at(holes)}": it holds more than 1 GB`,
      ) as unknown,
      code: 2,
    });
    const line = '1 line nested too deep or with too many values';
    expect(stderr).toContain(`ctxwrap: left out: ${at(complex)}: ${line}\n`);
    expect((await json()).skipped).toEqual(
      expect.arrayContaining([
        { path: at(complex), reason: `left out: ${line}` },
        { path: at(holes), reason: expect.stringMatching(/^left out: it holds more than 1 GB/) as unknown },
      ]),
    );
    expect(await sessionsOf()).toEqual([...before, `claude ${'5'.repeat(8)}`].toSorted());
    rmSync(at(store), { recursive: true });
  });
});

describe('ctxwrap history show', () => {
  it('says all that is known of a compaction', async () => {
    const { stdout } = await history('show', '01a1fd1c#3');
    expect(stdout).toMatch(/^Started by +you \(manual\)$/m);
    expect((await history('show', '27b5599c#1')).stdout).not.toMatch(/unknown|^Took/m);
    expect(stdout).toMatch(/^Tokens +~70k → 8\.3k$/m);
    expect(stdout).toMatch(/^Messages +10 before it, 4 of them left the window$/m);
    expect(stdout).toMatch(/^Summary +empty$/m);
  });

  it('shows the conversation before it, with tool calls and results', async () => {
    const { stdout } = await history('show', '11111111#1', '--before');
    const order = ['hello one', 'first answer', 'hello two', 'run the tool', 'tool Bash', 'tool finished'];
    const places = order.map((words) => stdout.indexOf(words));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(stdout).not.toContain('after compact');
    expect(stdout).not.toContain('mock summary');
  });

  it('shows what the compaction before has left, and where the rest is', async () => {
    const { stdout, stderr } = await history('show', '01a1fd1c#3', '--before');
    expect(stdout).toMatch(/^summary {2}of an earlier compaction\n {2}.*\n {2}MOCK SUMMARY/m);
    expect(stdout).toContain('after ~tok=9000');
    expect(stdout.match(/MOCK reply #60/g)?.length).toBe(1); // not again as the summary
    expect(stdout).not.toContain('MOCK reply #49'); // replaced by the one before
    expect(stderr).toMatch(/ctxwrap history show '?01a1fd1c#2'? --before/);
  });

  it.each([
    ['gemini', '60f4dd20#1', ['hello #tok=300000', 'hello2 #tok=310000']],
    ['gemini, an old document', '27b5599c#1', ['hello #tok=100000', 'slow #tok=500000 #slow=6x200']],
    ['qwen', 'b3603808#1', ['p50 #tok=65536', 'p76 #tok=99615']],
  ])('shows that of %s as Markdown', async (_, target, words) => {
    const { stdout } = await history('show', target, '--before', '--markdown');
    for (const each of words) expect(stdout).toContain(`\n${each}\n`);
    expect(stdout).toMatch(/^## You( ·.*)?$/m);
    expect(stdout).not.toMatch(/state_snapshot/);
  });

  it('opens what is longer than the terminal in the pager', async () => {
    const pager = bench.program('pager', '#!/bin/sh\necho "in the pager: $(wc -l)"\n');
    const shown = inTerminal(process.execPath, [bin, 'history', 'show', '11111111#1', '--before'], {
      ...bench,
      env: { ...bench.env, PAGER: pager },
    });
    await shown.seen(/in the pager: \d\d+/);
    expect((await shown.ended).exitCode).toBe(0);
  });
});

it('a date for --since begins the local day, an age counts back from now', () => {
  const since = (text: string): number => {
    const request = parseArguments(['history', '--since', text], '1');
    return request.kind === 'command' ? Number(request.asked['since']) : Number.NaN;
  };
  expect(since('2026-11-21')).toBe(new Date(2026, 10, 21).getTime());
  expect(Math.abs(since('2d') - (Date.now() - 2 * 86_400_000))).toBeLessThan(60_000);
});
