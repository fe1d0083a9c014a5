// The agent is asked to compact by its own control channel: no key of the wrapper's, and a draft stays in the prompt.
import type { AgentChannel } from '../../../src/agents/channel.js';
import { getText, parseRecord } from '../../../src/core/json.js';
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import { BACKSPACE, canSwitch, definitionOf, type LabAgent } from '../agents/agent.js';
import { asked } from './asked.js';
import { ending } from './ends.js';
import { growing } from './grow.js';
import { forgotten } from './recall.js';
import { LITTLE, QUICK_SUMMARY_MS, type LabSession, type Scenario } from './scenario.js';
import { waiting } from './slow.js';
import { fill, pressChord } from './steps.js';
import { asksWith } from './undo.js';

const MARK = ', by its channel';
const DRAFT = 'half a thought';
const CONFIG = '.config/ctxwrap/config.jsonc';

const channelOf = (agent: LabAgent): AgentChannel | undefined => definitionOf(agent)?.channel;

/** The audit log says of every compaction of ctxwrap's how it was asked for. */
const assertAsked = ({ audit, agent, log }: LabSession): void => {
  assertThat(!/ typing \//.test(log()), 'the command was typed');
  const ours = audit()
    .split('\n')
    .map((line) => parseRecord(line))
    .filter((line) => /^ctxwrap\.(?:attempt|switched)\/1$/.test(getText(line, 'schema') ?? ''))
    .filter((line) => getText(line, 'initiator') === 'ctxwrap');
  for (const line of ours)
    assertThat(getText(line, 'via') === channelOf(agent)?.via, 'the audit log says that keys were used');
};

/** It asks before the two seconds are over that it takes to find a thread behind a background server: then the command is typed. */
const AT_ONCE = 'asked by command';

const byChannel = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}${MARK}`,
  expects: 'the same with `"via": "channel"`: no key of ctxwrap, and the audit log says so',
  isFor: (agent) => {
    const channel = channelOf(agent);
    if (!channel || (scenario.name === AT_ONCE && channel.needsSession)) return false;
    return scenario.isFor?.(agent) ?? true;
  },
  typed: 0,
  isInBackground: true,
  files: (...given) => ({ ...scenario.files?.(...given), [CONFIG]: '{ "via": "channel" }\n' }),
  play: async (session) => {
    const evidence = await scenario.play(session);
    assertAsked(session);
    return evidence;
  },
});

const draft: Scenario = {
  name: 'draft',
  expects: '',
  play: async (session) => {
    const { terminal, mock } = session;
    await fill(session);
    await terminal.type(DRAFT);
    const line = await untilCompacted(session);
    const isThere = (): boolean => terminal.rows().some((row) => row.includes(DRAFT));
    await terminal.until(isThere, 'the draft in the prompt');
    assertThat(!mock.requests().some(({ said }) => said.includes(DRAFT)), 'the draft was sent');
    return `the draft is where it was; ${line}`;
  },
};

/** Undone in the way given, which resolves with what it says. */
const undone = (name: string, ask: (session: LabSession) => Promise<string>): Scenario => ({
  name,
  expects: '',
  summaryMs: QUICK_SUMMARY_MS,
  isFor: (agent) => channelOf(agent)?.undo !== undefined,
  play: async (session) => {
    const { terminal, mock } = session;
    await fill(session);
    const line = await untilCompacted(session);
    await terminal.type(DRAFT);
    const words = await ask(session);
    await session.untilLog(/ to undo the compaction: undone/);
    const isThere = (): boolean => terminal.rows().some((row) => row.includes(DRAFT));
    await terminal.until(isThere, 'the draft in the prompt');
    assertThat(!mock.requests().some(({ said }) => said.includes(DRAFT)), 'the draft was sent');
    await terminal.type(BACKSPACE.repeat(DRAFT.length));
    return `${await asksWith(session, [1, 2, 3])}, and the draft stayed; ${words}; ${line}`;
  },
});

const undo = undone('undo', async (session) => {
  await pressChord(session, 'u');
  await session.untilFooter(/compaction undone/);
  await session.untilFooter(/~5\dk/); // as before, until the next answer tells
  return 'the footer says so';
});

const undoByCommand = undone('undo by command', async ({ runCtxwrap }) => {
  const words = (await runCtxwrap('undo')).trim();
  assertThat(/^✓ compaction \d+ of \d+ .*undone in /.test(words), words);
  return words;
});

/** With the turn of the compaction the channel would take back the later one as well. */
const undoOfEarlier: Scenario = {
  name: `undo after another turn${MARK}`,
  expects:
    'with `"via": "channel"` after our compaction one more turn, then `ctxwrap undo`: the command is typed, and the next request has the conversation from before',
  summaryMs: QUICK_SUMMARY_MS,
  isFor: (agent) => channelOf(agent)?.undo !== undefined && canSwitch(agent),
  isInBackground: true,
  files: () => ({ [CONFIG]: '{ "via": "channel" }\n' }),
  play: async (session) => {
    const line = await fill(session).then(() => untilCompacted(session));
    await session.turn(LITTLE);
    const words = (await session.runCtxwrap('undo')).trim();
    assertThat(/^✓ compaction 1 of 1 .*undone in /.test(words), words);
    await session.untilLog(/ to undo the compaction: closed|to undo the compaction: refused/);
    await session.untilLog(/typing \/\w+ .*: sent/);
    return `${await asksWith(session, [1, 2, 3], [4])}; ${words}; ${line}`;
  },
};

const SAME: readonly string[] = [
  'idle',
  'busy',
  'permission dialog',
  'slow',
  AT_ONCE,
  'fails: 500',
  'interrupted by Esc',
];

export const channels: readonly Scenario[] = [
  ...[...growing, ...waiting, ...asked, ...ending].filter(({ name }) => SAME.includes(name)).map(byChannel),
  {
    ...byChannel(draft),
    expects: 'text in the prompt when the window is full: compacts all the same, and the text stays',
  },
  {
    ...byChannel(undo),
    expects:
      'after our compaction text in the prompt, the hotkey and u: the text stays, the next request has the whole conversation',
  },
  { ...byChannel(undoByCommand), expects: 'the same by `ctxwrap undo` in another terminal' },
  undoOfEarlier,
  { ...byChannel(forgotten), expects: 'the same into the conversation, without a message of the user' },
];
