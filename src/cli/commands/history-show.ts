import { spawn } from 'node:child_process';
import { jsonText, type Printable, type Styled } from '../../core/printable.js';
import { historyRecord, type RecordedCompaction } from '../../core/conversation/boundary-record.js';
import { windowOf, type Conversation, type Entry } from '../../core/conversation/conversation.js';
import { receiptText } from '../../core/conversation/receipt.js';
import { quoteForCopying } from '../../core/text.js';
import type { StoreProblem } from '../../storage/session-store.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { readLook, type Look } from '../../core/look.js';
import { readReceipt } from '../../session-files/read-receipt.js';
import { readConversationBefore } from '../../session-files/read-conversation.js';
import type { SessionSource } from '../../session-files/read-history.js';
import { longerSession, readLonger } from '../../session-files/shortened-from.js';
import { conversationMarkdown, conversationText } from '../conversation-text.js';
import { compactionMarkdown, compactionText } from '../history-text.js';
import { findTargets } from '../history-targets.js';
import * as messages from '../messages.js';
import { linesToPrint, print } from '../print.js';
import type { HistoryShowRequest } from '../define/history.js';
import { isThere, onlySession, shortIdOf } from '../session-argument.js';
import type { Outcome } from '../session.js';
import { widthOfOutput } from '../text.js';
import {
  hasCompaction,
  lastWritten,
  openSearch,
  readTargets,
  type LastWritten,
  type OneSession,
  type Search,
} from './history.js';

/** `ctxwrap history show [SESSION#N]`: one compaction, or the conversation before it. */
export const historyShow = async (request: HistoryShowRequest): Promise<Outcome> => {
  const { env, stdout } = process;
  const meant = await sessionsMeant(request.target, request.options, 'history show');
  const found = shownOf(meant);
  if (request.json) {
    await print(jsonText(historyRecord(found.session, found.compaction), 2));
    return { status: { kind: 'code', code: 0 }, notices: [] };
  }
  const { theme } = request.options.values;
  const look = readLook({ env, isTTY: stdout.isTTY, columns: widthOfOutput(), theme });
  const { lines, notices } = request.before
    ? await beforeLines(found, meant.search, { ...request, look })
    : { lines: compactionLines(found, request, look, await keptOf(found, meant.search)), notices: [] };
  await page(linesToPrint(lines));
  return { status: { kind: 'code', code: 0 }, notices: [...meant.notices, ...notices] };
};

interface Shown extends OneCompaction {
  /** `SESSION#N` */
  readonly name: string;
}

/** The compaction with the number that is given, or the last one. */
const shownOf = (meant: NamedSessions): Shown => {
  const { given, number, sessions, only } = meant;
  if (number !== undefined) return { ...compactionNamed(meant), name: given };
  const found = only(sessions);
  const compaction = found.session.compactions.at(-1);
  if (!compaction) throw messages.nothingCompacted(given);
  return { ...found, compaction, name: `${given}#${compaction.number}` };
};

const compactionLines = (
  { session, compaction, name }: Shown,
  { markdown }: HistoryShowRequest,
  look: Look,
  kept: string | undefined,
): readonly Styled[] => {
  if (markdown) return compactionMarkdown(session, compaction, kept);
  const recall = kept === undefined ? undefined : `ctxwrap recall ${quoteForCopying(name)}`;
  return compactionText(session, compaction, {
    look,
    home: homeFolder(process.env),
    isFull: true,
    kept,
    recall,
  });
};

/** How much of the evidence it has kept; undefined where that is not known. */
const keptOf = async ({ source, compaction }: OneCompaction, search: Search): Promise<string | undefined> => {
  const read = await readReceipt(source, { line: compaction.line }, longerSession(source, search));
  return read && receiptText(read.receipt);
};

/** What was in the window just before the compaction, in the order of the conversation. */
const beforeLines = async (
  { source, session, compaction, name }: Shown,
  search: Search,
  { markdown, look }: Pick<HistoryShowRequest, 'markdown'> & { readonly look: Look },
): Promise<{ readonly lines: readonly Styled[]; readonly notices: readonly string[] }> => {
  const conversation = await conversationBefore(source, compaction, search);
  if (!conversation) throw messages.unreadConversation(source.agent.name);
  const entries: readonly Entry[] = windowOf(conversation);
  const { incomplete } = conversation;
  const hasEarlier = session.compactions.some(({ number }) => number === compaction.number - 1);
  const notices = [
    ...(incomplete === undefined ? [] : [messages.incompleteConversation(incomplete)]),
    ...(hasEarlier && entries.some(({ kind }) => kind === 'summary')
      ? [messages.earlierPart(name, compaction.number)]
      : []),
  ];
  return { lines: markdown ? conversationMarkdown(entries) : conversationText(entries, look), notices };
};

/** For a session that ctxwrap has shortened itself, in the session that it is from. */
const conversationBefore = async (
  source: SessionSource,
  compaction: RecordedCompaction,
  search: Search,
): Promise<Conversation | undefined> => {
  const longer = longerSession(source, search);
  return longer?.at === compaction.at
    ? (await readLonger(longer)).whole
    : readConversationBefore(source, compaction);
};

