// What a compaction has forgotten reaches the agent without its prompt: by a file that a hook takes, with the hook's real command in a real shell.
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeCommand } from '../../src/agents/claude/hooks.js';
import { agents } from '../../src/agents/index.js';
import type { RecapLine } from '../../src/core/conversation/recap.js';
import type { Event } from '../../src/core/event.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeContextWay, type ContextWay } from '../../src/typing/context-way.js';
import { makeGiveBack } from '../../src/typing/give-back.js';
import { eventually } from '../support/eventually.js';
import { openSessionLoop, type RestingSession } from '../support/session-loop.js';
import { makeAgent } from '../support/typed-agent.js';

let folder: string;
let path: string;
let loop: RestingSession;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ctxwrap-it's-context-"));
  path = join(folder, '1-a.context.json');
  loop = openSessionLoop('s');
});
afterEach(() => {
  loop.stop();
  rmSync(folder, { recursive: true, force: true });
});

const openWay = (): ContextWay => {
  const session = { agent: agents.claude, contextPath: path, env: {}, log: nullLog };
  const way = makeContextWay({ session, childPid: process.pid, flow: loop.flow, port: makeAgent().port });
  if (!way) throw new Error('no way');
  return way;
};

/** The session file has the record of the text. */
const recorded = (text: string, at = Date.now()): Event => ({ type: 'context-added', at, text });
/** A hook of the user's own has blocked the message. */
const refused = (at = Date.now()): Event => ({ type: 'message-refused', at });

/** The agent runs the hook for a message of the user's. */
const takes = (session_id = 's', prompt = 'go on') => {
  const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', takeCommand(path)], {
    encoding: 'utf8',
    input: JSON.stringify({ session_id, hook_event_name: 'UserPromptSubmit', prompt }),
  });
  return { stdout, stderr, status };
};
const NOTHING = { stdout: '', stderr: '', status: 0 };
const added = (additionalContext: string) => ({
  hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext },
});

describe('text that a hook takes with the next message', () => {
  it('is taken once, word for word, and leaves nothing behind', async () => {
    expect(takes()).toEqual(NOTHING);
    expect(await openWay().send('Never "push".\nÄ 名', {})).toMatchObject({ kind: 'waiting' });
    expect(readdirSync(folder)).toEqual(['1-a.context.json']);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    const { stdout, ...rest } = takes();
    expect(JSON.parse(stdout)).toEqual(added('Never "push".\nÄ 名'));
    expect(rest).toEqual({ stderr: '', status: 0 });
    expect(readdirSync(folder)).toEqual([]);
    expect(takes()).toEqual(NOTHING);
  });

  it('goes to no other conversation, whatever the user types there', async () => {
    await openWay().send('one', {});
    expect(takes('other')).toEqual(NOTHING);
    expect(takes('other', '"session_id":"s"')).toEqual(NOTHING);
    expect(takes('')).toEqual(NOTHING);
    expect(JSON.parse(takes('s').stdout)).toEqual(added('one'));
  });

  it('is expected again after a refusal until the session file has its record, and not that of another one', async () => {
    const way = openWay();
    await way.send('one', {});
    takes();
    way.noteEvent(recorded('one', 1)); // of an earlier giving
    way.noteEvent(recorded('two'));
    way.noteEvent(refused());
    await eventually(() => expect(way.isWaiting('one')).toBe(true));
    takes();
    way.noteEvent(recorded('one'));
    way.noteEvent(refused());
    expect(takes()).toEqual(NOTHING);
  });

  it('is known by its own words, and not by the file: what was taken before does not wait with another text', async () => {
    const way = openWay();
    await way.send('one', {});
    expect(way.isWaiting('one')).toBe(true);
    takes();
    await way.send('two', {});
    expect([way.isWaiting('one'), way.isWaiting('two')]).toEqual([false, true]);
  });

  it('does not come back after a refusal where it will not reach the agent any more', async () => {
    const way = openWay();
    await way.send('one', {});
    takes();
    way.forget('one');
    await way.send('two', {});
    way.forget('two'); // it was not taken
    way.noteEvent(refused());
    expect(JSON.parse(takes().stdout)).toEqual(added('two'));
  });

  it('goes with the next message where a hook of the user has blocked the one that took it', async () => {
    const way = openWay();
    await way.send('one', {});
    way.noteEvent(refused(1)); // long ago
    takes();
    expect(way.isWaiting('one')).toBe(false);
    way.noteEvent(refused());
    await eventually(() => expect(way.isWaiting('one')).toBe(true));
    expect(JSON.parse(takes().stdout)).toEqual(added('one'));
    way.noteEvent(recorded('one'));
    way.noteEvent(refused());
    expect(takes()).toEqual(NOTHING); // the agent has it
  });

  it('does not go with the next message where it was withdrawn after it was taken', async () => {
    const way = openWay();
    await way.send('one', {});
    takes();
    way.withdraw();
    way.noteEvent(refused());
    await way.send('two', {}); // writes after what was begun before
    expect(JSON.parse(takes().stdout)).toEqual(added('two'));
  });

  it('joins a text that was not read yet, and no text that was', async () => {
    const way = openWay();
    await way.send('one', {});
    await way.send('two', {});
    expect(JSON.parse(takes().stdout)).toEqual(added('one\n\ntwo'));
    await way.send('three', {});
    expect(JSON.parse(takes().stdout)).toEqual(added('three'));
  });

  it('does not go when it is withdrawn, also while it is being written', async () => {
    const way = openWay();
    await way.send('one', {});
    way.withdraw();
    expect(takes()).toEqual(NOTHING);
    const sending = way.send('two', {});
    way.withdraw();
    expect(await sending).toMatchObject({ kind: 'refused' });
    expect(takes()).toEqual(NOTHING);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is refused where the model would not get the whole of it', async () => {
    const way = openWay();
    expect(await way.send('x'.repeat(10_000), {})).toMatchObject({ kind: 'waiting' });
    const reason = '10003 characters are too many for one message';
    expect(await way.send('x', {})).toEqual({ kind: 'refused', reason });
    expect(JSON.parse(takes().stdout)).toEqual(added('x'.repeat(10_000)));
  });
});

