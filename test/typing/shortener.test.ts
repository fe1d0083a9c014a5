// A conversation is shortened while the agent runs: what the agent is told to go on with, and that it keeps what it has where that fails.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { ShortenedSession } from '../../src/core/compaction/shortened-session.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { windowOf } from '../../src/core/conversation/conversation.js';
import type { Event } from '../../src/core/event.js';
import type { Activity } from '../../src/core/reading.js';
import type { Restarter } from '../../src/typing/restarter.js';
import type { SwitchResult } from '../../src/typing/switcher.js';
import { openSessionLoop, type RestingSession } from '../support/session-loop.js';
import { inSession } from '../support/sessions.js';
import {
  asked,
  OLD,
  openShortening,
  promptsIn,
  readSession,
  wait,
  writeSession,
  type ShorteningChange,
} from '../support/shortening.js';

let folder: string;
let loop: RestingSession;
let events: Event[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-shortener-'));
  events = [];
  loop = openSessionLoop(OLD);
});
afterEach(() => {
  loop.stop();
  rmSync(folder, { recursive: true });
});

const becomes = (activity: Activity): Event => loop.becomes(activity);

const open = (more?: Partial<ShorteningChange>, result?: SwitchResult) =>
  openShortening({ folder, loop, events }, more, result);

const read = (name: string) => readSession(folder, name);

/** As Claude records one. */
interface Boundary {
  readonly timestamp: string;
  readonly compactMetadata: { readonly preTokens: number };
}

const noFile = (): string | undefined => undefined;

