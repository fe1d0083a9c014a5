// What a running session does for the user besides compacting: once for each press of a key, withdrawn by the next, and told in the footer.
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { itemKey } from '../../src/core/conversation/conversation-evidence.js';
import type { Given } from '../../src/core/conversation/recap.js';
import type { RecapState } from '../../src/typing/receipts.js';
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { Event } from '../../src/core/event.js';
import type { Activity } from '../../src/core/reading.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeAgentActions, type AgentActions } from '../../src/typing/agent-actions.js';
import type { WrapSession } from '../../src/session/options.js';
import { runningSource } from '../../src/session-files/session-sources.js';
import { makeSessionLoop } from '../../src/worker/session-loop.js';
import { actionContext } from '../support/action-context.js';
import { compacted, inSession } from '../support/sessions.js';
import { fixture } from '../support/stored-sessions.js';
import { makeAgent } from '../support/typed-agent.js';
import type { SessionLoop } from '../../src/session/ports.js';

const WAIT = { timeout: 30_000, interval: 20 };
/** In several pastes, so that the agent folds none of them. */
const BRIEF =
  /^\x1b\[200~The summary of our conversation (?:[^\x1b]*\x1b\[201~\x1b\[200~)*[^\x1b]*\x1b\[201~$/;

let folder: string;
let loop: SessionLoop;
let agent: ReturnType<typeof makeAgent>;
let actions: AgentActions;
let told: string[];
const begin = (more: Partial<WrapSession> = {}): void => {
  const path = join(folder, 'the-old.jsonl');
  copyFileSync(fixture('claude/session-with-compaction.jsonl'), path);
  told = [];
  const session = {
    agent: agents.claude,
    file: '/usr/bin/claude',
    env: {},
    cwd: folder,
    log: nullLog,
    values: defaultValues,
    ...more,
  } as unknown as WrapSession;
  loop = makeSessionLoop(
    session,
    { mode: 'auto', command: '/compact', startMs: 5_000, finishMs: 120_000, isProactive: false },
    { onView: () => undefined },
  );
  const take = (event: Event): void => {
    if (event.type === 'notice') told.push(event.text);
    actions?.noteEvent(event);
    loop.take(event);
  };
  agent = makeAgent();
  actions = makeAgentActions(
    actionContext({
      session,
      port: agent.port,
      flow: loop.flow,
      take,
      sessionFile: () => path,
      source: () => runningSource(agents.claude, { env: {}, home: folder, cwd: folder }, { path }),
    }),
  );
  becomes('busy');
  happens(inSession('the-old'));
};
const end = (): void => {
  actions.stop();
  loop.stop();
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-actions-'));
  begin();
});
afterEach(() => {
  end();
  rmSync(folder, { recursive: true });
});

/** The user has said this before the compaction. */
const said = (text: string): void => {
  const path = join(folder, 'the-old.jsonl');
  const lines = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    lines.replace('"content":"hello two"', () => `"content":"${text}"`),
  );
};
const RULES = 'Never push to main. The tests are slow today. Always run the linter first.';

const becomes = (activity: Activity): void =>
  loop.take({ type: 'activity', report: { activity, witnesses: [] } });

const happens = (event: Event): void => {
  actions.noteEvent(event);
  loop.take(event);
};

const says = (text: string): Promise<void> => vi.waitFor(() => expect(told).toContain(text), WAIT);

/** The user's message behind the last record of the session file. */
const sentAfter = (text: string): object => {
  const records = readFileSync(join(folder, 'the-old.jsonl'), 'utf8').trim().split('\n');
  const last = records.map((line) => JSON.parse(line) as { uuid?: string }).findLast(({ uuid }) => uuid);
  const message = { role: 'user', content: text };
  return { type: 'user', uuid: 'sent', parentUuid: last?.uuid, sessionId: 'the-old', message };
};

const rests = async (): Promise<void> => {
  becomes('ready');
  await vi.waitFor(
    () => expect(loop.flow().now - loop.flow().session.activitySince).toBeGreaterThan(2_500),
    WAIT,
  );
};

/** As a user sends a draft with this rule. */
const givenBack = (rule: string): string =>
  `The summary of our conversation left this out:\n\nWhat I asked for:\n- ${rule}\n\nAll of this still holds.`;

const recapOf = (from: AgentActions): Promise<Extract<RecapState, { readonly at: number }>> => {
  from.lookAtRecap();
  return vi.waitFor(() => {
    const state = from.recap();
    if ('reason' in state) throw new Error(state.reason);
    return state;
  }, WAIT);
};
/** What has become of the rules. */
const fates = async (): Promise<Readonly<Record<string, Given | undefined>>> => {
  const { recap } = await recapOf(actions);
  const rules = recap.lines.filter(({ kind }) => kind === 'constraint');
  return Object.fromEntries(rules.map((line) => [itemKey(line), line.given]));
};

describe.sequential('the key for undo', () => {
  it('says what it waits for; pressed again it withdraws the undo, and no new session is left', async () => {
    actions.pressUndo();
    await says('undo waiting: the agent is busy');
    expect(readdirSync(folder)).toHaveLength(2);
    becomes('dialog');
    await says('undo waiting: a dialog is open');
    actions.pressUndo();
    await says('undo withdrawn');
    await vi.waitFor(() => expect(readdirSync(folder)).toEqual(['the-old.jsonl']), WAIT);
    expect(agent.state.written).toEqual([]);
  });

  it('undoes nothing in a conversation that the user has begun meanwhile', async () => {
    actions.pressUndo();
    await says('undo waiting: the agent is busy');
    happens(inSession('another'));
    await rests();
    await says('not undone: the agent is in another conversation');
    expect(readdirSync(folder)).toEqual(['the-old.jsonl']);
    expect(agent.state.written).toEqual([]);
  });

  it('is too late once the command is typed, and says one thing after the other that fit', async () => {
    agent.state.onWrite = (keys) => {
      actions.pressUndo();
      const id = agent.state.text.replace('/resume ', '');
      if (keys === '\r') happens(inSession(id));
    };
    becomes('ready');
    actions.pressUndo();
    await says('compaction undone: your 3 messages are back');
    expect(told).toContain('undo: too late to withdraw it');
    expect(told).not.toContain('undo withdrawn');
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('names the command to type where the agent does not show the conversation', async () => {
    agent.state.onWrite = (keys) => {
      if (keys === '\r') setImmediate(actions.stop);
    };
    becomes('ready');
    actions.pressUndo();
    await vi.waitFor(
      () => expect(told.at(-1)).toMatch(/^undo not confirmed · by hand: \/resume [0-9a-f-]{36}$/),
      WAIT,
    );
    expect(readdirSync(folder)).toHaveLength(2); // the agent may have it
  });
});

describe.sequential('the key for the recall', () => {
  it('says what it waits for, and is withdrawn by the next press', async () => {
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    actions.pressRecall();
    await says('recall withdrawn');
    await rests();
    expect(agent.state.written).toEqual([]);
  });

  it('goes on waiting where nothing is chosen in the recap meanwhile', async () => {
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    actions.giveBack({ at: 0, keys: [] });
    await says('recall: nothing is chosen');
    becomes('ready');
    await says('draft in the prompt, not sent');
    expect(agent.state.written).toEqual([expect.stringMatching(BRIEF)]);
  });

  it('pastes one brief, however many were asked for at the same time', async () => {
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    const other = actions.brief();
    expect(await other).toEqual({ kind: 'refused', reason: 'another draft is already waiting' });
    becomes('ready');
    await says('draft in the prompt, not sent');
    agent.state.text = ''; // the user sends it
    await rests();
    expect(agent.state.written).toEqual([expect.stringMatching(BRIEF)]);
    expect(agent.state.submitted).toEqual([]);
  });

  it('pastes no second draft of lines that the user has sent with the first while it waited', async () => {
    becomes('ready');
    actions.pressRecall();
    await says('draft in the prompt, not sent');
    const draft = agent.state.text;
    expect(draft).toContain('The summary of our conversation left this out:');
    agent.state.text = '';
    becomes('busy');
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    appendFileSync(join(folder, 'the-old.jsonl'), `${JSON.stringify(sentAfter(draft))}\n`);
    await rests();
    await says('no draft: it was sent meanwhile');
    expect(agent.state.written).toEqual([expect.stringMatching(BRIEF)]);
  });

  it('pastes of a draft of which a part was sent while it waited only the rest', async () => {
    said(RULES);
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    appendFileSync(
      join(folder, 'the-old.jsonl'),
      `${JSON.stringify(sentAfter(givenBack('Never push to main.')))}\n`,
    );
    await rests();
    await says('draft in the prompt, not sent');
    expect(agent.state.text).toContain('- Always run the linter first.');
    expect(agent.state.text).not.toContain('Never push to main.');
  });

  it('marks in the recap which lines wait, and only as long as they do', async () => {
    said(RULES);
    const { at } = await recapOf(actions);
    const key = 'constraint Never push to main.';
    actions.giveBack({ at, keys: [key] });
    await says('recall waiting: the agent is busy');
    expect(await fates()).toEqual({ 'constraint Always run the linter first.': undefined, [key]: 'asked' });
    actions.takeBackRecall();
    await vi.waitFor(async () => expect((await fates())[key]).toBeUndefined(), WAIT);
    expect(actions.isRecallWaiting()).toBe(false);
  });

  it('is taken back with the lines that go with the next message, and the answer names both', async () => {
    end();
    begin({ contextPath: join(folder, 'context.json') });
    said(RULES);
    const { at } = await recapOf(actions);
    actions.giveBack({ at, keys: ['constraint Never push to main.'] });
    await says('1 line given back with your next message');
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    actions.takeBackRecall();
    await says('1 line taken back; recall withdrawn');
    expect(told).not.toContain('recall withdrawn');
    await vi.waitFor(() => expect(actions.isRecallWaiting()).toBe(false), WAIT);
  });

  it('is taken back in the recap while it waits, and nothing waits then', async () => {
    expect(actions.isRecallWaiting()).toBe(false);
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    expect(actions.isRecallWaiting()).toBe(true);
    actions.takeBackRecall();
    await says('recall withdrawn');
    await vi.waitFor(() => expect(actions.isRecallWaiting()).toBe(false), WAIT);
    actions.takeBackRecall();
    await says('recall: nothing waits');
    await rests();
    expect(agent.state.written).toEqual([]);
  });

  it('is too late once the draft is pasted', async () => {
    agent.state.onWrite = () => actions.pressRecall();
    becomes('ready');
    actions.pressRecall();
    await says('draft in the prompt, not sent');
    expect(told).toContain('recall: too late to withdraw it');
    expect(told).not.toContain('recall withdrawn');
  });

  it.each([
    ['another conversation', inSession('another')],
    ['another compaction', compacted('log')],
  ])('pastes nothing after %s, which it is not about', async (_, event) => {
    actions.pressRecall();
    await says('recall waiting: the agent is busy');
    happens(event);
    becomes('ready');
    await says('no draft: the conversation has changed meanwhile');
    expect(agent.state.written).toEqual([]);
  });
});
