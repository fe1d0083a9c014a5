import { describe, expect, it } from 'vitest';
import { opencodeChannel } from '../../src/agents/opencode/channel.js';
import {
  ANSWER_ROW,
  answeredMessages,
  ASKING_ID,
  aSession,
  COMPACTION_ROW,
  compactedMessages,
  openCodeShows,
  reverted,
  SESSION_ID,
} from '../support/opencode-server.js';

const launch = { args: ['--model', 'lab/lab-model'], env: {}, port: 4_300, password: 'secret' };

describe("opencode's server", () => {
  it('is opened on this machine only, behind a password that no option shows', () => {
    const plan = opencodeChannel.plan(launch);
    expect(plan).toEqual({
      kind: 'open',
      args: ['--port', '4300', '--hostname', '127.0.0.1', '--model', 'lab/lab-model'],
      env: { OPENCODE_SERVER_PASSWORD: 'secret' },
    });
  });

  it.each([
    ['--port', { args: ['--port', '9000'] }],
    ['--hostname', { args: ['--hostname=0.0.0.0'] }],
    ['--mdns', { args: ['--mdns'] }],
    ['a password', { env: { OPENCODE_SERVER_PASSWORD: 'mine' } }],
    ['a user', { env: { OPENCODE_SERVER_USERNAME: 'me' } }],
    ['attach', { args: ['attach', 'http://127.0.0.1:9000'] }],
  ])('is left to the user who starts opencode with %s', (_, change) => {
    expect(opencodeChannel.plan({ ...launch, ...change })).toMatchObject({ kind: 'leave' });
  });

  it.each([
    ['nothing is at work', {}, 'resting'],
    ['a session is at work', { ses_1: { type: 'busy' } }, 'busy'],
    ['a session waits between two requests', { ses_1: { type: 'idle' }, ses_2: { type: 'retry' } }, 'busy'],
    ['a session is in a state of a later version', { ses_1: 'paused' }, 'busy'],
    ['the answer has another form', 'busy', undefined],
  ])('says whether %s', (_, answer, expected) => {
    expect(opencodeChannel.stateIn(answer, undefined)).toBe(expected);
  });

  it.each([
    [true, true],
    [false, false],
    [{ name: 'NotFoundError' }, false],
    [undefined, false],
  ])('has taken the command when it answers true, not %j', (answer, expected) => {
    expect(opencodeChannel.isTaken(answer)).toBe(expected);
  });
});

describe("the undo by opencode's server", () => {
  const { undo } = opencodeChannel;
  const find = async (answers: readonly unknown[], ...rows: readonly string[]) =>
    undo?.find({ answers, seen: await openCodeShows(...rows), compactedAt: undefined });
  const refusal = (text: string) => ({ refusal: expect.stringContaining(text) as unknown });

  it('takes back the message that asks for a compaction, where its summary is the last that was said and shown', async () => {
    expect(await find([aSession(), compactedMessages()], ANSWER_ROW, '', COMPACTION_ROW)).toEqual({
      id: ASKING_ID,
    });
    expect(undo?.looks(SESSION_ID).map(({ path }) => path)).toEqual([
      `/session/${SESSION_ID}`,
      `/session/${SESSION_ID}/message?limit=8`,
    ]);
    expect(undo?.undo(SESSION_ID, ASKING_ID)).toEqual({
      method: 'POST',
      path: `/session/${SESSION_ID}/revert`,
      body: { messageID: ASKING_ID },
    });
  });

  it.each([
    ['something was said since', answeredMessages],
    ['the summary is not complete', compactedMessages({ finish: undefined })],
    ['the compaction has failed', compactedMessages({ error: { name: 'APIError' } })],
    ['the last answer is no summary', compactedMessages({ summary: false })],
    ['the summary belongs to another message', compactedMessages({ parentID: 'msg_other' })],
    ['there is one message only', compactedMessages().slice(1)],
    ['nothing was said', []],
    ['the messages are of another kind', [1, 'x']],
  ])('takes nothing back where %s', async (_, messages) => {
    expect(await find([aSession(), messages], COMPACTION_ROW)).toEqual(refusal('/undo'));
  });

  it('takes nothing back where the user has done so already: the point would move', async () => {
    expect(await find([reverted, compactedMessages()], COMPACTION_ROW)).toEqual(refusal('/redo'));
  });

  it('takes nothing back in a session that is not the one on the screen', async () => {
    const answers = [aSession(), compactedMessages()];
    for (const rows of [[COMPACTION_ROW, '', ANSWER_ROW], []])
      expect(await find(answers, ...rows)).toEqual(refusal('the screen'));
    expect(undo?.find({ answers, seen: undefined, compactedAt: undefined })).toEqual(refusal('the screen'));
  });

  it.each([[[]], [['x', []]], [[aSession(), 'x']], [[null, null]]])(
    'does not understand %j',
    async (answers) => {
      expect(await find(answers, COMPACTION_ROW)).toBeUndefined();
    },
  );

  it.each<[unknown, boolean]>([
    [reverted, true],
    [aSession(), false],
    [aSession({ revert: { messageID: 'msg_other' } }), false],
    [true, false],
  ])('has worked when the session says so, not by %j', (answer, expected) => {
    expect(undo?.isUndone(answer, ASKING_ID)).toBe(expected);
  });
});
