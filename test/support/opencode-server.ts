// What opencode's server answers about a session, as recorded of 1.18.33 (without what ctxwrap does not read), and its screen then.
import { seenAfter } from './drawn-screen.js';

export const SESSION_ID = 'ses_decccaed5ffeE4vpo4m6U22eXH';
/** of the message that asks for the compaction */
export const ASKING_ID = 'msg_213336b11001mrWFsb3zfWO5Yr';

export const aSession = (change: object = {}) => ({
  id: SESSION_ID,
  title: 'MOCK-REPLY ok',
  version: '1.18.33',
  time: { created: 1795618459946, updated: 1795618467037 },
  ...change,
});

export const reverted = aSession({ revert: { messageID: ASKING_ID } });

const asking = {
  info: { role: 'user', id: ASKING_ID, sessionID: SESSION_ID },
  parts: [{ type: 'compaction', auto: false, messageID: ASKING_ID }],
};

const summary = (change: object = {}) => ({
  info: {
    role: 'assistant',
    parentID: ASKING_ID,
    mode: 'compaction',
    summary: true,
    finish: 'stop',
    id: 'msg_213336b20001IZs01Mif8RcWft',
    ...change,
  },
  parts: [{ type: 'text', text: 'the summary' }],
});

/** The last two messages after a compaction. */
export const compactedMessages = (change: object = {}) => [asking, summary(change)];

/** A message with a text of ctxwrap's, as it is answered when it is given and among the messages. */
export const givenMessage = (part: object = {}) => ({
  info: { role: 'user', id: 'msg_21333a6540010ySOg4iJkP2qdE', sessionID: SESSION_ID },
  parts: [
    { type: 'text', text: 'Never push to main.', synthetic: true, metadata: { ctxwrap: 'context' }, ...part },
  ],
});

/** The last two messages after a turn. */
export const answeredMessages = [
  {
    info: { role: 'user', id: 'msg_21333a6540010ySOg4iJkP2qdD', sessionID: SESSION_ID },
    parts: [{ type: 'text', text: 'half a thought' }],
  },
  {
    info: {
      role: 'assistant',
      parentID: 'msg_21333a6540010ySOg4iJkP2qdD',
      mode: 'build',
      finish: 'stop',
      id: 'msg_21333a6a3001B6HjUObmiVJK4K',
    },
    parts: [{ type: 'text', text: 'MOCK-REPLY ok' }],
  },
];

export const ANSWER_ROW = '     ▣  Build · Lab Model · 866ms';
export const COMPACTION_ROW = '     ▣  Compaction · Lab Model · 452ms';

const WIDTH = 100;

/** opencode at rest, with these rows above the prompt. */
export const openCodeShows = (...conversation: readonly string[]) => {
  const prompt = ['', '  half a thought', '', '  Build · Lab Model Lab'].map((text) => `  ┃${text}`);
  const bottom = [`  ╹${'▀'.repeat(WIDTH - 4)}`, '   /home/me/project      1.1K (1%)  ctrl+p commands'];
  const rows = [...conversation, '', ...prompt, ...bottom];
  return seenAfter(`\x1b]0;OC | MOCK-REPLY ok\x07\x1b[?1049h${rows.join('\r\n')}`, {
    columns: WIDTH,
    rows: 24,
  });
};
