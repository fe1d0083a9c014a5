// Session files in which records come twice, late or not at all, and lines are glued together or cut off: all readers find the same
// conversation, and it is the one that was held.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { compactionsOf, windowOf, type Entry } from '../../src/core/conversation/conversation.js';
import { makeHandoff } from '../../src/core/conversation/handoff.js';
import { provenance } from '../../src/core/report/report.js';
import { obstacleIn } from '../../src/core/strategies/check.js';
import { readConversationBefore, readWholeConversation } from '../../src/session-files/read-conversation.js';
import { readHistory } from '../../src/session-files/read-history.js';
import { readReceipt } from '../../src/session-files/read-receipt.js';
import { readSessionFile } from '../../src/session-files/read-session-file.js';
import { copySession, undoCompaction } from '../../src/session-files/undo.js';
import {
  anyBroken,
  breakTranscript,
  noFaults,
  type Faults,
  type Truth,
} from '../support/broken-transcript.js';

let folder: string;
let made = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'broken-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const agent = agents.claude;
const as = (id: string) => ({ id, cwd: folder, now: 0, newUuid: () => 'unused' });

const textOf = (entry: Entry): string => {
  if (entry.kind === 'call') return entry.files.map(({ path }) => path).join();
  if (entry.kind === 'result') return entry.output;
  return 'text' in entry ? entry.text : '';
};
const said = (entries: readonly Entry[]): readonly string[] =>
  entries.map((entry) => `${entry.kind} ${textOf(entry)}`);

type Records = Truth['records'];
const toldOf = (records: Records): readonly string[] => records.map(({ kind, text }) => `${kind} ${text}`);

/** What is in the window after these records: what the last compaction kept comes after its summary. */
const windowAfter = (truth: Truth, records: Records): Records => {
  const path = records.filter(({ isLeft }) => !isLeft);
  const place = path.findLastIndex(({ kind }) => kind === 'compaction');
  const kept = truth.kept.get(path[place]?.id ?? '') ?? [];
  const later = path.slice(place + 1);
  return place < 0
    ? later
    : later.toSpliced(1, 0, ...path.slice(0, place).filter(({ id }) => kept.includes(id)));
};

const isMessage = ({ kind }: Records[number]): boolean => kind !== 'compaction' && kind !== 'notice';

const expectAgreement = async (text: string, truth: Truth): Promise<void> => {
  made += 1;
  const path = join(folder, `${made}.jsonl`);
  writeFileSync(path, text);
  const source = { agent, path, size: text.length, modifiedAt: 0 };
  const path0 = truth.records.filter(({ isLeft }) => !isLeft);
  const compactions = truth.records.filter(({ kind }) => kind === 'compaction');
  const before = compactions.map((each) => truth.records.slice(0, truth.records.indexOf(each)));

  const read = await readHistory(source, { isFull: true, withUsage: false, now: 0 });
  const history = read?.history;
  expect(history?.messages).toBe(truth.records.filter(isMessage).length);
  expect(history?.damagedLines).toBe(truth.damaged);
  expect(history?.compactions.map(({ uuid }) => uuid)).toEqual(compactions.map(({ id }) => id));
  const messages = truth.records.filter(isMessage);
  const windows = before.map((records) => windowAfter(truth, records));
  for (const [index, found] of (history?.compactions ?? []).entries()) {
    expect(found.summary?.text).toBe(`summary ${index + 1}`);
    expect(found.afterMessage).toBe(before[index]?.filter(isMessage).length);
    const numbers = (found.replaced ?? []).flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, each) => from + each),
    );
    const kept = truth.kept.get(found.uuid ?? '') ?? [];
    const replaced = numbers.flatMap((number) => messages[number - 1] ?? []).filter(({ isLeft }) => !isLeft);
    const wanted = (windows[index] ?? []).filter(({ id }) => !kept.includes(id));
    expect(replaced.map(({ id }) => id).toSorted()).toEqual(wanted.map(({ id }) => id).toSorted());
  }

  const context = await readSessionFile({ ...source, env: {}, now: 0 });
  expect(context.compactions.map(({ at }) => at)).toEqual(history?.compactions.map(({ at }) => at));
  expect(provenance(context.state, 0)?.usedTokens).toBe(truth.usedTokens);

  const whole = await readWholeConversation(source);
  if (!whole) throw new Error('no conversation');
  expect(said(whole.entries)).toEqual(toldOf(path0));
  expect(said(windowOf(whole))).toEqual(toldOf(windowAfter(truth, truth.records)));
  expect(whole.abandoned).toBe(truth.records.length - path0.length);
  expect(compactionsOf(whole)).toHaveLength(compactions.length);
  expect(whole.damaged).toBe(truth.damaged);

  const prompts = path0.filter(({ kind }) => kind === 'prompt').map((each) => each.text);
  const handoff = makeHandoff({ conversation: whole, runtime: 'claude', now: 0, requests: 100 });
  expect(handoff.requests.map((each) => each.text)).toEqual(prompts.filter((each) => each !== ''));

  for (const [index, records] of before.entries()) {
    const found = history?.compactions[index];
    if (!found) throw new Error('no compaction');
    const window = windows[index] ?? [];
    const earlier = await readConversationBefore(source, found);
    expect(said(earlier?.entries ?? [])).toEqual(toldOf(records.filter(({ isLeft }) => !isLeft)));
    expect(said(windowOf(earlier ?? whole))).toEqual(toldOf(window));

    const receipt = await readReceipt(source, found);
    const files = receipt?.receipt.items.filter(({ kind }) => kind === 'path').map((each) => each.text);
    const edited = window
      .filter(({ kind }) => kind === 'call')
      .map((each) => each.text.slice('/proj/'.length));
    expect(files).toEqual(edited);

    const undone = await undoCompaction({
      agent,
      path,
      number: index + 1,
      as: as(`undone-${made}-${index}`),
    });
    expect([undone.number, undone.count]).toEqual([index + 1, compactions.length]);
    await expectCopy(undone.session.path, records, truth);
  }
  const copy = await copySession({ agent, path }, as(`copy-${made}`));
  await expectCopy(copy.path, truth.records, truth);
};

