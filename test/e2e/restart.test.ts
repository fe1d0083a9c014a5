// `"apply": "restart"` from the user's view: the built program around a script that imitates Claude Code, which ends by its own command and is
// started again with the shorter conversation.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { listSessions } from '../../src/storage/sessions.js';
import { stateFolder } from '../../src/storage/state-folder.js';
import { conversationOf, type Turn } from '../support/generated-conversation.js';
import { makeFault } from '../support/fault.js';
import { bin, programPath } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';

const OLD = '0a0a0a0a-0000-4000-8000-000000000001';
const WAIT = { timeout: 60_000, interval: 20 };
const OPTIONS = ['--model', 'opus'];

interface Scene {
  readonly window: Window;
  /** the arguments of each start of the agent */
  readonly starts: () => readonly (readonly string[])[];
  readonly switches: () => readonly {
    readonly name: string;
    readonly outcome: string;
    readonly reason?: string;
  }[];
  /** how attempts to compact have ended, by the audit log */
  readonly attempts: () => readonly unknown[];
  readonly sessions: () => readonly string[];
  /** rejects where it fails */
  readonly ctxwrap: (...args: readonly string[]) => Promise<{ readonly stdout: string }>;
  readonly says: (words: string) => Promise<void>;
}

const turns: readonly Turn[] = Array.from({ length: 30 }, (_, index) => ({
  prompt: `question ${index}`,
  actions: [{ does: 'answers', text: `answer ${index}. ${'so it is. '.repeat(200)}` }],
}));

/** `usedTokens`: as the agent's last answer says. */
const writeSession = (folder: string, usedTokens?: number): string => {
  const project = join(folder, '.claude', 'projects', folder.replaceAll(/[^a-zA-Z0-9]/g, '-'));
  mkdirSync(project, { recursive: true });
  const as = { id: OLD, cwd: folder, now: 1, newUuid: () => crypto.randomUUID() };
  const lines = agents.claude.newSessions?.write(conversationOf(turns), as) ?? [];
  const last = JSON.parse(lines.at(-1) ?? '{}') as { readonly message: object };
  const usage = { input_tokens: usedTokens, output_tokens: 0 };
  const counted = { ...last, message: { ...last.message, model: 'claude-opus-4-8', usage } };
  const all = usedTokens === undefined ? lines : [...lines.slice(0, -1), JSON.stringify(counted)];
  writeFileSync(join(project, `${OLD}.jsonl`), `${all.join('\n')}\n`);
  return project;
};

/** The agent with a conversation of thirty turns, under ctxwrap. */
const withAgent = (
  { usedTokens, ...env }: Readonly<Record<string, string>> & { readonly usedTokens?: string },
  act: (scene: Scene) => Promise<void>,
): Promise<void> =>
  inFolder(async (folder) => {
    const project = writeSession(folder, usedTokens === undefined ? undefined : Number(usedTokens));
    const claude = join(folder, 'claude');
    writeFileSync(claude, `#!/bin/sh\nexec "${process.execPath}" "${programPath('claude-like.js')}" "$@"\n`);
    chmodSync(claude, 0o755);
    const all = { ...plainEnv(folder), CTXWRAP_APPLY: 'restart', CLAUDE_LIKE_FIRST: OLD, ...env };
    const window = openWindow({
      file: process.execPath,
      args: [bin, claude, ...OPTIONS, '--resume', OLD, 'a starting prompt'],
      cwd: folder,
      env: all,
      columns: 110,
      rows: 30,
    });
    const linesOf = (path: string): readonly unknown[] =>
      readFileSync(join(folder, path), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as unknown);
    const audited = (schema: string) =>
      (
        linesOf('.local/state/ctxwrap/audit.jsonl') as { schema: string; name: string; outcome: string }[]
      ).filter((line) => line.schema === schema);
    try {
      await window.until(() => lastRow(window).startsWith(' claude'), 'the footer');
      await vi.waitFor(async () => {
        const [session] = await listSessions(stateFolder({}, folder), Date.now());
        expect(session?.record.logPath).toContain(OLD); // other programs can ask for it by then
      }, WAIT);
      await act({
        window,
        starts: () => linesOf('starts') as string[][],
        switches: () => audited('ctxwrap.switched/1'),
        attempts: () => audited('ctxwrap.attempt/1'),
        sessions: () => readdirSync(project).map((name) => name.replace('.jsonl', '')),
        ctxwrap: (...args) =>
          promisify(execFile)(process.execPath, [bin, ...args], { cwd: folder, env: all }),
        says: (words) => window.until(() => window.rows().join('\n').includes(words), words),
      });
    } finally {
      window.close();
    }
  });

const shorten = ['compact', '--strategy', 'truncate', '--budget', '4000', '--keep-recent', '3'];

const newId = (sessions: readonly string[]): string => sessions.find((id) => id !== OLD) ?? '';