describe('lines of the recap', () => {
  const line: RecapLine = { kind: 'constraint', text: 'Never push to main.', isKept: false, line: 1 };
  const KEY = 'constraint Never push to main.';
  const open = () => {
    const told: Event[] = [];
    const drafts: string[] = [];
    const outcomes: string[] = [];
    const way = openWay();
    const give = makeGiveBack({
      context: way,
      onGiven: ({ outcome }) => outcomes.push(outcome),
      onEvent: (event) => told.push(event),
      putDraft: async (text) => {
        drafts.push(text());
        return { kind: 'drafted' };
      },
      escape: (text) => text.replaceAll('p', '\\p'),
    });
    const texts = () => told.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    return { give, way, drafts, texts, outcomes };
  };

  it('go next until the session file has them, and are no draft', async () => {
    const { give, drafts, texts, outcomes } = open();
    expect(await give.lines([line], { isUnreadable: false, notUnderstood: [] }, {})).toEqual({
      kind: 'given',
      words: '1 line given back with your next message',
    });
    expect(give.texts.given.get(KEY)).toBe('waiting');
    expect(texts()).toEqual(['1 line given back with your next message']);
    const { hookSpecificOutput } = JSON.parse(takes().stdout);
    expect(hookSpecificOutput.additionalContext).toContain('- Never push to main.');
    expect(give.texts.given.get(KEY)).toBe('waiting');
    give.settle(new Set(), false);
    expect(give.texts.given.get(KEY)).toBe('waiting');
    give.settle(new Set([KEY]), false);
    expect([give.texts.given.size, give.texts.isOpen(), outcomes]).toEqual([0, false, ['waiting', 'sent']]); // the file says it
    expect(drafts).toEqual([]);
    give.stop();
  });

  it('still go where the conversation is compacted before the next message, and are not sent twice', async () => {
    const { give, texts } = open();
    const around = { isUnreadable: false, notUnderstood: [] };
    await give.lines([line], around, {});
    give.compacted();
    expect([give.texts.waiting(), give.texts.given.get(KEY)]).toEqual([[line], 'waiting']);
    expect(await give.lines([line], around, {})).toMatchObject({ kind: 'refused' });
    expect(texts().at(-1)).toBe('recall: it is already waiting for your next message');
    const { stdout } = takes();
    expect(stdout.split('Never push to main.')).toHaveLength(2);
    give.settle(new Set([KEY]), false);
    expect(give.texts.given.size).toBe(0);
    give.stop();
  });

  it('do not go into another conversation, and the footer and the audit log say so', async () => {
    const { give, texts, outcomes } = open();
    await give.lines([line], { isUnreadable: false, notUnderstood: [] }, {});
    give.reset();
    expect(takes()).toEqual(NOTHING);
    expect(give.texts.given.size).toBe(0);
    expect(texts().at(-1)).toBe('1 line not given back: the conversation has changed meanwhile');
    expect(outcomes).toEqual(['waiting', 'withdrawn']);
    give.reset();
    expect(texts()).toHaveLength(2);
  });

  it('of a message that was taken back are forgotten again when the agent rests after it, and do not come back unasked', async () => {
    const { give, way, texts, outcomes } = open();
    const around = { isUnreadable: false };
    await give.lines([line], around, {});
    give.settle(new Set(), true); // it waits
    takes();
    give.settle(new Set(), true); // the agent has not begun to work on the message
    expect(give.texts.given.get(KEY)).toBe('waiting');
    give.texts.noteWork(true);
    give.settle(new Set(), false); // it still works
    expect(give.texts.given.get(KEY)).toBe('waiting');
    give.texts.noteWork(false);
    give.settle(new Set(), true);
    expect([give.texts.given.size, outcomes]).toEqual([0, ['waiting', 'lost']]);
    expect(texts().at(-1)).toBe('1 line not given back: the message was taken back');
    const other = { ...line, text: 'Always lint.' };
    await give.lines([other], around, {});
    expect(JSON.parse(takes().stdout).hookSpecificOutput.additionalContext).not.toContain('push');
    way.noteEvent(refused());
    await eventually(() => expect(give.texts.waiting()).toEqual([other]));
    expect(JSON.parse(takes().stdout).hookSpecificOutput.additionalContext).not.toContain('push');
    expect(await give.lines([line], around, {})).toMatchObject({ kind: 'given' }); // chosen again
    expect(takes().stdout.split('Never push to main.')).toHaveLength(2);
  });

  it('that wait can be taken back, also after another compaction, and are forgotten again', async () => {
    const { give, outcomes } = open();
    await give.lines([line], { isUnreadable: false }, {});
    give.compacted();
    expect(give.takeBack()).toBe(1);
    expect([give.texts.waiting(), give.texts.given.size, give.texts.isOpen()]).toEqual([[], 0, false]);
    expect(takes()).toEqual(NOTHING);
    expect(outcomes).toEqual(['waiting', 'withdrawn']);
    expect(give.takeBack()).toBe(0);
    expect(await give.lines([line], { isUnreadable: false }, {})).toMatchObject({ kind: 'given' }); // chosen again
  });

  it('that a message has taken are not taken back: they go again where a hook of the user has blocked it', async () => {
    const { give, way, outcomes } = open();
    await give.lines([line], { isUnreadable: false }, {});
    takes();
    expect([give.takeBack(), outcomes]).toEqual([0, ['waiting']]);
    way.noteEvent(refused());
    await eventually(() => expect(give.texts.waiting()).toEqual([line]));
  });

  it('that wait are no draft as well', async () => {
    const { give, drafts, texts } = open();
    const other = { ...line, text: 'Always lint.' };
    await give.lines([line], { isUnreadable: false }, {});
    expect(await give.lines([line], { isUnreadable: false }, {}, 'draft')).toMatchObject({ kind: 'refused' });
    expect(texts().at(-1)).toBe('recall: it is already waiting for your next message');
    await give.lines([line, other], { isUnreadable: false }, {}, 'draft');
    expect(drafts).toEqual([expect.stringContaining('- Always lint.')]);
    expect(drafts[0]).not.toContain('ush to main');
  });

  it('are a draft where the way is gone, and the notice and the page say so', async () => {
    const { give, drafts, texts } = open();
    expect(give.way()).toBe('with your next message');
    rmSync(folder, { recursive: true });
    const around = { isUnreadable: false };
    expect(await give.lines([line], around, {})).toEqual({ kind: 'drafted' });
    expect(drafts).toEqual([expect.stringContaining('- Never \\push to main.')]);
    expect(texts()).toEqual([
      expect.stringMatching(/^recall: not with your next message, .+: as a draft in your prompt instead$/),
    ]);
    expect([give.texts.given.get(KEY), give.way()]).toEqual(['drafted', 'as a draft in your prompt']);
    expect(await give.lines([line], around, {}, 'context')).toMatchObject({ kind: 'refused' }); // with the reason
    expect(texts().at(-1)).not.toContain('as a draft');
    give.reset();
    expect(give.way()).toBe('with your next message');
  });

  it('are marked only as far as they had room, and the notice counts the others', async () => {
    const { give, way, texts } = open();
    const lines = Array.from({ length: 60 }, (_, index) => ({
      ...line,
      text: `Never ${index} ${'x'.repeat(90)}.`,
    }));
    await give.lines(lines, { isUnreadable: false }, {});
    const text = JSON.parse(takes().stdout).hookSpecificOutput.additionalContext as string;
    const there = lines.filter(({ text: own }) => text.includes(own));
    expect(there.length).toBeLessThan(60);
    expect([...give.texts.given.keys()]).toEqual(there.map(({ text: own }) => `constraint ${own}`));
    expect(texts()).toEqual([
      `${there.length} lines given back with your next message; ${60 - there.length} had no room`,
    ]);
    way.withdraw();
    give.reset();
    rmSync(folder, { recursive: true });
    await give.lines(lines, { isUnreadable: false }, {}); // now as a draft
    expect([...give.texts.given.values()].filter((fate) => fate === 'drafted')).toHaveLength(
      give.texts.given.size,
    );
    expect(give.texts.given.size).toBeLessThan(60);
  });

  it('that were taken by a message of which nothing is known can be given once more', async () => {
    const { give } = open();
    await give.lines([line], { isUnreadable: false }, {});
    expect(await give.lines([line], { isUnreadable: false }, {})).toMatchObject({ kind: 'refused' });
    takes();
    expect(await give.lines([line], { isUnreadable: false }, {})).toMatchObject({ kind: 'given' });
  });
});