/** A compaction in its session. */
export interface OneCompaction extends OneSession {
  readonly compaction: RecordedCompaction;
}

/** The sessions that `SESSION` or `SESSION#N` fits. */
export interface NamedSessions {
  readonly search: Search;
  readonly given: string;
  readonly number: number | undefined;
  readonly sessions: readonly OneSession[];
  /** the only one of these; throws where there are none, or several */
  readonly only: <Found extends OneSession>(found: readonly Found[]) => Found;
}

/** What is meant where the argument may be left out, with what the user is to be told of it. */
interface MeantSessions extends NamedSessions {
  readonly notices: readonly string[];
}

/** Where none is named, the session that runs is meant, or else the last one with a compaction. `command`: what the user has called. */
export const sessionsMeant = async (
  target: string | undefined,
  options: HistoryShowRequest['options'],
  command: string,
): Promise<MeantSessions> => {
  if (target !== undefined) return { ...(await sessionsNamed(target, options)), notices: [] };
  const { env } = process;
  const wrapped = await listSessions(stateFolder(env, homeFolder(env)), Date.now());
  if ((env['CTXWRAP_SESSION'] ?? '') !== '' || wrapped.some(isThere)) {
    const session = onlySession(wrapped, () => messages.noneToShow(command));
    return { ...(await sessionsNamed(shortIdOf(wrapped, session), options)), notices: [] };
  }
  const search = await openSearch(options);
  const found = await lastCompacted(search);
  const { name: given } = found;
  const sessions = [found];
  return {
    search,
    given,
    number: undefined,
    sessions,
    only: (several) => onlyOf(several, { given, sessions, problems: [] }),
    notices: [messages.lastRecorded(given, found.session.project)],
  };
};

/** The sessions with an argument that names them. */
export const sessionsNamed = async (
  given: string,
  options: HistoryShowRequest['options'],
): Promise<NamedSessions> => {
  const search = await openSearch(options);
  const { targets, skipped } = await findTargets([given], search);
  const problems = [...skipped];
  const onProblem = (problem: StoreProblem): void => void problems.push(problem);
  const number = targets[0]?.number;
  const sessions: OneSession[] = [];
  for (const { source, isWanted } of targets) {
    const read = readTargets([{ source, isWanted }], search, { full: true, chart: false, onProblem });
    for await (const { history: session } of read) sessions.push({ source, session });
  }
  return { search, given, number, sessions, only: (found) => onlyOf(found, { given, sessions, problems }) };
};

const lastCompacted = async (search: Search): Promise<LastWritten> => {
  const found = await lastWritten(search, hasCompaction);
  if (!found) throw messages.noneRecorded();
  return found;
};

interface Found extends Pick<NamedSessions, 'given' | 'sessions'> {
  readonly problems: readonly StoreProblem[];
}

const onlyOf = <One extends OneSession>(
  found: readonly One[],
  { given, sessions, problems: [problem] }: Found,
): One => {
  const [first, ...others] = found;
  if (!first && problem) throw messages.unreadableFile(problem.path, problem.reason);
  if (!first)
    throw messages.noCompaction(
      given,
      sessions
        .map(({ session: { compactions } }) => compactions.map(({ number }) => number))
        .toSorted((a, b) => b.length - a.length)[0] ?? [],
    );
  if (others.length > 0)
    throw messages.severalFiles(
      given,
      found.map(({ source, session }) => source.idInDatabase ?? session.path),
    );
  return first;
};

/** The compaction with this number. Throws when there is none, or more than one. */
export const compactionNamed = ({ number, sessions, only }: NamedSessions): OneCompaction =>
  only(
    sessions.flatMap((each) => {
      const compaction = each.session.compactions.find((other) => other.number === number);
      return compaction ? [{ ...each, compaction }] : [];
    }),
  );

/** Shows a text with the user's pager in a terminal; else prints it. */
const page = async (text: Printable): Promise<void> => {
  const { env, stdin, stdout } = process;
  const isShort = text.split('\n').length <= (stdout.rows ?? 0);
  const pager = env['PAGER'] ?? 'less -R';
  const isPaged = stdout.isTTY && stdin.isTTY && !isShort && pager !== '';
  if (!isPaged || !(await runPager(pager, text))) await print(text);
};

/** The pager is a shell command. False if it could not be started. */
const runPager = (pager: string, text: Printable): Promise<boolean> =>
  new Promise((done) => {
    const child = spawn('/bin/sh', ['-c', pager], {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', ...process.env },
    });
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore); // Ctrl-C is for the pager
    child.stdin.on('error', ignore); // the user has closed it before its end
    child.on('error', () => done(false));
    child.on('close', (code) => {
      process.off('SIGINT', ignore);
      done(code !== NOT_FOUND && code !== NOT_EXECUTABLE);
    });
    child.stdin.end(text);
  });

const [NOT_EXECUTABLE, NOT_FOUND] = [126, 127]; // by the shell
