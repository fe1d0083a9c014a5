// Which conversation Codex's screen shows, and which thread that is behind its background server.
import { describe, expect, it } from 'vitest';
import type { ChildPlace } from '../../src/agents/agent.js';
import { locateCodex } from '../../src/agents/codex/files.js';
import { codexScreen } from '../../src/agents/codex/screen.js';
import type { Fact } from '../../src/core/event.js';
import { bold, dim, seenFrame, type CodexFrame } from '../support/codex-frame.js';
import { seenAfter } from '../support/drawn-screen.js';
import { SIDE_CHAT } from '../../src/agents/codex/view.js';
import { fakePlace, fakePort, type FakeFile } from '../support/fake-machine.js';

const DIRECTORY = '/proj/app';
const sent = (text: string): readonly string[] => [`${bold(dim('› '))}${text}`, '', '', '• an answer', ''];
const header = [
  '',
  '  \x1b[38;2;99;168;248m>_ \x1b[1m\x1b[39mOpenAI Codex\x1b[22m (v0.171.0)',
  `     ${DIRECTORY}`,
  '',
];
/** A conversation whose beginning is visible, at the top of the screen as Codex draws it. */
const talk = (...messages: readonly string[]): CodexFrame => {
  const rows = [...header, ...messages.flatMap(sent)];
  return {
    conversation: [...rows, ...Array.from({ length: 33 - rows.length }, () => '')],
    items: ['GPT-5.5 default', DIRECTORY],
  };
};
const SIZE = { columns: 120, rows: 40 };
const at = (row: number, text: string): string => `\x1b[${row};1H${text}\x1b[0m`;
const agentsView = `\x1b[2J${at(1, `  ${bold('Agent command center')}${dim('  Group: Project  g')}`)}${at(6, '  › ○ hello')}`;
const picker = `\x1b[2J${at(1, ` ${bold('Resume a previous session')}`)}${at(8, '  › 5s ago      hello')}`;
const sideChat = (...messages: readonly string[]): string => {
  const bar = `${' '.repeat(79)}${dim('│')}`;
  const right = [
    ...messages.map((text) => `${bold(dim('› '))}${text}`),
    '',
    `${bold('›')} ${dim('Ask a follow-up question')}`,
  ];
  const rows = Array.from({ length: 30 }, (_, index) => at(index + 2, `${bar}${right[index] ?? ''}`));
  const footer = [
    '',
    '  \x1b[38;5;223mGPT-5.5 default · aside · Agent',
    `  ${bold('←')} for agents · ${bold('?')} for shortcuts`,
  ];
  const last = right.length + 1;
  return `\x1b[2J${at(1, `${bar} Side chat ×${' '.repeat(25)}+`)}${rows.join('')}${footer.map((text, index) => at(last + index + 1, `${bar}${text}`)).join('')}\x1b[${last};83H`;
};

/** What one reader tells of these screens: frames of Codex, or bytes. */
const viewsOf = async (
  ...screens: readonly (CodexFrame | string)[]
): Promise<readonly (readonly Fact[])[]> => {
  const said: (readonly Fact[])[] = [];
  let read = codexScreen.reader({});
  for (const screen of screens) {
    const seen = typeof screen === 'string' ? await seenAfter(screen, SIZE) : await seenFrame(screen);
    const step = read(seen, 0);
    read = step.next;
    said.push(step.facts.filter(({ type }) => type === 'view'));
  }
  return said;
};
/** In a word each: `other`, `same`, the name of a list, or nothing. */
const wordsOf = async (...screens: readonly (CodexFrame | string)[]): Promise<readonly string[]> =>
  (await viewsOf(...screens)).map(([fact]) => {
    if (fact?.type !== 'view') return '';
    if (fact.isSame) return 'same';
    return fact.view.shows === 'list' ? fact.view.name : 'other';
  });

