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

  it('is read when the session file has it, and not when the hook has taken it', async () => {
    const way = openWay();
    const sent = await way.send('one', {});
    let isRead = false;
    if (sent.kind === 'waiting') void sent.read.then(() => (isRead = true));
    takes();
    way.noteEvent(recorded('one', 1)); // of an earlier giving
    way.noteEvent(recorded('two'));
    await Promise.resolve();
    expect(isRead).toBe(false);
    way.noteEvent(recorded('one'));
    await Promise.resolve();
    expect(isRead).toBe(true);
  });

  it('goes with the next message where a hook of the user has blocked the one that took it', async () => {
    const way = openWay();
    await way.send('one', {});
    way.noteEvent(refused(1)); // long ago
    takes();
    expect(way.isWaiting()).toBe(false);
    way.noteEvent(refused());
    await eventually(() => expect(way.isWaiting()).toBe(true));
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
    const way = openWay();
    const give = makeGiveBack({
      context: way,
      onEvent: (event) => told.push(event),
      putDraft: async (text) => {
        drafts.push(text);
        return { kind: 'drafted' };
      },
      escape: (text) => text.replaceAll('p', '\\p'),
    });
    const texts = () => told.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    return { give, way, drafts, texts };
  };

  it('go next until the session file has them, and are no draft', async () => {
    const { give, way, drafts, texts } = open();
    expect(await give.lines([line], { isUnreadable: false, notUnderstood: [] }, {})).toEqual({
      kind: 'given',
      words: '1 line given back with your next message',
    });
    expect(give.given.get(KEY)).toBe('waiting');
    expect(texts()).toEqual(['1 line given back with your next message']);
    const { hookSpecificOutput } = JSON.parse(takes().stdout);
    expect(hookSpecificOutput.additionalContext).toContain('- Never push to main.');
    expect(give.given.get(KEY)).toBe('waiting');
    way.noteEvent(recorded(hookSpecificOutput.additionalContext));
    await eventually(() => expect(give.given.get(KEY)).toBe('sent'));
    expect(drafts).toEqual([]);
    give.stop();
  });

  it('still go where the conversation is compacted before the next message, and are not sent twice', async () => {
    const { give, way, texts } = open();
    const around = { isUnreadable: false, notUnderstood: [] };
    await give.lines([line], around, {});
    give.compacted();
    expect(await give.lines([line], around, {})).toMatchObject({ kind: 'refused' });
    expect(texts().at(-1)).toBe('recall: it goes with your next message already');
    const { stdout } = takes();
    expect(stdout.split('Never push to main.')).toHaveLength(2);
    way.noteEvent(recorded(JSON.parse(stdout).hookSpecificOutput.additionalContext));
    await eventually(() => expect(give.given.get(KEY)).toBe('sent'));
    give.stop();
  });

  it('do not go into another conversation', async () => {
    const { give } = open();
    await give.lines([line], { isUnreadable: false, notUnderstood: [] }, {});
    give.reset();
    expect(takes()).toEqual(NOTHING);
    expect(give.given.size).toBe(0);
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
    expect([give.given.get(KEY), give.way()]).toEqual(['drafted', 'as a draft in your prompt']);
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
    expect([...give.given.keys()]).toEqual(there.map(({ text: own }) => `constraint ${own}`));
    expect(texts()).toEqual([
      `${there.length} lines given back with your next message; ${60 - there.length} had no room`,
    ]);
    way.withdraw();
    give.reset();
    rmSync(folder, { recursive: true });
    await give.lines(lines, { isUnreadable: false }, {}); // now as a draft
    expect([...give.given.values()].filter((fate) => fate === 'drafted')).toHaveLength(give.given.size);
    expect(give.given.size).toBeLessThan(60);
  });

  it('that were taken by a message of which nothing is known can be given once more', async () => {
    const { give } = open();
    await give.lines([line], { isUnreadable: false }, {});
    expect(await give.lines([line], { isUnreadable: false }, {})).toMatchObject({ kind: 'refused' });
    takes();
    expect(await give.lines([line], { isUnreadable: false }, {})).toMatchObject({ kind: 'given' });
  });
});
