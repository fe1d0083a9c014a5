// A window that is over-full is told in the same way everywhere.
import { describe, expect, it } from 'vitest';
import { toPrintable } from '../../src/core/printable.js';
import { contextSections } from '../../src/cli/context-text.js';
import { sessionsText } from '../../src/cli/ps-columns.js';
import { contextReport } from '../../src/core/report/context-report.js';
import { startCompaction } from '../../src/core/compaction/state.js';
import { startNotifications, stepNotifications } from '../../src/core/notifications.js';
import { notificationKinds } from '../../src/core/config/notification-kinds.js';
import { parseSessionRecord } from '../../src/core/read-record.js';
import { readingRecord } from '../../src/core/report/report.js';
import { sessionRecord } from '../../src/core/report/records.js';
import type { Session } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import { renderReport } from '../../src/ui/Report.js';
import { drawnFooter } from '../support/drawn-footer.js';
import { makeReplayEvents } from '../../src/replay/events.js';
import { replayLine } from '../../src/cli/commands/replay.js';
import type { Event } from '../../src/core/event.js';
import { overviewOf } from '../support/boundaries.js';
import { sessionAfter, shows, tokens } from '../support/sessions.js';

const identity = {
  id: 'one',
  version: '1',
  pid: 9,
  childPid: 10,
  runtime: 'qwen',
  cwd: '/',
  startedAt: 0,
};

const footer = (state: Session): string =>
  drawnFooter(footerView(state, 2_000), { columns: 100, colorLevel: 0, ascii: false });

/** As another process lists it. */
const listed = (state: Session): string => {
  const record = parseSessionRecord(JSON.stringify(sessionRecord(identity, state, {}, 2_000)));
  if (!record) throw new Error('no record');
  const [, row = ''] = sessionsText([{ record, liveness: 'live' }], {
    now: 2_000,
    home: '/h',
    look: { columns: 100, colorLevel: 0, ascii: false },
  });
  return toPrintable(row);
};

const look = { columns: 60, colorLevel: 0, ascii: false } as const;

const context = (state: Session): string => {
  const reading = readingRecord(state, 2_000);
  const report = contextReport({
    runtime: 'qwen',
    reading,
    thresholds: [],
    compactions: [],
    toolResults: [],
  });
  return renderReport(contextSections(report), look).join('\n');
};

const overview = (state: Session): string => renderReport(overviewOf(state), look).join('\n');

const notified = (session: Session): readonly string[] => {
  const compaction = {
    ...startCompaction({ mode: 'warn', startMs: 1, finishMs: 1, isProactive: false }),
    episodeSince: 1,
  };
  return stepNotifications(startNotifications(notificationKinds), {
    session,
    compaction,
    now: 2_000,
  }).due.map(({ text }) => text);
};

const replayed = (state: Session, said: Event): string => {
  const change = { before: state, after: state, at: 1, now: 2_000 };
  return [...makeReplayEvents('qwen')(change, said)].map(replayLine).join('\n');
};

const [tooMany, ownWord] = [tokens('log', 205_000), shows(101)];

describe.each([
  { name: 'more tokens than the window holds', state: sessionAfter([[1, tooMany]]), said: tooMany },
  {
    name: 'the own word of the agent',
    state: sessionAfter([[1, ownWord]], { agent: 'qwen' }),
    said: ownWord,
  },
])('$name', ({ state, said }) => {
  it.each([
    { where: 'the footer', text: footer(state) },
    { where: 'ps', text: listed(state) },
    { where: 'context', text: context(state) },
    { where: 'the overview', text: overview(state) },
    { where: 'a notification', text: notified(state).join() },
    { where: 'a replay', text: replayed(state, said) },
  ])('is >100% in $where', ({ text }) => {
    expect(text).toMatch(/(?<!\d)>100%/);
    expect(text).not.toMatch(/10[01](?:\.\d)?%.*10[01]%|(?<!>)10[01]%/);
  });
});

it('an estimate is >100%, too, and not ~>100%', () => {
  const state = sessionAfter([[1, tokens('estimate', 205_000)]]);
  for (const text of [footer(state), listed(state), context(state), overview(state)]) {
    expect(text).toContain('>100%');
    expect(text).not.toContain('~>');
  }
});

it('a window that is just full is 100% everywhere', () => {
  const state = sessionAfter([[1, tokens('log', 200_000)]]);
  for (const text of [footer(state), context(state), overview(state), notified(state).join()]) {
    expect(text).toContain('100%');
    expect(text).not.toContain('>100%');
  }
});