describe('what is in view of codex', () => {
  it('is told with its names and the messages of the user, and the first conversation is no change', async () => {
    const [first] = await viewsOf({ ...talk('one', 'two'), title: '⠋ my thread | app' });
    const names = ['GPT-5.5 default', DIRECTORY, 'my thread', 'app'];
    const view = { shows: 'conversation', names, messages: ['one', 'two'] };
    expect(first).toEqual([{ type: 'view', view, isSame: true }]);
  });

  it('is the same when messages come, and another one when the beginning is another or gone', async () => {
    expect(
      await wordsOf(talk(), talk('one'), talk('one', 'two'), talk(), talk('one'), talk('three')),
    ).toEqual(['same', 'same', 'same', 'other', 'same', 'other']);
  });

  it('is the same at another width, and where the beginning has scrolled away', async () => {
    const long = 'a message that is cut where the screen ends '.repeat(3).trim();
    const narrow = { ...talk(long.slice(0, 70)), columns: 80 };
    const scrolled = { conversation: sent(long), items: ['GPT-5.5 default'] };
    expect(await wordsOf(talk(long), narrow, scrolled, talk(long))).not.toContain('other');
  });

  it('is another one when it is empty, after one whose beginning was never visible', async () => {
    const scrolled = { conversation: sent('one'), items: ['GPT-5.5 default'] };
    expect(await wordsOf(scrolled, talk('before', 'one'), talk())).toEqual(['same', 'same', 'other']);
    expect(await wordsOf(scrolled, talk())).toEqual(['same', 'other']);
    expect(await wordsOf(talk(), scrolled, talk())).toEqual(['same', 'same', 'other']);
  });

  it('is another one when it was forked from one', async () => {
    const forked = talk('one');
    const [top = [], rest = []] = [forked.conversation?.slice(0, 4), forked.conversation?.slice(4, -2)];
    const fork = { ...forked, conversation: [...top, '• Thread forked from one (01a2)', '', ...rest] };
    expect(await wordsOf(talk('one'), fork, fork)).toEqual(['same', 'other', '']);
  });

  it('is a list of agents or of conversations, and then again a conversation', async () => {
    expect(await wordsOf(talk('one'), agentsView, agentsView, talk('one'), picker, talk('one'))).toEqual([
      'same',
      'the list of agents',
      '',
      'other',
      'the list of conversations',
      'other',
    ]);
  });

  it('is no list when an answer has its words', async () => {
    const imitation = {
      conversation: ['  Agent command center', ' Resume a previous session'],
      items: ['GPT-5.5'],
    };
    expect(
      await wordsOf({
        ...imitation,
        conversation: Array.from({ length: 40 }, () => '  Agent command center'),
      }),
    ).toEqual(['same']);
    expect(await wordsOf(at(1, '  Agent command center'))).toEqual(['']);
  });

  it('is the side chat while it has the cursor', async () => {
    const [, open, asked, back] = await viewsOf(talk('one'), sideChat(), sideChat('aside'), talk('one'));
    const names = [SIDE_CHAT, 'GPT-5.5 default', 'aside', 'Agent'];
    expect(open).toEqual([{ type: 'view', view: { shows: 'conversation', names, messages: [] } }]);
    expect(asked).toEqual([
      { type: 'view', view: { shows: 'conversation', names, messages: ['aside'] }, isSame: true },
    ]);
    expect(back).toMatchObject([{ view: { messages: ['one'] } }]);
  });

  it('is not told before a thread is open, nor in a dialog', async () => {
    const starting = { ...talk(), items: [], hints: '  ? for shortcuts' };
    expect(await wordsOf(starting, at(1, 'Would you like to run the following command?'))).toEqual(['', '']);
  });
});

