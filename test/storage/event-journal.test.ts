// The journal of a session's events, and readers that follow it.
import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  mkdirSync,
  utimesSync,
  existsSync,
  appendFileSync,
  renameSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventContent, ReadEvent } from '../../src/core/report/published-event.js';
import { followJournal, type EventFollower } from '../../src/storage/event-follower.js';
import {
  eventsFolder,
  journalPath,
  openEventJournal,
  sweepJournals,
} from '../../src/storage/event-journal.js';
import { runs } from '../support/runs.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const state = (name: string, more: object = {}) => ({ runtime: name, pid: process.pid, ...more }) as never;
const conversation = (agentSessionId: string): EventContent => ({ type: 'conversation', agentSessionId });

const open = (
  more: {
    maxBytes?: number;
    isContinued?: boolean;
    session?: string;
    onFailure?: (reason: string) => void;
  } = {},
) => {
  let written = 'none';
  const journal = openEventJournal({
    stateFolder: folder,
    session: 'me',
    snapshot: () => ({ type: 'state', state: state('x', { agentSessionId: written }) }),
    onFailure: (reason) => {
      throw new Error(reason);
    },
    ...more,
  });
  return {
    ...journal,
    start: () => journal.append({ type: 'session-start', state: state('x') }, 1),
    say: (text: string): void => {
      written = text;
      journal.append(conversation(text), 2);
    },
  };
};

const all = async (follower: EventFollower): Promise<readonly ReadEvent[]> => {
  const found: ReadEvent[] = [];
  for (let more = await follower.next(1); more.length > 0; more = await follower.next(1)) found.push(...more);
  return found;
};
const texts = (events: readonly ReadEvent[]): readonly unknown[] =>
  events.filter(({ type }) => type === 'conversation').map(({ fields }) => fields['agentSessionId']);

