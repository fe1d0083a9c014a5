import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import type { ViewMarks } from '../../core/shown-conversation.js';
import type { ChildPlace, FilePort, Located } from '../agent.js';
import { FILE_CLOCK_LAG_MS, onlyOne } from '../files.js';
import {
  openedAt,
  rolloutsOfKind,
  type SentMessage,
  sentMessages,
  type ThreadKind,
  threadNames,
} from './threads.js';
import { SIDE_CHAT } from './view.js';

// Which thread the conversation on the screen is (docs/facts/codex-background-server.md). With the background server no process of this
// terminal has it open, so what the screen shows is compared with what Codex writes down at the same moment.

const READ_WITHIN_MS = 2_000; // a screen is read, on a busy machine
const SENT_WITHIN_MS = 2_000;
const WHOLE_SECOND_MS = 1_000; // the times of messages are cut
const MOST_CANDIDATES = 20;

/** What is known of the threads of all terminals. */
interface Written {
  readonly sent: readonly SentMessage[];
  readonly names: ReadonlyMap<string, string>;
}

/**
 * The thread in view: in which the message stands that was sent here, or which was opened just before the screen showed it, or which has
 * the name and the last message that are shown. Undefined where the evidence fits several threads.
 */
export const shownThread = async (port: FilePort, place: ChildPlace): Promise<Located | undefined> => {
  const { view, currentPath } = place;
  if (view?.shows !== 'conversation') return undefined;
  const sent = await sentMessages(port, place);
  const threadsOf = (ids: readonly string[]): Promise<readonly Located[]> => findAll(port, place, view, ids);
  const here = sentHere(place, view, sent);
  if (here.length > 0) return onlyOne(await threadsOf(here));
  if (currentPath !== undefined) return undefined; // it was found when this view began
  const written: Written = { sent, names: await threadNames(port, place) };
  const fitting = ({ sessionId }: Located): Fit => fits(sessionId, view, written);
  const opened = (await threadsOf(await openedForView(port, place))).filter(
    (thread) => fitting(thread) !== 'not' && (thread.path !== undefined || view.messages.length === 0),
  );
  if (opened.length === 0) return onlyOne(await threadsOf(namedAs(view, written)));
  return onlyOne(opened) ?? onlyOne(opened.filter((thread) => fitting(thread) === 'well'));
};

/** Those of these threads that are of the kind in view. */
const findAll = async (
  port: FilePort,
  place: ChildPlace,
  { names }: ViewMarks,
  ids: readonly string[],
): Promise<readonly Located[]> => {
  const kind: ThreadKind = names.includes(SIDE_CHAT) ? 'side chat' : 'user';
  const threads = ids.slice(0, MOST_CANDIDATES).map(async (sessionId): Promise<Located | undefined> => {
    const files = await rolloutsOfKind(port, place, sessionId, kind);
    return files && { sessionId, ...present({ path: files[0]?.path }), certain: false };
  });
  return (await Promise.all(threads)).filter((thread) => thread !== undefined);
};

/** Threads that got the message at the end of this screen when it was sent here. */
const sentHere = (
  { enteredAt, enteredSince = enteredAt, workedAt = -Infinity }: ChildPlace,
  { messages }: ViewMarks,
  sent: readonly SentMessage[],
): readonly string[] => {
  const newest = messages.at(-1);
  // the same words may have been sent before, and in another terminal now
  if (newest === undefined || enteredAt === undefined || enteredSince === undefined) return [];
  if (workedAt < enteredSince) return [];
  const isNow = ({ at }: SentMessage): boolean =>
    at > enteredSince - WHOLE_SECOND_MS && at <= enteredAt + SENT_WITHIN_MS;
  const ids = sent.filter((each) => isNow(each) && beginsWith(each.text, newest)).map(({ id }) => id);
  return [...new Set(ids)];
};

/** Threads that were opened when this view began, in any terminal: Codex opens one before it draws it. */
const openedForView = async (port: FilePort, place: ChildPlace): Promise<readonly string[]> => {
  const { startedAt, viewSince, viewedBefore = startedAt, now } = place;
  const [from, until]: readonly [Millis, Millis] =
    viewSince === undefined
      ? [startedAt, now]
      : [Math.max(viewSince - READ_WITHIN_MS, viewedBefore), viewSince + FILE_CLOCK_LAG_MS];
  const opened = await openedAt(port, place);
  return [...opened].filter(([, at]) => at >= from && at <= until).map(([id]) => id);
};

/** Threads with the name on the screen, but those whose last message is another one. */
const namedAs = (view: ViewMarks, written: Written): readonly string[] =>
  [...written.names.keys()]
    .filter((id) => isNamed(id, view, written) && fits(id, view, written) !== 'not')
    .slice(-MOST_CANDIDATES);

const isNamed = (id: string, { names }: ViewMarks, written: Written): boolean => {
  const name = written.names.get(id);
  return name !== undefined && names.includes(name);
};

type Fit = 'well' | 'perhaps' | 'not';

/** Whether the last message on the screen is the last one of the thread; `perhaps` where one of them is not known. */
const fits = (id: string, { messages }: ViewMarks, { sent }: Written): Fit => {
  const [shown, last] = [messages.at(-1), sent.findLast((each) => each.id === id)?.text];
  if (shown === undefined && last === undefined) return 'well'; // a new one
  if (shown === undefined || last === undefined) return 'perhaps';
  return beginsWith(last, shown) ? 'well' : 'not';
};

/** The screen shows the first row of a message, cut at its width. */
const beginsWith = (message: string, row: string): boolean =>
  withoutSpace(message).startsWith(withoutSpace(row));

const withoutSpace = (text: string): string => text.replaceAll(/\s/g, '');
