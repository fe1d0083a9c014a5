import { describe, expect, it } from 'vitest';
import { makeQueryQueue, type QueryKind, type QueryQueue } from '../../src/terminal/query-queue.js';

/** Whose the next answers are. */
const owners = (queries: QueryQueue, kind: QueryKind, count: number): readonly string[] =>
  Array.from({ length: count }, () => (queries.takeAnswer(kind) ? 'ours' : 'child'));

describe('answers of the terminal', () => {
  it('belong to the oldest query of their kind', () => {
    const queries = makeQueryQueue();
    queries.addChild('cursor');
    queries.addOwn('cursor');
    queries.addChild('cursor');
    expect(owners(queries, 'cursor', 3)).toEqual(['child', 'ours', 'child']);
  });

  it('reach the wrapper after answers to its later queries of other kinds, too', () => {
    const queries = makeQueryQueue();
    const seen: string[] = [];
    const kinds: readonly QueryKind[] = ['background', 'secondary attributes', 'extended cursor', 'status'];
    for (const kind of kinds) queries.addOwn(kind, () => seen.push(kind));
    for (const kind of kinds.toReversed()) queries.takeAnswer(kind)?.('');
    expect(seen).toEqual(kinds.toReversed());
    expect(queries.hasOpenOwnQuery()).toBe(false);
  });

  it('that come twice go on to the child only where the wrapper has never asked', () => {
    const queries = makeQueryQueue();
    queries.addOwn('background');
    expect(owners(queries, 'background', 3)).toEqual(['ours', 'ours', 'ours']);
    expect(owners(queries, 'primary attributes', 2)).toEqual(['child', 'child']);
  });

  it('to a query of the wrapper go to the wrapper however late they come', () => {
    let now = 0;
    const queries = makeQueryQueue(() => now);
    queries.addOwn('secondary attributes');
    queries.addOwn('extended cursor');
    now = 600_000;
    expect(queries.isOwnAnswerExpected()).toBe(false);
    expect(queries.hasOpenOwnQuery()).toBe(true);
    expect(owners(queries, 'extended cursor', 1)).toEqual(['ours']);
    expect(owners(queries, 'secondary attributes', 1)).toEqual(['ours']);
    expect(queries.hasOpenOwnQuery()).toBe(false);
  });

  it('go to the child where a later answer has shown that the wrapper’s is lost, and a late one to the wrapper', () => {
    const queries = makeQueryQueue();
    queries.addOwn('extended cursor');
    queries.addOwn('status');
    queries.addChild('extended cursor');
    queries.takeAnswer('status');
    expect(owners(queries, 'extended cursor', 2)).toEqual(['child', 'ours']);
  });

  it('go to the wrapper where a later answer has shown that the child’s is lost', () => {
    const queries = makeQueryQueue();
    queries.addChild('cursor');
    queries.addOwn('status');
    queries.addOwn('cursor');
    queries.takeAnswer('status');
    expect(owners(queries, 'cursor', 2)).toEqual(['ours', 'child']);
  });

  it('that are always the same go to the child first when the terminal was silent long before it asked', () => {
    let now = 0;
    const queries = makeQueryQueue(() => now);
    queries.addOwn('background');
    now = 10_000;
    queries.addChild('background');
    expect(owners(queries, 'background', 2)).toEqual(['child', 'ours']);
  });

  it('in a paste are the user’s text unless the wrapper waits for one', () => {
    const queries = makeQueryQueue();
    queries.addOwn('extended cursor');
    expect(queries.takePasted('extended cursor')).toBeDefined();
    expect(queries.takePasted('extended cursor')).toBeUndefined();
  });

  it('that look like a key do not keep a later one from the wrapper once a later question is answered', () => {
    const queries = makeQueryQueue();
    queries.addChild('cursor');
    queries.noteLookalike('cursor');
    expect(queries.isChildWaiting('cursor')).toBe(true);
    queries.addOwn('status');
    queries.addOwn('cursor');
    queries.takeAnswer('status');
    expect(owners(queries, 'cursor', 2)).toEqual(['ours', 'child']);
  });

  it('keep their order when a key comes that looks like one', () => {
    const queries = makeQueryQueue();
    queries.addChild('cursor');
    queries.noteLookalike('cursor');
    queries.addOwn('cursor');
    expect(owners(queries, 'cursor', 2)).toEqual(['child', 'ours']);
  });

  it('that look like a key are the child’s where its cursor is in row 1', () => {
    const queries = makeQueryQueue();
    queries.addChild('cursor', true);
    queries.addOwn('cursor');
    queries.noteLookalike('cursor');
    expect(owners(queries, 'cursor', 2)).toEqual(['ours', 'ours']);
  });

  it('are no longer expected when one to a later query is there, or after a minute', () => {
    let now = 0;
    const queries = makeQueryQueue(() => now);
    const settled: number[] = [];
    queries.addOwn('background');
    queries.addOwn('status');
    queries.onceAnswered(() => settled.push(now));
    now = 59_000;
    expect(queries.isOwnAnswerExpected()).toBe(true);
    queries.takeAnswer('status');
    expect(queries.isOwnAnswerExpected()).toBe(false);
    expect(settled).toEqual([59_000]);
    queries.addOwn('extended cursor');
    now = 120_000;
    expect(queries.isOwnAnswerExpected()).toBe(false);
  });

  it('that never come do not make the queue grow without limit', () => {
    const queries = makeQueryQueue();
    for (let count = 0; count < 1000; count += 1) queries.addOwn('cursor');
    queries.addChild('cursor');
    expect(owners(queries, 'cursor', 100).indexOf('child')).toBeLessThan(100);
  });

  it('are assigned correctly after thousands of queries of the child', () => {
    const queries = makeQueryQueue();
    for (let count = 0; count < 3000; count += 1) queries.addChild('cursor');
    queries.addOwn('cursor');
    expect(owners(queries, 'cursor', 3001).indexOf('ours')).toBe(3000);
  });
});
