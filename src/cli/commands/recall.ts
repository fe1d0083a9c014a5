import type { WayBack } from '../../core/compaction/requests.js';
import { briefText } from '../../core/conversation/brief.js';
import { notUnderstoodText } from '../../core/conversation/conversation-evidence.js';
import { recapOf } from '../../core/conversation/recap.js';
import { beforeCounts, keptCounts, nounOf, type Receipt } from '../../core/conversation/receipt.js';
import { jsonText, stripControls, toPrintableText, type Styled } from '../../core/printable.js';
import { emptyRecap, fateOf, recapGroups, recapText, unreadableRecap } from '../../core/report/recap-page.js';
import { readReceipt, type ReadReceipt, type WantedCompaction } from '../../session-files/read-receipt.js';
import { longerSession } from '../../session-files/shortened-from.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { readLook } from '../../core/look.js';
import { toPlainText, wrapText } from '../../ui/text.js';
import { makeTheme, type Theme } from '../../ui/theme.js';
import { askAlone, type Answered } from '../ask-session.js';
import type { RecallRequest } from '../define/recall.js';
import { sizesText } from '../history-text.js';
import * as messages from '../messages.js';
import { print, printLines } from '../print.js';
import type { Outcome } from '../session.js';
import { findSession, isThere, onlySession, sessionNames } from '../session-argument.js';
import { widthOfOutput } from '../text.js';
import { compactionNamed, sessionsMeant, type NamedSessions, type OneCompaction } from './history-show.js';
import type { OneSession, Search } from './history.js';

/** `ctxwrap recall`: what a compaction has kept and what it has forgotten, which is printed or given back to the running agent. */
export const recall = async (request: RecallRequest): Promise<Outcome> => {
  if (request.into !== undefined) return giveBack(request, request.into);
  const found = await findRecall(request);
  const { receipt } = found.read;
  if (request.isPrinted) await printText(found.name, receipt);
  else if (request.json) await print(jsonText(reportOf(found), 2));
  else await printLines(linesOf(found, receipt, request));
  return { status: { kind: 'code', code: 0 }, notices: found.notices };
};

interface Recalled extends OneCompaction {
  readonly read: ReadReceipt;
  /** what the user may call it */
  readonly name: string;
  readonly notices: readonly string[];
}

const findRecall = async ({ target, options }: RecallRequest): Promise<Recalled> => {
  const named = await sessionsMeant(target, options, 'recall');
  const { given: name, notices } = named;
  if (named.number === undefined) return { ...(await lastOf(named.only(named.sessions), named)), notices };
  const found = compactionNamed(named);
  const read = await readOrExplain(found, named.search, { line: found.compaction.line });
  if (!read) throw messages.noReceipt(name);
  return { ...found, read, name, notices };
};

const lastOf = async (
  found: OneSession,
  { given: name, search }: NamedSessions,
): Promise<Omit<Recalled, 'notices'>> => {
  const { compactions } = found.session;
  const read = await readOrExplain(found, search, 'last');
  const compaction = compactions.find(({ line }) => line === read?.line);
  if (read && compaction) return { ...found, compaction, read, name };
  const last = compactions.at(-1);
  throw last ? messages.noReceipt(`${name}#${last.number}`) : messages.nothingCompacted(name);
};

const readOrExplain = async ({ source }: OneSession, search: Search, wanted: WantedCompaction) => {
  if (!source.agent.log?.conversation) throw messages.unreadConversation(source.agent.name);
  return readReceipt(source, wanted, longerSession(source, search));
};

const printText = async (name: string, receipt: Receipt): Promise<void> => {
  const text = briefText(receipt);
  if (text === undefined)
    throw messages.nothingLost(
      name,
      receipt.items.some(({ isGiven }) => isGiven === true),
    );
  await print(toPrintableText(`${text}\n`));
};

/** The schema of `--json`, documented in docs/internals/recall.md. */
const reportOf = ({ session, compaction, read: { receipt: read, from } }: Recalled): object => ({
  schema: 'ctxwrap.receipt/1',
  runtime: session.runtime,
  session_id: session.sessionId ?? null,
  number: compaction.number,
  pre_tokens: compaction.preTokens ?? null,
  post_tokens: compaction.postTokens ?? null,
  fixed_tokens: compaction.fixedTokens ?? null,
  summary_readable: !read.isUnreadable,
  counts: keptCounts(read),
  not_understood: read.notUnderstood,
  before: beforeCounts(read),
  commands_run: read.commandsRun,
  path: from ?? session.path,
  items: read.items.map(({ kind, text, line, isKept, isGiven, hasFailed }) => ({
    kind,
    text,
    line: line + 1,
    kept: isKept || !read.isUnreadable ? isKept : null,
    given_back: isGiven === true,
    ...(kind === 'command' ? { failed: hasFailed === true } : {}),
  })),
});