describe('a journal of events', () => {
  it('is readable by the user only, one object a line, numbered', async () => {
    const journal = open();
    journal.start();
    journal.say('a');
    await journal.close();
    const path = journalPath(eventsFolder(folder), 'me');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { schema: 'ctxwrap.event/1', session: 'me', seq: 1, at: 1, type: 'session-start' },
      { schema: 'ctxwrap.event/1', session: 'me', seq: 2, at: 2, type: 'conversation', agentSessionId: 'a' },
    ]);
  });

  it('loses and tears nothing for a reader that looks at least once between two changes of the file', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.nat(300).map((length) => ({ kind: 'say' as const, length })) },
      { weight: 2, arbitrary: fc.constant({ kind: 'read' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'flush' as const }) },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        run += 1;
        const session = `run-${run}`;
        const journal = open({ session, maxBytes: 2_000 });
        const follower = followJournal(eventsFolder(folder), session, 'start');
        journal.start();
        const said: string[] = [];
        const found: ReadEvent[] = [];
        let bytes = 0;
        for (const each of steps) {
          if (each.kind === 'say') {
            said.push(`${said.length} ${'ü'.repeat(each.length)}`);
            journal.say(said.at(-1) ?? '');
            bytes += each.length;
          }
          if (each.kind === 'flush') await journal.flushed();
          if (each.kind === 'read' || bytes > 1_000) {
            await journal.flushed();
            found.push(...(await all(follower)));
            bytes = 0;
          }
        }
        journal.append({ type: 'session-end', exit: { code: 0 } }, 3);
        await journal.close();
        found.push(...(await all(follower)));
        await follower.close();
        expect(found.map(({ seq }) => seq)).toEqual(found.map((_, index) => index + 1));
        expect(found.map(({ type }) => type)).not.toContain('dropped');
        expect(texts(found)).toEqual(said);
        expect(found.at(-1)?.type).toBe('session-end');
      }),
      runs(40),
    );
  });

  it('tells a reader that was stopped for long how many events it has missed, and then the state', async () => {
    const journal = open({ maxBytes: 500 });
    journal.start();
    await journal.flushed();
    const follower = followJournal(eventsFolder(folder), 'me', 'start');
    expect(await all(follower)).toHaveLength(1);
    for (let index = 0; index < 100; index += 1) journal.say(`${index}`);
    await journal.close();
    const found = await all(follower);
    const dropped = found.findIndex(({ type }) => type === 'dropped');
    const [gap, next] = [found[dropped], found[dropped + 1]];
    expect(next?.type).toBe('state');
    const before = found[dropped - 1]?.seq ?? 0;
    expect(gap?.fields['count']).toBe((next?.seq ?? 0) - before - 1);
    expect(texts(found).at(-1)).toBe('99');
    expect(found.filter(({ type }) => type === 'dropped')).toHaveLength(1);
    await follower.close();
  });

  it('begins for a late reader with the state, and goes on from there', async () => {
    const journal = open();
    journal.start();
    journal.say('a');
    journal.append({ type: 'tier', tier: 'warn', before: 'safe' }, 3);
    await journal.flushed();
    const follower = followJournal(eventsFolder(folder), 'me', 'now');
    expect(await all(follower)).toMatchObject([
      { type: 'state', seq: 3, fields: { state: { runtime: 'x', agentSessionId: 'a', tier: 'warn' } } },
    ]);
    journal.say('b');
    await journal.close();
    expect(await all(follower)).toMatchObject([{ type: 'conversation', seq: 4 }]);
    await follower.close();
  });

  it('is continued by another thread of the wrapper, which says that events may be lost', async () => {
    const first = open();
    first.start();
    await first.close();
    appendFileSync(journalPath(eventsFolder(folder), 'me'), '{"schema":"ctxwrap.ev'); // it failed in the middle of a line
    const second = open({ isContinued: true });
    second.append({ type: 'state', state: state('y') }, 2);
    await second.close();
    const follower = followJournal(eventsFolder(folder), 'me', 'start');
    expect(await all(follower)).toMatchObject([
      { type: 'session-start', seq: 1 },
      { type: 'dropped', seq: 2, fields: { count: 1 } },
      { type: 'state', seq: 3 },
    ]);
    await follower.close();
  });

  it('ends for its readers when the wrapper was killed', async () => {
    const journal = open();
    journal.append({ type: 'session-start', state: state('x', { pid: 2 ** 22 + 1 }) }, 1);
    await journal.close();
    const follower = followJournal(eventsFolder(folder), 'me', 'start');
    expect((await all(follower)).map(({ type }) => type)).toEqual(['session-start', 'session-end']);
    expect(follower.isOver()).toBe(true);
    await follower.close();
  });

  it('is never a link or another thing, and a disk that takes nothing is reported once', async () => {
    mkdirSync(eventsFolder(folder), { mode: 0o700 });
    writeFileSync(join(folder, 'other'), '');
    symlinkSync(join(folder, 'other'), journalPath(eventsFolder(folder), 'me'));
    const failures: string[] = [];
    const journal = open({ onFailure: (reason) => failures.push(reason) });
    journal.start();
    await journal.flushed();
    journal.say('a');
    await journal.close();
    expect(failures).toHaveLength(1);
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('');
  });

  it.each<readonly [string, (path: string) => void]>([
    ['removed', (path) => rmSync(path)],
    ['removed with its folder', (path) => rmSync(dirname(path), { recursive: true })],
    ['cut', (path) => truncateSync(path, 10)],
    ['emptied', (path) => truncateSync(path)],
    [
      'replaced',
      (path) => {
        writeFileSync(`${path}.other`, 'x'.repeat(10_000));
        renameSync(`${path}.other`, path);
      },
    ],
    [
      'replaced by a link',
      (path) => {
        rmSync(path);
        symlinkSync('/dev/null', path);
      },
    ],
  ])(
    'that is %s under its session is begun again with the state, and no reader misses anything',
    async (_, harm) => {
      const journal = open();
      const path = journalPath(eventsFolder(folder), 'me');
      journal.start();
      journal.say('a');
      await journal.flushed();
      const early = followJournal(eventsFolder(folder), 'me', 'start');
      expect(texts(await all(early))).toEqual(['a']);
      harm(path);
      journal.say('b');
      journal.say('c');
      await journal.flushed();
      const found = await all(early);
      expect(found.map(({ type }) => type)).toEqual(['state', 'conversation', 'conversation']);
      expect(found.map(({ seq }) => seq)).toEqual([3, 4, 5]);
      const late = followJournal(eventsFolder(folder), 'me', 'now');
      const [first] = await all(late);
      expect(first?.fields['state']).toMatchObject({ runtime: 'x', agentSessionId: 'c' });
      await Promise.all([early.close(), late.close(), journal.close()]);
    },
  );

  it('whose beginning is damaged begins for a late reader with the record of the session', async () => {
    const journal = open();
    const path = journalPath(eventsFolder(folder), 'me');
    journal.start();
    journal.say('a');
    await journal.close();
    writeFileSync(path, readFileSync(path, 'utf8').replace('{', 'x'));
    const record = { runtime: 'from the record', startedAt: 1, agentSessionId: 'older' } as never;
    const late = followJournal(eventsFolder(folder), 'me', 'now', () => Promise.resolve(record));
    const [first] = await all(late);
    expect(first?.fields['state']).toMatchObject({ runtime: 'from the record', agentSessionId: 'a' });
    await late.close();
  });

  it('of a session that has ended is its state and its end, with numbers that count on', async () => {
    const journal = open();
    journal.start();
    journal.append({ type: 'session-end', exit: { code: 3 } }, 2);
    await journal.close();
    const late = followJournal(eventsFolder(folder), 'me', 'now');
    const found = await all(late);
    expect(found.map(({ type, seq }) => [type, seq])).toEqual([
      ['state', 1],
      ['session-end', 2],
    ]);
    await late.close();
  });

  it('is removed an hour after its session, and not before', async () => {
    for (const session of ['old', 'new', 'running']) {
      const journal = open({ session });
      journal.start();
      await journal.close();
    }
    const path = (session: string) => journalPath(eventsFolder(folder), session);
    for (const session of ['old', 'running']) utimesSync(path(session), 1, 1);
    await sweepJournals(folder, (session) => session === 'running', Date.now());
    expect(['old', 'new', 'running'].filter((session) => existsSync(path(session)))).toEqual([
      'new',
      'running',
    ]);
  });
});