describe('shortening a running conversation', () => {
  it('writes a new session, has the agent go on with it, and tells of it as of a compaction', async () => {
    const { shortener, names, isUntouched } = open();
    expect(await shortener.shorten(asked, wait)).toMatchObject({
      kind: 'shortened',
      words: /^by truncate, /,
    });
    const [name = ''] = names;
    expect(promptsIn(read(name))).toEqual(['question 27', 'question 28', 'question 29']);
    expect(read(name).head.id).toBe(name);
    expect(isUntouched()).toBe(true);
    expect(events).toMatchObject([{ type: 'boundary', boundary: { initiator: 'ctxwrap' } }]);
  });

  it('does not count the record of a compaction in the session that it has written', async () => {
    const { shortener, names } = open();
    await shortener.shorten(asked, wait);
    const [line = ''] = readFileSync(join(folder, `${names[0]}.jsonl`), 'utf8').split('\n');
    const at = Date.parse((JSON.parse(line) as { timestamp: string }).timestamp);
    expect(shortener.isOwnBoundary({ type: 'boundary', boundary: { at } })).toBe(true);
    expect(shortener.isOwnBoundary({ type: 'boundary', boundary: { at: at + 1 } })).toBe(false);
  });

  it('is refused at once, while the agent works, where there is no such strategy or nobody to write its summary', async () => {
    loop.take(becomes('busy'));
    const { shortener, names } = open();
    expect(await shortener.shorten({ strategy: 'zzz' }, wait)).toEqual({
      kind: 'refused',
      reason: 'there is no strategy "zzz"; there are truncate, summarize, clustering',
      why: 'no-strategy',
    });
    expect(await shortener.shorten({ strategy: 'summarize' }, wait)).toMatchObject({
      reason:
        'the strategy "summarize" cannot be used: no summariser is set: ctxwrap config set summariser.url agent',
    });
    expect(names).toEqual([]);
  });

  it('is in the audit log before its session is there: nobody sees a shortened session without knowing whose it is', async () => {
    const told: { readonly made: ShortenedSession; readonly files: number }[] = [];
    const { shortener, names } = open({
      publisher: {
        onShortened: (made) => told.push({ made, files: readdirSync(folder).length }),
        onReplaced: () => undefined,
      },
    });
    await shortener.shorten(asked, wait);
    const from = join(folder, `${OLD}.jsonl`);
    const about = { runtime: 'claude', strategy: 'truncate', id: names[0], from };
    expect(told).toMatchObject([{ files: 1, made: about }]);
    const [line = ''] = readFileSync(join(folder, `${names[0]}.jsonl`), 'utf8').split('\n');
    const { timestamp, compactMetadata } = JSON.parse(line) as Boundary;
    expect(told[0]?.made).toMatchObject({
      at: Date.parse(timestamp),
      preTokens: compactMetadata.preTokens,
    });
  });

  it('tells of it late where the agent shows only later that it has the session, by the name of the strategy', async () => {
    const audit: unknown[] = [];
    const { shortener, names } = open(
      {
        publisher: {
          beginAction: () => audit.push('begin'),
          endEarlierSwitch: (name, { kind }) => audit.push([name, kind]),
          onReplaced: () => undefined,
        },
      },
      { kind: 'unknown', reason: 'the agent does not show it' },
    );
    const result = await shortener.shorten(asked, wait);
    const [name = ''] = names;
    expect(result).toMatchObject({ kind: 'unknown', pendingSession: { id: name } });
    expect(events).toEqual([]);
    expect(shortener.takenLate(inSession('another'))).toEqual([]);
    expect(shortener.takenLate(inSession(name))).toMatchObject([
      {
        type: 'boundary',
        boundary: {
          initiator: 'ctxwrap',
          at: 'pendingSession' in result && result.pendingSession?.writtenAt,
          shortening: { strategy: 'truncate', isManual: true },
        },
      },
    ]);
    expect(audit).toEqual([[name, 'switched']]);
    expect(shortener.takenLate(inSession(name))).toEqual([]);
    loop.take(inSession(name));
    expect(shortener.previous()?.id).toBe(OLD);
  });

  it('counts what the agent takes late among the three of an hour', async () => {
    const { shortener, names } = open(
      { publisher: { endEarlierSwitch: () => undefined, onReplaced: () => undefined } },
      { kind: 'unknown', reason: 'the agent does not show it' },
    );
    for (let times = 0; times < 3; times += 1) {
      await shortener.shorten(asked, wait);
      shortener.takenLate(inSession(names.at(-1) ?? ''));
    }
    expect(await shortener.shorten(asked, wait)).toEqual({
      kind: 'refused',
      reason: '3 times an hour is the most',
    });
  });

  it('is done where the agent works in the new session already', async () => {
    const { shortener } = open({
      switchTo: async (name, { gate }) => {
        await gate?.begin();
        loop.take(inSession(name));
        return { kind: 'unknown', reason: 'the agent does not come to rest' };
      },
    });
    expect(await shortener.shorten(asked, wait)).toMatchObject({ kind: 'shortened' });
  });

  it('knows the session before, to which the user can go back, while the agent has the shortened one', async () => {
    const { shortener, names } = open();
    expect(shortener.previous()).toBeUndefined();
    await shortener.shorten(asked, wait);
    loop.take(inSession(names[0] ?? ''));
    expect(shortener.previous()).toEqual({ id: OLD, path: join(folder, `${OLD}.jsonl`) });
    loop.take(inSession('another'));
    expect(shortener.previous()).toBeUndefined();
  });

  it('begins again when the agent has worked meanwhile, and never has it go on with what is outdated', async () => {
    let asks = 0;
    const { shortener, names } = open({
      summarise: async () => {
        asks += 1;
        if (asks === 1) {
          shortener.noteEvent(becomes('busy'));
          becomes('ready');
        }
        return `summary ${asks}`;
      },
    });
    const result = await shortener.shorten({ ...asked, strategy: 'summarize' }, wait);
    expect(result).toMatchObject({ kind: 'shortened' });
    expect(names).toHaveLength(1);
    expect(JSON.stringify(windowOf(read(names[0] ?? ''))[0])).not.toContain('summary 1');
  });

  it.each<[string, Partial<ShorteningChange>, SwitchResult | undefined, string]>([
    ['is refused by the agent', {}, { kind: 'refused', reason: 'withdrawn' }, 'withdrawn'],
    ['has no effect that can be seen', {}, { kind: 'unknown', reason: 'not shown' }, 'not shown'],
    ['finds no session file', { sessionFile: noFile }, undefined, 'the session file is not known yet'],
    ['finds the file gone', { sessionFile: () => '/nowhere/x.jsonl' }, undefined, 'ENOENT'],
  ])('that %s says why, and leaves the session as it was', async (_, more, result, reason) => {
    const { shortener, isUntouched } = open(more, result);
    const told = await shortener.shorten(asked, wait);
    expect('reason' in told && told.reason).toMatch(reason);
    expect(events).toEqual([]);
    expect(isUntouched()).toBe(true);
    // of a session that the agent was told of nobody knows whether it has taken it
    expect(readdirSync(folder)).toHaveLength(told.kind === 'unknown' ? 2 : 1);
  });

  it.each([
    ['fails', async () => Promise.reject(new Error('the server is down')), 'the server is down'],
    ['is empty', async () => ' ', 'the summary is empty'],
  ])('whose summary %s types nothing', async (_, summarise, reason) => {
    const { shortener, names, isUntouched } = open({ summarise });
    expect(await shortener.shorten({ ...asked, strategy: 'summarize' }, wait)).toEqual({
      kind: 'refused',
      reason,
    });
    expect(names).toEqual([]);
    expect(isUntouched()).toBe(true);
  });

  it.each([
    ['truncate what is short already', { strategy: 'truncate', budgetTokens: 900_000 }, /within its budget/],
    ['use a strategy that is not there', { strategy: 'magic' }, /there is no strategy "magic"/],
    ['keep more than there is room for', { ...asked, budgetTokens: 10 }, /more than 10/],
  ])('refuses to %s', async (_, wish, reason) => {
    const { shortener, names } = open();
    const told = await shortener.shorten(wish, wait);
    expect('reason' in told && told.reason).toMatch(reason);
    expect(names).toEqual([]);
  });

  it('waits while the agent works, and can be withdrawn', async () => {
    const { shortener, names } = open();
    becomes('busy');
    const withdrawal = new AbortController();
    const shortening = shortener.shorten(asked, withdrawal);
    withdrawal.abort();
    expect(await shortening).toEqual({ kind: 'refused', reason: 'withdrawn' });
    expect(names).toEqual([]);
  });

  it('is done at most three times an hour, unless it is how an attempt to compact is carried out', async () => {
    const { shortener, names } = open();
    for (let times = 0; times < 4; times += 1) await shortener.shorten(asked, wait);
    expect(names).toHaveLength(3);
    await shortener.shorten(asked, { ...wait, isForAttempt: true });
    expect(names).toHaveLength(4);
  });

  it('takes a record of an agent that writes its own for what it has done only once a key was typed', async () => {
    const seen: boolean[] = [];
    const { shortener } = open({
      session: { agent: agents.gemini },
      switchTo: async (_, { gate }) => {
        seen.push(shortener.isOwnBoundary({ type: 'boundary', boundary: { at: 5 } }));
        await gate?.begin();
        seen.push(shortener.isOwnBoundary({ type: 'boundary', boundary: { at: 5 } }));
        return { kind: 'switched' };
      },
      sessionFile: () => writeSession(folder, agents.gemini),
    });
    expect(await shortener.shorten(asked, wait)).toMatchObject({ kind: 'shortened' });
    expect(seen).toEqual([false, true]);
  });

  it('knows a record with the summary that it has written, however late an agent that hung writes it', async () => {
    const { shortener, names } = open({
      session: { agent: agents.gemini },
      sessionFile: () => writeSession(folder, agents.gemini),
    });
    expect(await shortener.shorten(asked, wait)).toMatchObject({ kind: 'shortened' });
    const written = readFileSync(join(dirname(folder), `checkpoint-${names[0]}.json`), 'utf8');
    const [message] = JSON.parse(written).history.flatMap(({ parts }: { parts: { text?: string }[] }) =>
      parts.filter(({ text = '' }) => text.startsWith('<state_snapshot>')),
    );
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 3_600_000);
    const isOwn = (text: string): boolean =>
      shortener.isOwnBoundary({ type: 'boundary', boundary: { at: 5 }, text });
    expect([isOwn(message.text), isOwn('<state_snapshot>another</state_snapshot>')]).toEqual([true, false]);
    clock.mockRestore();
  });

  it('waits for no id of an agent that keeps its own: its next answer tells', async () => {
    const { shortener, names } = open(
      { session: { agent: agents.gemini }, sessionFile: () => writeSession(folder, agents.gemini) },
      { kind: 'unknown', reason: 'not shown' },
    );
    expect(await shortener.shorten(asked, wait)).toMatchObject({
      kind: 'unknown',
      pendingSession: { id: names[0] },
    });
    expect(shortener.takenLate(inSession(names[0] ?? ''))).toEqual([]);
  });

  it('says in the footer what becomes of it when the key is pressed', async () => {
    const { shortener } = open({}, { kind: 'refused', reason: 'a dialog is open' });
    await shortener.rescue(wait);
    expect(events.map((event) => (event.type === 'notice' ? event.text : event.type))).toEqual([
      'rescue: shortening the conversation without the agent',
      expect.stringMatching(/^rescue failed: /),
    ]);
  });

  it('says that it is not known, and what to type, where the agent was told and does not show it', async () => {
    const { shortener, names } = open({}, { kind: 'unknown', reason: 'not shown' });
    await shortener.rescue(wait);
    const told = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    expect(told.at(-1)).toBe(`rescue not confirmed · by hand: /resume ${names[0]}`);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('is not known, and the file stays, where something fails after the agent was told', async () => {
    const { shortener } = open({
      publisher: {
        onReplaced: () => {
          throw new Error('gone');
        },
      },
    });
    expect(await shortener.shorten(asked, wait)).toEqual({ kind: 'unknown', reason: 'gone' });
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it.each([
    ['keeps the file that the agent may be started with, once it has begun to end it', true, 2],
    ['removes the file where it has not begun to end the agent', false, 1],
  ])('by a restart %s', async (_, hasBegun, files) => {
    const restarter: Restarter = {
      obstacle: () => undefined,
      restartWith: async (_plan, { gate }) => {
        if (hasBegun) await gate?.begin();
        return { kind: 'refused', reason: 'withdrawn' };
      },
    };
    const { shortener } = open({ restarter });
    expect(await shortener.shorten(asked, wait)).toEqual({ kind: 'refused', reason: 'withdrawn' });
    expect(readdirSync(folder)).toHaveLength(files);
  });

  it.skipIf(process.getuid?.() === 0)('says why where the folder cannot be written', async () => {
    const { shortener, isUntouched } = open();
    chmodSync(folder, 0o500);
    const told = await shortener.shorten(asked, wait);
    chmodSync(folder, 0o700);
    expect('reason' in told && told.reason).toMatch(/EACCES|permission/);
    expect(isUntouched()).toBe(true);
  });
});

describe('a strategy of the user', () => {
  const withModule = (code: string) => {
    const file = join(folder, `mine-${Math.random()}.mjs`);
    writeFileSync(file, code);
    const values = { ...defaultValues, keepRecent: 3, strategies: { mine: file } };
    return open({ session: { values } });
  };
  const mine = { ...asked, strategy: 'mine' };

  it('may do what it likes to what it gets: what it keeps is as it was', async () => {
    const { shortener, names } = withModule(
      `export const compact = (session, { keepRecent }) => {
        for (const entry of session.entries) if (entry.kind === 'answer') [entry.text, entry.native] = ['changed', undefined];
        return { entries: session.entries.slice(-keepRecent * 2) };
      };`,
    );
    expect(await shortener.shorten(mine, wait)).toMatchObject({ kind: 'shortened' });
    expect(JSON.stringify(windowOf(read(names[0] ?? '')))).not.toContain('changed');
  });

  it('gets the session and the options, and its result is used', async () => {
    const { shortener, names } = withModule(
      `export const compact = (session, { keepRecent }) => {
        const prompts = session.entries.filter(({ kind }) => kind === 'prompt').slice(-keepRecent);
        const note = { kind: 'summary', text: 'mine', tokens: 1, source: { line: 0 } };
        return { ...session, entries: [note, ...prompts] };
      };`,
    );
    expect(await shortener.shorten(mine, wait)).toMatchObject({ kind: 'shortened' });
    expect(windowOf(read(names[0] ?? '')).map(({ kind }) => kind)).toEqual([
      'summary',
      'prompt',
      'prompt',
      'prompt',
    ]);
  });

  it.each([
    ['throws', 'throw new Error("no idea")', 'no idea'],
    ['returns nothing', 'return undefined', 'returned no session'],
    [
      'drops what you said last',
      'return { ...session, entries: session.entries.slice(0, 2) }',
      'change your last messages',
    ],
    ['returns what is no entry', 'return { entries: [{ kind: 1 }] }', 'returned no session'],
  ])('that %s changes nothing', async (_, body, reason) => {
    const { shortener, names, isUntouched } = withModule(
      `export const compact = async (session) => { ${body}; };`,
    );
    const told = await shortener.shorten(mine, wait);
    expect('reason' in told && told.reason).toMatch(reason);
    expect(names).toEqual([]);
    expect(isUntouched()).toBe(true);
  });

  it.each([
    ['without the function', 'export const other = 1;', 'exports no function "compact"'],
    ['that cannot be loaded', 'export const compact = missing;', 'cannot be loaded: missing is not defined'],
  ])('%s is named in the error, and is the same at any other moment', async (_, code, reason) => {
    const { shortener } = withModule(code);
    const told = await shortener.shorten(mine, wait);
    expect('reason' in told && told.reason).toMatch(reason);
    expect(told).toMatchObject({ kind: 'refused', why: 'no-strategy' });
  });

  it('may be what another module of CommonJS exports, under a name that only runs tell', async () => {
    writeFileSync(
      join(folder, 'impl.cjs'),
      'exports["com" + "pact"] = (s) => ({ entries: s.entries.slice(-6) });',
    );
    const file = join(folder, 'mine.cjs');
    writeFileSync(file, 'module.exports = require("./impl.cjs");');
    const values = { ...defaultValues, keepRecent: 3, strategies: { mine: file } };
    expect(await open({ session: { values } }).shortener.shorten(mine, wait)).toMatchObject({
      kind: 'shortened',
    });
  });
});