/** A new session has each record once and no damaged line, and Claude finds its conversation by following it from the last record back. */
const expectCopy = async (path: string, records: Records, truth: Truth): Promise<void> => {
  const copy = await readWholeConversation({ agent, path });
  expect(said(windowOf(copy ?? { entries: [] }))).toEqual(toldOf(windowAfter(truth, records)));
  expect(copy?.damaged).toBe(0);
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly uuid: string; readonly parentUuid: string | null });
  expect(lines.map(({ uuid }) => uuid)).toEqual(records.map(({ id }) => id));
  if (truth.hasOrphans) return;
  const parents = new Map(lines.map(({ uuid, parentUuid }) => [uuid, parentUuid]));
  const followed: string[] = [];
  for (let id = lines.at(-1)?.uuid ?? null; id !== null; id = parents.get(id) ?? null) followed.unshift(id);
  const path0 = records.filter(({ isLeft }) => !isLeft);
  const last = path0.findLastIndex(({ kind }) => kind === 'compaction');
  expect(followed).toEqual(path0.slice(Math.max(0, last)).map(({ id }) => id));
};

describe('a session file of Claude with faults', () => {
  it('is the same conversation to all readers, whatever the faults', async () => {
    await fc.assert(
      fc.asyncProperty(anyBroken, async ({ parts, faults }) => {
        const { text, truth } = breakTranscript(parts, faults);
        await expectAgreement(text, truth);
      }),
      { numRuns: 60 },
    );
  });

  const turn = { edits: true, isLeft: false, twoCalls: true };
  const parts = [
    { turns: [turn, { ...turn, isLeft: true }, turn], kept: 2 },
    { turns: [turn, turn], kept: 3 },
    { turns: [turn, turn], kept: 0 },
  ];
  const cases: readonly (readonly [string, Partial<Faults>])[] = [
    ['old records come again and are followed', { replays: [{ part: 1, count: 4, at: 1 }] }],
    [
      'they come again without their texts',
      { replays: [{ part: 1, count: 9, at: 0 }], areReplaysEmpty: true },
    ],
    ['a boundary and its summary come twice', { twice: [{ part: 0, after: 2, isRenamed: false }] }],
    ['they come twice under other ids', { twice: [{ part: 1, after: 0, isRenamed: true }] }],
    ['what was kept is written behind the boundary', { late: [0, 1] }],
    ['only `uuids` names what was kept', { keptIn: 'uuids' }],
    ['only `allUuids` names it', { keptIn: 'allUuids' }],
    ['each of them names a half', { keptIn: 'half' }],
    ['a parent was never written', { orphans: [3, 17] }],
    ['texts are empty', { emptied: [0, 3] }],
    ['records are glued together', { glued: [1, 2, 11, 17] }],
    ['records stand behind the half of one', { halves: [2, 9] }],
    ['the last line has no newline', { end: 'none' }],
    ['the last line is being written', { end: 'half' }],
    ['the last line is cut off', { end: 'half and newline' }],
  ];
  it('is right for a file in which nothing is wrong', async () => {
    const { text, truth } = breakTranscript(parts, noFaults);
    expect(text.split('\n')).toHaveLength(truth.records.length + 1);
    await expectAgreement(text, truth);
  });

  it.each(cases)('is the same conversation to all readers when %s', async (_, faults) => {
    const { text, truth } = breakTranscript(parts, { ...noFaults, ...faults });
    expect(text).not.toBe(breakTranscript(parts, noFaults).text);
    await expectAgreement(text, truth);
  });

  const conversation = async (end: Partial<Faults>) => {
    const path = join(folder, 'cut.jsonl');
    writeFileSync(path, breakTranscript(parts, { ...noFaults, ...end }).text);
    return readWholeConversation({ agent, path });
  };

  it('can be shortened when only its last line is cut off, and not when a line in between is', async () => {
    const [cutOff, between] = [
      await conversation({ end: 'half and newline' }),
      await conversation({ halves: [9] }),
    ];
    if (!cutOff || !between) throw new Error('no conversation');
    expect(obstacleIn(cutOff)).toBeUndefined();
    expect(obstacleIn(between)).toBe('1 line of its session file cannot be read');
  });
});
