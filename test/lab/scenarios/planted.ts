// What each agent's own compaction keeps of 200 turns with planted facts, beside its summary: the table in docs/internals/strategies.md.
import { setTimeout as pause } from 'node:timers/promises';
import { isRecord, parseRecord } from '../../../src/core/json.js';
import { assertThat } from '../../../src/verify/checks.js';
import { readWholeConversation } from '../../../src/session-files/read-conversation.js';
import { writeSession } from '../../../src/session-files/write-session.js';
import { plantedConversation, plantedFactsIn } from '../../support/planted-turns.js';
import { definitionOf } from '../agents/agent.js';
import { HARD, QUICK_SUMMARY_MS, LITTLE, type LabSession, type Scenario } from './scenario.js';
import { leave, ownFile, submitIn, talk } from './steps.js';

/** The session with 200 turns, beside the one in this file. */
const writePlanted = async (session: LabSession, path: string): Promise<readonly string[]> => {
  const agent = definitionOf(session.agent);
  const form = agent?.newSessions;
  const own = agent && (await readWholeConversation({ agent, path }));
  const as = {
    id: crypto.randomUUID(),
    cwd: session.project,
    now: Date.now(),
    newUuid: () => crypto.randomUUID(),
  };
  const lines = own && form?.write({ ...plantedConversation(), head: own.head }, as);
  if (!form || !lines || !agent?.resumeArgs)
    throw new Error(`no session of ${session.agent.name} can be written`);
  return agent.resumeArgs({ id: as.id, path: await writeSession(path, form, as, lines) });
};

/** All texts in a request. */
const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isRecord(value) ? Object.values(value).flatMap(textsIn) : [];
};

/** What is left of the messages in a request, in each API's form. */
const messagesIn = (request: string): string => {
  const body = parseRecord(request);
  return ['messages', 'input', 'contents'].flatMap((name) => textsIn(body?.[name])).join('\n');
};

const ownCompaction: Scenario = {
  name: 'what its own compaction keeps',
  expects: '200 turns with planted facts, compacted by the agent with a summary that names none of them',
  summaryMs: QUICK_SUMMARY_MS,
  isFor: ({ name }) => name !== 'generic',
  play: async (session) => {
    const { agent, mock, terminal, summaryCount } = session;
    await session.turn(LITTLE);
    const args = await writePlanted(session, await ownFile(session));
    await leave(session, terminal);
    mock.configure({ turn: { usedTokens: HARD, text: 'so it is' } }); // about what 200 turns have
    const resumed = await talk(session, 'are you the same', args, /Part 199/);
    const sent = messagesIn(mock.lastTurn());
    assertThat(sent.includes('setting_0.') && sent.includes('setting_199'), 'the 200 turns are not resumed');
    const before = summaryCount();
    await submitIn(resumed, agent.compact);
    await resumed.until(() => summaryCount() > before, 'a summary');
    await pause(2 * QUICK_SUMMARY_MS + 3_000);
    await submitIn(resumed, 'what is left of it');
    await resumed.until(
      () =>
        mock
          .requests()
          .some(
            ({ purpose, said, end }) =>
              purpose === 'turn' && said.includes('what is left of it') && end === 'answered',
          ),
      'an answer after the compaction',
    );
    const text = messagesIn(mock.lastTurn());
    const entry = { kind: 'summary' as const, text, tokens: 0, source: { line: 1_000_001 } };
    const [demands, , , names] = plantedFactsIn([entry]).split(' | ');
    return `beside the summary ${demands} demands and ${names} names`;
  },
};

export const planted: readonly Scenario[] = [ownCompaction];
