// A long session: thirty turns in which tools run and write files, and what must be in the request after it was shortened.
import { join } from 'node:path';
import { assertThat } from '../../../src/verify/checks.js';
import { orphanIn, partsIn, type RequestPart } from '../request.js';
import { LITTLE, SOME, type LabSession } from './scenario.js';

export const TURNS = 30;
export const KEPT = 12; // messages; there is no room for all that was done in answer to them

// what an earlier task demanded must be on record afterwards
const task = (number: number): string => (number === 1 ? 'task 1, never push to main' : `task ${number}`);
const DATE = /^<current_datetime>[^<]*<\/current_datetime>\s*/; // Copilot puts it before each message
const TASK = /^task \d+(?:, never push to main)?$/;

// about 250 tokens, each different: Gemini takes an answer that repeats itself for a loop
const answer = (number: number): string => {
  const points = Array.from(
    { length: 40 },
    (_, index) => `Point ${number * 100_003 + index * 7_919} is clear.`,
  );
  return `answer ${number} begins. ${points.join(' ')} done${number}`;
};
const OWN_ANSWER = /^(?:answer \d+ begins|I do task \d+)/;

const isTurn = ({ purpose, end }: { readonly purpose: string; readonly end?: string }): boolean =>
  purpose === 'turn' && end === 'answered';

const doTask = async (session: LabSession, number: number, usedTokens: number): Promise<void> => {
  const { mock, submit, terminal, activity, project } = session;
  const answered = (): number => mock.requests().filter(isTurn).length;
  const before = answered();
  const file = { path: join(project, `file-${number}.txt`), text: `line of file ${number}` };
  mock.configure({
    turn: { usedTokens, text: answer(number) },
    next: [{ command: `echo ran ${number}`, file, text: `I do task ${number}.` }],
  });
  await submit(task(number));
  await terminal.until(() => answered() >= before + 2, `both answers to "${task(number)}"`);
  await terminal.until(() => terminal.screen().includes(`done${number}`), `answer ${number} on the screen`);
  await terminal.until(() => activity() === 'ready', `activity ready after task ${number}`);
};

/** Resolves with what the model has seen and said until then. */
export const doTasks = async (session: LabSession, usedTokens = SOME): Promise<readonly RequestPart[]> => {
  for (let number = 1; number <= TURNS; number += 1)
    await doTask(session, number, Math.round(LITTLE + ((usedTokens - LITTLE) * number) / TURNS));
  return [...lastParts(session), { kind: 'agent', text: answer(TURNS) }];
};

const lastParts = ({ mock }: LabSession): readonly RequestPart[] => {
  const api = mock.requests().findLast(({ purpose }) => purpose === 'turn')?.api ?? '';
  return partsIn(api, mock.lastTurn());
};

/** What belongs to the tasks, without ids and without what the agent itself adds. */
const ownIn = (parts: readonly RequestPart[]): readonly Omit<RequestPart, 'callId'>[] =>
  parts
    .map((part) => ({ ...part, text: part.text.replace(DATE, '') }))
    .filter(({ kind, text }) =>
      kind === 'user' ? TASK.test(text) : kind !== 'agent' || OWN_ANSWER.test(text),
    )
    .map(({ kind, text }) => ({ kind, text }));

/** The last request has the message with this task, word for word. */
export const asksWithTask = (session: LabSession, number: number): boolean =>
  ownIn(lastParts(session)).some(({ kind, text }) => kind === 'user' && text === task(number));

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The next request has exactly what stays, word for word and whole, and in place of the rest a text that matches `mark`, with its evidence. */
export const goesOnWith = async (
  session: LabSession,
  before: readonly RequestPart[],
  mark: RegExp,
): Promise<string> => {
  const { mock, submit, untilRequest } = session;
  mock.configure({ turn: { usedTokens: SOME, text: 'so it is' } });
  const question = 'what is left of it';
  await submit(question);
  await untilRequest(
    (request) => isTurn(request) && request.said.includes(question),
    'an answer after it was shortened',
  );
  const parts = lastParts(session);
  const orphan = orphanIn(parts);
  assertThat(orphan === undefined, orphan ?? '');
  const [was, is] = [ownIn(before), ownIn(parts)];
  const messages = is.filter(({ kind }) => kind === 'user').map(({ text }) => text);
  const last = Array.from({ length: KEPT }, (_, index) => task(TURNS - KEPT + 1 + index));
  assertThat(same(messages, last), `the messages in the next request are ${messages.join('; ')}`);
  const work = is.filter(({ kind }) => kind !== 'user');
  const newest = was.filter(({ kind }) => kind !== 'user').slice(-work.length);
  const wrong = work.find((part, index) => !same(part, newest[index]));
  assertThat(wrong === undefined, `not as it was: ${wrong?.kind} ${wrong?.text.slice(0, 200)}`);
  const inOrder = was.filter((part) => is.some((each) => same(each, part)));
  assertThat(same(inOrder, is), 'the messages and the work are in another order');
  const calls = work.filter(({ kind }) => kind === 'call').length;
  assertThat(calls >= 4 && calls <= TURNS, `${calls} tool calls are in the next request`);
  const text = parts.find((part) => part.kind === 'user' && mark.test(part.text))?.text ?? '';
  assertThat(text !== '', 'what replaces the rest is not in the next request');
  for (const fact of ['never push to main', 'file-1.txt'])
    assertThat(text.includes(fact), `"${fact}" is not in what replaces the rest`);
  return `the last ${KEPT} messages and ${calls} of ${2 * TURNS} tool calls, whole, and a text of ${text.length} characters for the rest`;
};