// The recap, in the words of the overview.

const linesOf = (
  { session, compaction }: OneCompaction,
  read: Receipt,
  { options }: RecallRequest,
): readonly Styled[] => {
  const { env, stdout } = process;
  const look = readLook({ env, isTTY: stdout.isTTY, columns: widthOfOutput(), theme: options.values.theme });
  const theme = makeTheme(undefined, look);
  const what = compaction.number === 0 ? 'shortened by ctxwrap' : `compaction ${compaction.number}`;
  const head = `${session.runtime}  ${what}  ${sizesText(compaction)}`;
  const plain = (text: string): readonly string[] => wrapText(stripControls(text), look.columns);
  return [
    theme.strong(head),
    ...aboutIt(read).flatMap(plain),
    ...groupLines(read, look.columns, theme),
    ...othersOf(read).flatMap((text) => ['', ...plain(text)]),
  ];
};

const aboutIt = ({ items, isUnreadable, notUnderstood }: Receipt): readonly string[] => {
  const unread = notUnderstoodText(notUnderstood);
  if (items.length === 0) return [unread ?? emptyRecap];
  return [isUnreadable ? unreadableRecap : [], unread ?? []].flat();
};

const INDENT = 2;

const groupLines = (read: Receipt, columns: number, theme: Theme): readonly Styled[] => {
  const recap = recapOf(read, new Map(), Infinity);
  const fates = recap.lines.map((line) => fateOf(line, recap));
  const widest = Math.max(...fates.map(({ length }) => length));
  const room = columns - widest - 2 * INDENT;
  return recapGroups(recap).flatMap(({ title, lines }) => [
    '',
    theme.accent(title),
    ...lines.flatMap((line) =>
      wrapText(stripControls(recapText(line)), room).map((text, index): Styled => {
        const fate = (index === 0 ? fateOf(line, recap) : '').padEnd(widest);
        return [
          `${' '.repeat(INDENT)}${fate}${' '.repeat(INDENT)}`,
          line.isKept || line.given ? theme.quiet(text) : text,
        ];
      }),
    ),
  ]);
};

/** Searches and readings are most of what runs: why so few are listed. */
const othersOf = ({ items, commandsRun }: Receipt): readonly string[] =>
  commandsRun <= items.filter(({ kind }) => kind === 'command').length
    ? []
    : [
        `${commandsRun} ${nounOf('command', commandsRun)} ran. Listed are failures, and the last test, build, check, migration and deployment of each program.`,
      ];

// Given back to the running agent.

const giveBack = async ({ target, options }: RecallRequest, into: WayBack): Promise<Outcome> => {
  const folder = stateFolder(process.env, homeFolder(process.env));
  const sessions = await listSessions(folder, Date.now());
  const session =
    target === undefined
      ? onlySession(sessions, () => messages.noneToShow('recall'))
      : findSession(sessions, target);
  if (!session || !isThere(session)) throw messages.noLiveSession(target ?? '', sessionNames(sessions));
  const { id, runtime: agent } = session.record;
  const { answered, status } = await askAlone(
    id,
    { schema: 'ctxwrap.brief/1', into },
    { stateFolder: folder, isQuiet: options.values.quiet === true },
  );
  await printLines([toPlainText(answerTexts[into](answered, agent))]);
  return { status, notices: [] };
};

const draftText = (answered: Answered, agent: string): string => {
  switch (answered.outcome) {
    case 'done':
      return `✓ a draft is in the prompt of ${agent}; nothing was sent`;
    case 'begun':
      return 'the draft appears as soon as the agent is idle';
    case 'refused':
      return `✗ no draft in ${agent}: ${answered.reason}`;
    case 'unknown':
      return answered.isOver
        ? `✗ not known whether the draft was in the prompt of ${agent}: ${answered.reason}; nothing was sent`
        : `✗ not known whether the draft is in the prompt of ${agent}: ${answered.reason}; look there before you ask again`;
  }
};

const contextText = (answered: Answered, agent: string): string => {
  switch (answered.outcome) {
    case 'done':
      return `✓ ${agent}: ${answered.words ?? 'given back'}`;
    case 'begun':
      return 'it will be given back; you need not wait';
    case 'refused':
      return `✗ not given back to ${agent}: ${answered.reason}`;
    case 'unknown':
      return `✗ not known whether ${agent} was given it: ${answered.reason}`;
  }
};

const answerTexts = { draft: draftText, context: contextText } as const satisfies Record<WayBack, unknown>;
