// Session files that appear late, and folders that cannot be read: the session continues, and the file is followed as soon as possible.
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSession, stepSession } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import { agents } from '../../src/agents/index.js';
import { followSession } from '../../src/worker/follow-session.js';
import { linesOf } from '../support/read-log.js';

const WAIT = { timeout: 20_000, interval: 20 };
const CWD = '/proj/app';
const ID = '11111111-2222-4333-8444-555555555555';
const LOOKS = 4; // by the poll timer

type Files = Readonly<Record<string, string>>;

const textOf = (agent: string, file: string): string => `${linesOf(agent, file).join('\n')}\n`;
const day = (): string => new Date().toISOString().slice(0, 10).replaceAll('-', '/');
const begun = (): string => `"startTime":"${new Date().toISOString()}"`;
const ENTERED_AT = Date.now() - 3_000;
/** A turn of a Codex whose background server writes the rollout: only what Enter here has begun is this terminal's. */
const turnBegun = (): string => {
  const timestamp = new Date(ENTERED_AT + 30).toISOString();
  return `${JSON.stringify({ timestamp, type: 'event_msg', payload: { type: 'task_started' } })}\n`;
};
const ownWord = (): string =>
  JSON.stringify({ pid: process.pid, sessionId: ID, cwd: CWD, startedAt: Date.now() });

// Each agent's file layout, by names relative to the home folder, and the last number of its session file.
const cases = [
  {
    name: 'claude',
    folder: '.claude',
    number: 131_003,
    files: (): Files => ({
      [`sessions/${process.pid}.json`]: ownWord(),
      [`projects/-proj-app/${ID}.jsonl`]: textOf('claude', 'session-with-compaction.jsonl'),
    }),
  },
  {
    name: 'codex',
    folder: '.codex',
    number: 15_050,
    files: (): Files => ({
      'app-server-control/app-server-control.sock': '',
      [`sessions/${day()}/rollout-x-01a1fd1c-f01b-7b00-a700-c9e1017aceb1.jsonl`]:
        textOf('codex', 'compactions.jsonl') + turnBegun(),
    }),
  },
  {
    name: 'gemini',
    folder: '.gemini',
    number: 720_000,
    files: (): Files => ({
      'projects.json': JSON.stringify({ projects: { [CWD]: 'app' } }),
      'tmp/app/chats/session-2026-11-21T08-41-60f4dd20.jsonl': textOf(
        'gemini',
        'cancelled-and-failed.jsonl',
      ).replace(/"startTime":"[^"]+"/, begun()),
    }),
  },
  {
    name: 'qwen',
    folder: '.qwen',
    number: 78_643,
    files: (): Files => ({
      [`sessions/${process.pid}.json`]: ownWord(),
      [`projects/-proj-app/chats/${ID}.jsonl`]: textOf('qwen', 'ladder.jsonl'),
    }),
  },
] as const;

let home: string;
let stops: (() => void)[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'follow-'));
  stops = [];
});
afterEach(() => {
  for (const stop of stops) stop();
  rmSync(home, { recursive: true });
});

const put = (folder: string, files: Files): void => {
  for (const [name, text] of Object.entries(files)) {
    const path = join(home, folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
};

const follow = (name: (typeof cases)[number]['name']) => {
  const startedAt = Date.now();
  const problems: string[] = [];
  let session = startSession({ agent: name }, startedAt);
  let asked = 0;
  const { stop } = followSession({
    agent: agents[name],
    childPid: process.pid,
    cwd: CWD,
    home,
    env: {},
    args: [],
    startedAt,
    now: () => {
      asked += 1;
      return Date.now();
    },
    enteredAt: () => (name === 'codex' ? ENTERED_AT : Date.now()),
    onFact: (event) => {
      session = stepSession(session, event, 0);
    },
    onProblem: (reason) => {
      problems.push(reason);
      session = stepSession(session, { type: 'source-problem', reason }, 0);
    },
  });
  stops.push(stop);
  const shown = () => {
    const { note, usedTokens } = footerView(session, 60_000);
    return note ?? usedTokens;
  };
  const looks = async (): Promise<void> => {
    const before = asked;
    await expect.poll(() => asked, WAIT).toBeGreaterThan(before + LOOKS);
  };
  return { shown, looks, problems };
};

describe.each(cases)('a session file of $name', ({ name, folder, files, number }) => {
  it('that comes late is waited for', async () => {
    const { shown, looks, problems } = follow(name);
    await looks();
    expect([shown(), problems]).toEqual(['waiting for the first turn', []]);
    put(folder, files());
    await expect.poll(shown, WAIT).toBe(number);
  });

  it('is found as soon as its folder can be read', async () => {
    writeFileSync(join(home, folder), 'a file in the place of the folder');
    const { shown, looks, problems } = follow(name);
    await looks();
    expect([shown(), problems]).toEqual(['waiting for the first turn', []]);
    rmSync(join(home, folder));
    put(folder, files());
    await expect.poll(shown, WAIT).toBe(number);
  });

  it('gives no number while its folder cannot be read, which is reported once', async () => {
    put(folder, files());
    const { shown, looks, problems } = follow(name);
    await expect.poll(shown, WAIT).toBe(number);
    renameSync(join(home, folder), join(home, 'away'));
    writeFileSync(join(home, folder), 'a file in the place of the folder');
    await expect.poll(shown, WAIT).toBe('no reading');
    await looks();
    expect(problems).toHaveLength(1);
    rmSync(join(home, folder));
    renameSync(join(home, 'away'), join(home, folder));
    await expect.poll(shown, WAIT).toBe(number);
  });
});