describe.concurrent('a conversation that is shortened with a restart', () => {
  it('ends the agent by its own command and starts it again with the new session and your options', async () => {
    await withAgent(
      { CLAUDE_LIKE_CODE: '0' },
      async ({ window, ctxwrap, says, starts, sessions, switches, attempts }) => {
        await says(`session ${OLD}`);
        const { stdout } = await ctxwrap(...shorten);
        expect(stdout).toContain('the agent is restarting, shortened by truncate');
        await says('shortened, waiting for the new size');
        const id = newId(sessions());
        expect(starts()).toEqual([
          [...OPTIONS, '--resume', OLD, 'a starting prompt'],
          [...OPTIONS, '--resume', id],
        ]);
        // the audit log is written behind the footer
        await vi.waitFor(
          () =>
            expect(switches()).toMatchObject([
              { name: id, outcome: 'restarting' },
              { name: id, outcome: 'switched' },
            ]),
          WAIT,
        );
        expect(lastRow(window)).toMatch(/^ claude/);
        expect((await ctxwrap('ps')).stdout).toContain('claude');

        const undone = await ctxwrap('undo');
        expect(undone.stdout).toContain('shortening undone in claude: your 30 messages are back');
        await says(`session ${OLD}`);
        window.type('/quit\r');
        await window.until(() => !window.isOpen(), 'the end');
        expect(attempts()).toMatchObject([{ strategy: 'truncate', outcome: 'undone' }]);
        expect(
          window
            .bytes()
            .toString('latin1')
            .match(/\x1b\[\?2004l/g)?.length,
        ).toBeGreaterThanOrEqual(2);
      },
    );
  });

  it('gives you the whole conversation again where the agent does not take the shorter one', async () => {
    await withAgent(
      { CLAUDE_LIKE: 'refuses' },
      async ({ ctxwrap, says, starts, sessions, switches, attempts }) => {
        await ctxwrap(...shorten);
        await says('the agent did not continue with the shorter conversation');
        await says(`session ${OLD}`);
        // the screen may show the session from before the restart
        const both = () => [newId(sessions()), OLD].map((id) => [...OPTIONS, '--resume', id]);
        await vi.waitFor(() => expect(starts().slice(1)).toEqual(both()), WAIT);
        await vi.waitFor(
          () => expect(switches().at(-1)).toMatchObject({ outcome: 'unknown', reason: /ended before/ }),
          WAIT,
        );
        await vi.waitFor(
          () => expect(attempts()).toMatchObject([{ strategy: 'truncate', outcome: 'no-evidence' }]),
          WAIT,
        );
      },
    );
  });

  it('has one record of the attempt also where the agent ends again before its next answer', async () => {
    await withAgent(
      { CTXWRAP_STRATEGY: 'truncate', usedTokens: '90000' },
      async ({ window, ctxwrap, says, attempts }) => {
        await says('90k');
        await ctxwrap('compact').catch(() => undefined); // its session has ended
        await says('shortened, waiting for the new size');
        window.type('/quit\r');
        await window.until(() => !window.isOpen(), 'the end');
        expect(attempts()).toMatchObject([{ strategy: 'truncate', outcome: 'no-evidence', isManual: true }]);
      },
    );
  });

  it('has one record of it also where the part that watches it fails before its next answer', async () => {
    await inFolder(async (place) => {
      const fault = makeFault(place);
      await withAgent(
        { ...fault.env, CLAUDE_LIKE: 'answers', CTXWRAP_STRATEGY: 'truncate', usedTokens: '90000' },
        async ({ window, ctxwrap, says, switches, attempts }) => {
          await says('90k');
          await ctxwrap('compact').catch(() => undefined); // its session has ended
          await says('shortened, waiting for the new size');
          await vi.waitFor(() => expect(switches().at(-1)?.outcome).toBe('switched'), WAIT);
          const workers = fault.workers();
          await fault.make('throw', 'worker');
          await vi.waitFor(() => expect(fault.workers()).toBe(workers + 1), WAIT);
          await says('shortened, waiting for the new size');
          window.type('go on\r');
          await vi.waitFor(
            () => expect(attempts()).toMatchObject([{ strategy: 'truncate', outcome: 'verified' }]),
            WAIT,
          );
          await fault.make('throw', 'worker'); // the last one: it must not begin again
          window.type('/quit\r');
          await window.until(() => !window.isOpen(), 'the end');
          expect(attempts()).toHaveLength(1);
          expect(switches().map(({ outcome }) => outcome)).toEqual(['restarting', 'switched']);
        },
      );
      fault.close();
    });
  });

  it('has one record of the attempt also where the agent is killed in place of ending', async () => {
    const env = { CLAUDE_LIKE: 'killed', CTXWRAP_STRATEGY: 'truncate', usedTokens: '90000' };
    await withAgent(env, async ({ window, ctxwrap, says, attempts }) => {
      await says('90k');
      await ctxwrap('compact').catch(() => undefined); // nobody is left to answer
      await window.until(() => !window.isOpen(), 'the end');
      expect(attempts()).toMatchObject([{ strategy: 'truncate', outcome: 'interrupted' }]);
    });
  });
});

describe.concurrent('a conversation that is shortened while the agent runs', () => {
  it('is one compaction, with the size of its next answer, also where the agent shows the new session only with that', async () => {
    const env = {
      CLAUDE_LIKE: 'late',
      CTXWRAP_APPLY: 'switch',
      CTXWRAP_STRATEGY: 'truncate',
      usedTokens: '90000',
    };
    await withAgent(env, async ({ window, ctxwrap, says, sessions, switches, attempts }) => {
      await says('90k');
      const compacting = ctxwrap('compact');
      await says('continuing with less, waiting for its answer');
      window.type('go on\r');
      await says('shortened 90k → 14k');
      expect((await compacting).stdout).toContain('shortened 90k → 14k');
      const name = newId(sessions());
      await vi.waitFor(
        () =>
          expect(switches()).toMatchObject([
            { name, outcome: 'unknown' },
            { name, outcome: 'switched' },
          ]),
        WAIT,
      );
      await vi.waitFor(
        () =>
          expect(attempts()).toMatchObject([
            { strategy: 'truncate', outcome: 'verified', after: { usedTokens: 14_000 } },
          ]),
        WAIT,
      );
    });
  });
});
