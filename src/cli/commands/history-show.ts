import { spawn } from 'node:child_process';
import { type Printable, type Styled } from '../../core/printable.js';
import type { RecordedCompaction, SessionHistory } from '../../core/conversation/boundary-record.js';
import { windowOf, type Entry } from '../../core/conversation/conversation.js';
import { receiptText } from '../../core/conversation/receipt.js';
import type { StoreProblem } from '../../storage/session-store.js';
import { homeFolder } from '../../storage/state-folder.js';
import { readLook, type Look } from '../../ui/look.js';
import { readReceipt } from '../../session-files/read-receipt.js';
import { readConversationBefore } from '../../session-files/read-conversation.js';
import type { SessionSource } from '../../session-files/read-history.js';
import { conversationMarkdown, conversationText } from '../conversation-text.js';
import { compactionMarkdown, compactionText } from '../history-text.js';
import { findTargets } from '../history-targets.js';
import * as messages from '../messages.js';
import { linesToPrint, print } from '../print.js';
import type { HistoryShowRequest } from '../define/history.js';
import type { Outcome } from '../session.js';
import { widthOfOutput } from '../text.js';
import { openSearch, readTargets } from './history.js';

/** `ctxwrap history show SESSION#N`: one compaction, or the conversation before it. */
export const historyShow = async (request: HistoryShowRequest): Promise<Outcome> => {
  const { env, stdout } = process;
  const found = await findCompaction(request, 'history show');
  const { theme } = request.options.values;
  const look = readLook({ env, isTTY: stdout.isTTY, columns: widthOfOutput(), theme });
  const { lines, notices } = request.before
    ? await beforeLines(found, request, look)
    : { lines: compactionLines(found, request, look, await keptOf(found)), notices: [] };
  await page(linesToPrint(lines));
  return { status: { kind: 'code', code: 0 }, notices };
};

const compactionLines = (
  { session, compaction }: OneCompaction,
  { markdown }: HistoryShowRequest,
  look: Look,
  kept: string | undefined,
): readonly Styled[] =>
  markdown
    ? compactionMarkdown(session, compaction, kept)
    : compactionText(session, compaction, { look, home: homeFolder(process.env), isFull: true, kept });

/** How much of the evidence it has kept; undefined where that is not known. */
const keptOf = async ({ source, compaction }: OneCompaction): Promise<string | undefined> => {
  const read = await readReceipt(source, { line: compaction.line });
  return read && receiptText(read.receipt);
};

/** What was in the window just before the compaction, in the order of the conversation. */
const beforeLines = async (
  { source, compaction }: OneCompaction,
  { markdown, target: given }: HistoryShowRequest,
  look: Look,
): Promise<{ readonly lines: readonly Styled[]; readonly notices: readonly string[] }> => {
  const conversation = await readConversationBefore(source, compaction);
  if (!conversation) throw messages.unreadConversation(source.agent.name);
  const entries: readonly Entry[] = windowOf(conversation);
  const { incomplete } = conversation;
  const notices = [
    ...(incomplete === undefined ? [] : [messages.incompleteConversation(incomplete)]),
    ...(entries.some(({ kind }) => kind === 'summary')
      ? [messages.earlierPart(given, compaction.number)]
      : []),
  ];
  return { lines: markdown ? conversationMarkdown(entries) : conversationText(entries, look), notices };
};

/** A compaction in its session. */
export interface OneCompaction {
  readonly source: SessionSource;
  readonly session: SessionHistory;
  readonly compaction: RecordedCompaction;
}

/** The compaction that `SESSION#N` names. Throws when there is none, or more than one. `command`: what the user has called. */
export const findCompaction = async (
  { target: given, options }: Pick<HistoryShowRequest, 'target' | 'options'>,
  command: string,
): Promise<OneCompaction> => {
  const search = await openSearch(options);
  const { targets, skipped } = await findTargets([given], search);
  const problems = [...skipped];
  const onProblem = (problem: StoreProblem): void => void problems.push(problem);
  const number = targets[0]?.number;
  if (targets.length > 0 && number === undefined) throw messages.whichCompaction(given, command);
  const found: OneCompaction[] = [];
  let most = 0;
  for (const { source, isWanted } of targets) {
    const read = readTargets([{ source, isWanted }], search, { full: true, chart: false, onProblem });
    for await (const { history: session } of read) {
      most = Math.max(most, session.compactions.length);
      const compaction = session.compactions.find((each) => each.number === number);
      if (compaction) found.push({ source, session, compaction });
    }
  }
  const [first, ...others] = found;
  const [problem] = problems;
  if (!first && problem) throw messages.unreadableFile(problem.path, problem.reason);
  if (!first) throw messages.noCompaction(given, most);
  if (others.length > 0)
    throw messages.severalFiles(
      given,
      found.map(({ source, session }) => source.idInDatabase ?? session.path),
    );
  return first;
};

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
