import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AnswerRecord, RequestRecord } from '../../src/core/compaction/requests.js';
import {
  readAnswer,
  readRequest,
  removeAnswer,
  removeRequest,
  ensureRequestsFolder,
  isRequestThere,
  listRequests,
  sweepRequests,
  withdrawRequest,
  type Withdrawal,
  writeAnswer,
  writeRequest,
} from '../../src/storage/requests.js';

const request: RequestRecord = {
  schema: 'ctxwrap.request/1',
  session: 'me',
  request: 'one',
  askedAt: 1_000,
  force: false,
};
const answer: AnswerRecord = {
  schema: 'ctxwrap.answer/1',
  session: 'me',
  request: 'one',
  at: 2_000,
  state: 'refused',
  reason: 'another request is waiting',
};

let home = '';
let folder = '';
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'requests-'));
  folder = await ensureRequestsFolder(join(home, 'ctxwrap'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);

describe('a request', () => {
  it('and its answer are readable by the user only, and can be read back', async () => {
    await writeRequest(folder, request);
    await writeAnswer(folder, answer);
    expect(readdirSync(folder).toSorted()).toEqual(['me.one.answer.json', 'me.one.request.json']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(await readRequest(folder, request)).toEqual(request);
    expect(await readAnswer(folder, request)).toEqual(answer);
    await removeRequest(folder, request);
    await removeAnswer(folder, request);
    expect(readdirSync(folder)).toEqual([]);
    expect(await readAnswer(folder, request)).toBeUndefined();
  });

  it('is listed for its session, and no other', async () => {
    for (const session of ['me', 'me2', 'm', 'you'])
      await writeRequest(folder, { ...request, session, request: `for-${session}` });
    put('me.x.answer.json', '{}');
    put('me.a.b.request.json', '{}');
    put('me.x.request.json.0af.tmp', '{}');
    expect(await listRequests(folder, 'me')).toEqual(['for-me']);
  });

  it('with an id that could name another file is not written', () => {
    for (const id of ['../x', 'a.b', '', 'x'.repeat(65)])
      expect(() => writeRequest(folder, { ...request, request: id })).toThrow('names no request');
  });

  it('whose content does not match its name is ignored', async () => {
    put('me.two.request.json', JSON.stringify(request));
    put('you.one.request.json', JSON.stringify(request));
    expect(await readRequest(folder, { session: 'me', request: 'two' })).toBeUndefined();
    expect(await readRequest(folder, { session: 'you', request: 'one' })).toBeUndefined();
  });

  it('that is a link, a folder or too large is ignored', async () => {
    writeFileSync(join(home, 'elsewhere'), JSON.stringify(request));
    symlinkSync(join(home, 'elsewhere'), join(folder, 'me.one.request.json'));
    expect(await readRequest(folder, request)).toBeUndefined();
    await expect(writeRequest(folder, request)).rejects.toThrow('is not a regular file');
    mkdirSync(join(folder, 'me.two.request.json'));
    expect(await readRequest(folder, { session: 'me', request: 'two' })).toBeUndefined();
    const padded = { ...request, request: 'three', padding: 'x'.repeat(9_000) };
    put('me.three.request.json', JSON.stringify(padded));
    expect(await readRequest(folder, { session: 'me', request: 'three' })).toBeUndefined();
  });

  it.runIf(process.getuid?.() === 0)('of another user is none', async () => {
    await writeRequest(folder, request);
    const { chownSync } = await import('node:fs');
    chownSync(join(folder, 'me.one.request.json'), 12_345, 12_345);
    expect(await readRequest(folder, request)).toBeUndefined();
  });
});

describe('a request that is withdrawn', () => {
  const answerFile = 'me.one.answer.json';
  const base = { schema: 'ctxwrap.answer/1', session: 'me', request: 'one', at: 2_000 } as const;
  const answerIs = (state: 'waiting' | 'begun') => (): Promise<void> =>
    writeAnswer(folder, { ...base, state });
  const isAnswered = (): Promise<void> => writeAnswer(folder, answer);
  const isThere = (): Promise<void> => writeRequest(folder, request);
  const nothing = (): void => undefined;
  const cannotGo = (): void => void mkdirSync(join(folder, 'me.one.request.json'));

  it.each<[string, () => Promise<void> | void, () => Promise<void> | void, Withdrawal]>([
    ['was not answered', isThere, nothing, { kind: 'unbegun' }],
    ['waits', isThere, answerIs('waiting'), { kind: 'unbegun' }],
    ['waits, and was removed by somebody else', nothing, answerIs('waiting'), { kind: 'unbegun' }],
    ['has begun', isThere, answerIs('begun'), { kind: 'unknown' }],
    ['was removed, and so may be its answer', nothing, nothing, { kind: 'unknown' }],
    ['cannot be removed', cannotGo, answerIs('waiting'), { kind: 'unknown' }],
    ['has half an answer', isThere, () => put(answerFile, '{"schema":"ctxwr'), { kind: 'unknown' }],
    [
      'has an answer that is a link',
      isThere,
      () => symlinkSync('/nowhere', join(folder, answerFile)),
      { kind: 'unknown' },
    ],
    ['has its last answer', isThere, isAnswered, { kind: 'answered', answer }],
    ['has ended with its last answer', nothing, isAnswered, { kind: 'answered', answer }],
  ])('and %s tells what is known of it', async (_, asked, answered, known) => {
    await asked();
    await answered();
    expect(await withdrawRequest(folder, request)).toEqual(known);
    expect(await isRequestThere(folder, request)).toBe(asked === cannotGo);
  });
});

describe('the folder of requests', () => {
  it('is refused when it is a link', async () => {
    const state = join(home, 'other');
    mkdirSync(state);
    symlinkSync(folder, join(state, 'requests'));
    await expect(ensureRequestsFolder(state)).rejects.toThrow('is a symbolic link');
  });

  it('is cleaned of files older than an hour, and nothing else', async () => {
    const now = Date.now();
    const left = ['me.a.request.json', 'me.a.answer.json', 'me.a.answer.json.0af3.tmp'];
    const kept = ['me.b.request.json', 'me.b.answer.json', 'notes.txt'];
    for (const name of [...left, ...kept]) put(name, '{}');
    const hourAgo = (now - 3_600_001) / 1_000;
    for (const name of [...left, 'notes.txt']) utimesSync(join(folder, name), hourAgo, hourAgo);
    await sweepRequests(folder, now);
    expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted());
  });
});
