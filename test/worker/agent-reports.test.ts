import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { agents } from '../../src/agents/index.js';
import { nullLog } from '../../src/storage/log-file.js';
import { followReports } from '../../src/worker/agent-reports.js';
import { defaultValues, type Values } from '../../src/core/config/keys.js';
import type { WrapSession } from '../../src/session/options.js';
import { requestReports } from '../../src/main-thread/launch-reports.js';

let home = '';
let said: string[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ctxwrap-official-'));
  said = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const note = (message: string): void => void said.push(message);
const sessionWith = (more: Partial<WrapSession> = {}, values: Partial<Values> = {}): WrapSession => ({
  file: '/bin/claude',
  args: ['-c'],
  env: { HOME: home, CTXWRAP_SESSION: `${process.pid}-t1` },
  cwd: home,
  agent: agents.claude,
  values: { ...defaultValues, 'claude.statusLine': 'on', ...values },
  isModeGiven: false,
  recording: undefined,
  log: { ...nullLog, info: note, warn: note },
  ...more,
});
const ours = () => join(home, '.local', 'state', 'ctxwrap', 'status-line');

describe('a launch that asks', () => {
  it('has one argument more, a settings file of ours, and leaves nothing behind', async () => {
    const { session, close } = await requestReports(sessionWith());
    const settings = join(ours(), `${process.pid}-t1.settings.json`);
    expect(session.args).toEqual(['--settings', settings, '-c']);
    expect(JSON.parse(readFileSync(settings, 'utf8'))).toHaveProperty('statusLine.command');
    writeFileSync(session.reportPath ?? '', '{}');
    await close();
    expect(readdirSync(ours())).toEqual([]);
  });

  it("has the user's settings in it, also from a file named as seen from the child's folder", async () => {
    mkdirSync(join(home, 'proj'));
    writeFileSync(
      join(home, 'proj', 'my.json'),
      '{"statusLine":{"type":"command","command":"date"},"model":"opus"}',
    );
    const { session, close } = await requestReports(
      sessionWith(
        { cwd: join(home, 'proj'), args: ['--settings', 'my.json'] },
        { 'claude.statusLine': 'auto' },
      ),
    );
    const settings = JSON.parse(readFileSync(session.args[1] ?? '', 'utf8'));
    expect(settings).toMatchObject({
      model: 'opus',
      statusLine: { command: expect.stringMatching(/\ndate$/) },
    });
    await close();
  });

  it.each(['off', 'on'] as const)(
    'has the hook before its own compaction, too, where the user wants it (status line %s)',
    async (statusLine) => {
      const { session, close } = await requestReports(
        sessionWith({ holdCommand: 'may-it' }, { 'claude.statusLine': statusLine }),
      );
      const settings = JSON.parse(readFileSync(session.args[1] ?? '', 'utf8'));
      expect(settings.hooks.PreCompact).toEqual([
        { matcher: 'auto', hooks: [{ type: 'command', command: 'may-it', timeout: 5 }] },
      ]);
      expect([session.reportPath !== undefined, 'statusLine' in settings]).toEqual(
        statusLine === 'on' ? [true, true] : [false, false],
      );
      await close();
      expect(readdirSync(ours())).toEqual([]);
    },
  );

  it('says in the log why the hook is not there', async () => {
    const { session } = await requestReports(
      sessionWith({ holdCommand: 'may-it', file: '/bin/npx' }, { 'claude.statusLine': 'off' }),
    );
    expect(session.args).toEqual(['-c']);
    expect(said).toContain('claude compacts on its own whenever it likes: the command is not claude itself');
  });

  it.each<{ why: string; more?: Partial<WrapSession>; values?: Partial<Values> }>([
    { why: 'it is switched off', values: { 'claude.statusLine': 'off' } },
    { why: 'nothing is to be observed', values: { mode: 'off' } },
    {
      why: 'there is no status line to chain, and the window is known',
      values: { 'claude.statusLine': 'auto', window: 200_000 },
    },
    { why: 'the agent is another one', more: { agent: agents.codex } },
    { why: 'nobody says where the home is', more: { env: { CTXWRAP_SESSION: '1-a' } } },
    { why: "the user's settings cannot be read", more: { args: ['--settings', 'none.json'] } },
    { why: 'the session has no id', more: { env: { HOME: '/nowhere' } } },
  ])('is the same as without us when $why', async ({ more, values }) => {
    const before = sessionWith(more, values);
    const { session, close } = await requestReports(before);
    expect(session).toBe(before);
    await close();
    expect(existsSync(ours()) ? readdirSync(ours()) : []).toEqual([]);
  });

  it('is not made, and says why, when our folder is a link', async () => {
    mkdirSync(join(home, '.local', 'state'), { recursive: true });
    symlinkSync(tmpdir(), join(home, '.local', 'state', 'ctxwrap'));
    const { session } = await requestReports(sessionWith());
    expect(session.args).toEqual(['-c']);
    expect(said).toEqual([expect.stringMatching(/not asked for its numbers: .* is a symbolic link/)]);
  });
});

describe('what the agent tells', () => {
  const report = (sessionId: string, tokens: number): string =>
    JSON.stringify({
      session_id: sessionId,
      context_window: { context_window_size: 200_000, current_usage: { input_tokens: tokens } },
    });

  /** Follows the report file of a session; `told` waits for a reading with this many tokens. */
  const follow = () => {
    const reportPath = join(home, 'report.json');
    const readings: number[] = [];
    const waiting = new Map<number, () => void>();
    const onFact = (event: Event): void => {
      if (event.type !== 'reading') return;
      const tokens = event.reading.usedTokens ?? -1;
      readings.push(tokens);
      waiting.get(tokens)?.();
    };
    const following = followReports(sessionWith({ reportPath }), { onFact, now: () => 5 });
    return {
      ...following,
      readings,
      told: (tokens: number) => new Promise<void>((resolve) => waiting.set(tokens, resolve)),
      tell: (text: string): void => {
        writeFileSync(`${reportPath}.tmp`, text);
        renameSync(`${reportPath}.tmp`, reportPath);
      },
    };
  };

  it('is passed on while the conversation is unknown', async () => {
    const { tell, told, readings, stop } = follow();
    const first = told(100);
    tell(report('a', 100));
    await first;
    stop();
    expect(readings).toEqual([100]);
  });

  it('of another conversation is held back until that one is the current one', async () => {
    const { tell, told, readings, switchTo, stop } = follow();
    switchTo('b');
    const first = told(300);
    tell(report('b', 300));
    await first;
    switchTo('c');
    expect(readings).toEqual([300]);
    switchTo('b');
    stop();
    expect(readings).toEqual([300, 300]);
  });

  it('is ignored and logged once when it is no report, and works again afterwards', async () => {
    const { tell, told, readings, stop } = follow();
    const first = told(100);
    tell(report('a', 100));
    await first;
    tell('{"half');
    const second = told(101);
    while (said.length === 0) await new Promise(setImmediate);
    tell(report('a', 101));
    await second;
    stop();
    expect(readings).toEqual([100, 101]);
    expect(said).toEqual([expect.stringContaining('not a report that we know')]);
  });

  it('is ignored where its reader fails', async () => {
    const broken = (): never => {
      throw new Error('broken');
    };
    const agent = { ...agents.claude, official: { plan: broken, read: broken } };
    const reportPath = join(home, 'report.json');
    writeFileSync(reportPath, report('a', 1));
    const following = followReports(sessionWith({ reportPath, agent: agent }), {
      onFact: () => expect.unreachable(),
      now: () => 5,
    });
    while (said.length === 0) await new Promise(setImmediate);
    following.stop();
    expect(said).toEqual([expect.stringContaining('not a report that we know')]);
  });

  it('is nothing where the agent was not asked', () => {
    const following = followReports(sessionWith(), { onFact: () => expect.unreachable(), now: () => 5 });
    following.switchTo('a');
    following.stop();
    expect(said).toEqual([]);
  });
});