describe('the thread in view, behind the background server', () => {
  const { startedAt } = fakePlace();
  const CODEX = '/home/me/.codex';
  const [MINE, OTHER, THIRD] = [
    '01a1fd1c-f01b-7b00-a700-c9e1017aceb1', // made on 2026-11-21
    '01a1fddb-9fe9-7dd3-90b2-ca34bc07af3f',
    '01a1fddb-9fe9-7dd3-90b2-000000000000',
  ] as const;
  const viewSince = startedAt + 60_000;
  const rollout = (id: string): string =>
    `${CODEX}/sessions/2026/11/21/rollout-2026-11-21T10-00-00-${id}.jsonl`;
  const written = (id: string, source = 'user'): Readonly<Record<string, FakeFile>> => {
    const payload = { id, session_id: id, source: 'vscode', thread_source: source };
    return {
      [rollout(id)]: {
        modifiedAt: startedAt,
        text: `${JSON.stringify({ type: 'session_meta', payload })}\n`,
      },
    };
  };
  const lock = (id: string, at: number) => ({
    [`${CODEX}/thread-writer-locks/${id}.lock`]: { modifiedAt: at },
  });
  const mark = (id: string, at: number) => ({
    [`${CODEX}/tui-thread-reference-capabilities/${id}`]: { modifiedAt: at },
  });
  const lines = (...records: readonly object[]): FakeFile => ({
    modifiedAt: 0,
    text: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  });
  const history = (...said: readonly (readonly [id: string, text: string, at: number])[]) => ({
    [`${CODEX}/history.jsonl`]: lines(
      ...said.map(([session_id, text, at]) => ({ session_id, text, ts: Math.floor(at / 1_000) })),
    ),
  });
  const named = (...names: readonly (readonly [id: string, name: string])[]) => ({
    [`${CODEX}/session_index.jsonl`]: lines(...names.map(([id, thread_name]) => ({ id, thread_name }))),
  });
  const found = async (
    files: Readonly<Record<string, FakeFile>>,
    {
      messages = [],
      names = [],
      ...place
    }: Partial<ChildPlace> & { messages?: readonly string[]; names?: readonly string[] },
    open: readonly string[] = [],
  ): Promise<string | undefined> => {
    const server = { [`${CODEX}/app-server-control/app-server-control.sock`]: { modifiedAt: 0 } };
    const view = { shows: 'conversation', names, messages } as const;
    const port = fakePort({ files: { ...server, ...files }, open: { 100: open } });
    const located = await locateCodex(port, fakePlace({ view, now: viewSince + 200, ...place }));
    expect(located?.certain ?? open.length > 0).toBe(open.length > 0);
    return located?.sessionId;
  };
  const enteredAt = viewSince + 10_000;
  const working = { viewSince, enteredAt, workedAt: enteredAt + 100, now: enteredAt + 150 };

  it('is the one in which the message stands that was sent here, at once', async () => {
    const files = {
      ...written(MINE),
      ...written(OTHER),
      ...history([MINE, 'fix the\nbug', enteredAt], [OTHER, 'write a test', enteredAt]),
    };
    expect(await found(files, { ...working, messages: ['old', 'fix the'] })).toBe(MINE);
  });

  it.each([
    ['two terminals have sent the same words', [OTHER, 'go on', enteredAt], {}],
    ['Codex has not begun to work', [OTHER, 'old', 0], { workedAt: enteredAt - 1 }],
  ] as const)('is not told by a message when %s', async (_, more, place) => {
    const files = { ...written(MINE), ...written(OTHER), ...history([MINE, 'go on', enteredAt], more) };
    expect(await found(files, { ...working, messages: ['go on'], ...place })).toBeUndefined();
  });

  it('is the one that was opened just before: a new one, by its lock', async () => {
    expect(await found({ ...lock(MINE, viewSince - 100), ...lock(OTHER, 0) }, { viewSince })).toBe(MINE);
  });

  it('is the one that was opened since the start, also where another terminal has locked it before', async () => {
    const files = { ...written(MINE), ...lock(MINE, 0), ...mark(MINE, startedAt + 500), ...mark(OTHER, 0) };
    expect(await found(files, { messages: ['hello'] })).toBe(MINE);
  });

  it.each([
    ['before the view before this one', viewSince - 1_000, { viewedBefore: viewSince - 500 }],
    ['after this one', viewSince + 1_000, { now: viewSince + 2_000 }],
    ['long ago', viewSince - 5_000, {}],
  ])('is not one that was opened %s', async (_, at, place) => {
    expect(await found(lock(MINE, at), { viewSince, ...place })).toBeUndefined();
  });

  it('is unknown when two terminals open a new one at once, and the fitting one when the other one goes on', async () => {
    const both = { ...lock(MINE, viewSince - 100), ...lock(OTHER, viewSince - 200) };
    expect(await found(both, { viewSince })).toBeUndefined();
    const resumed = {
      ...both,
      ...written(MINE),
      ...written(OTHER),
      ...history([MINE, 'mine', 0], [OTHER, 'other', 0]),
    };
    expect(await found(resumed, { viewSince, messages: ['mine'] })).toBe(MINE);
  });

  it('is not a new one of another terminal when messages are shown, but the one with their name', async () => {
    const files = {
      ...lock(OTHER, viewSince - 100),
      ...written(MINE),
      ...history([MINE, 'mine', 0]),
      ...named([MINE, 'first name'], [MINE, 'my thread']),
    };
    expect(await found(files, { viewSince, names: ['my thread'], messages: ['mine'] })).toBe(MINE);
    expect(await found(files, { viewSince, names: ['first name'], messages: ['mine'] })).toBeUndefined();
    const resumed = { ...files, ...written(OTHER), ...history([MINE, 'mine', 0], [OTHER, 'other', 0]) };
    expect(await found(resumed, { viewSince, names: ['my thread'], messages: ['mine'] })).toBe(MINE);
    expect(await found(files, { viewSince, names: ['my thread'], messages: ['another'] })).toBeUndefined();
  });

  it('is unknown when two threads have the name, until the last message tells them apart', async () => {
    const files = {
      ...written(MINE),
      ...written(OTHER),
      ...named([MINE, 'my thread'], [OTHER, 'my thread']),
    };
    const place = { viewSince, names: ['my thread'], messages: ['mine'] };
    expect(await found({ ...files, ...history([MINE, 'mine', 0]) }, place)).toBeUndefined();
    expect(await found({ ...files, ...history([MINE, 'mine', 0], [OTHER, 'no', 0]) }, place)).toBe(MINE);
  });

  it('is a side chat only in its view', async () => {
    const files = { ...written(MINE, 'tui_side_chat'), ...lock(MINE, viewSince - 100) };
    expect(await found(files, { viewSince, names: [SIDE_CHAT] })).toBe(MINE);
    expect(await found(files, { viewSince })).toBeUndefined();
  });

  it('is not taken from another view: what was sent there, says nothing here', async () => {
    const begun = JSON.stringify({
      timestamp: new Date(viewSince - 2_900).toISOString(),
      type: 'event_msg',
      payload: { type: 'task_started' },
    });
    const [file] = Object.values(written(MINE));
    const files = { [rollout(MINE)]: { modifiedAt: viewSince - 2_900, text: `${file?.text}${begun}\n` } };
    const place = { enteredAt: viewSince - 3_000, workedAt: viewSince - 2_900 };
    expect(await found(files, place)).toBe(MINE);
    expect(await found(files, { ...place, viewSince })).toBeUndefined();
  });

  it('is, of several that this terminal has open without a server, the one in view and not the one at work', async () => {
    const files = { ...written(MINE), ...written(OTHER), ...lock(THIRD, viewSince - 100) };
    const open = [rollout(MINE), rollout(OTHER), ...Object.keys(lock(THIRD, 0))];
    const later = { [rollout(OTHER)]: { ...files[rollout(OTHER)], modifiedAt: viewSince + 100 } };
    expect(await found({ ...files, ...later }, { viewSince }, open)).toBe(THIRD); // before it has a rollout
    const back = { viewSince: viewSince + 30_000, now: viewSince + 31_000, currentPath: rollout(MINE) };
    expect(await found({ ...files, ...later }, back, open)).toBe(MINE);
    const side = { ...files, ...later, ...written(MINE, 'tui_side_chat') };
    expect(await found(side, { ...back, names: [SIDE_CHAT] }, open)).toBe(MINE);
  });
});
