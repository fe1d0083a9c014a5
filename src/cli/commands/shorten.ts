import { takesDraft, type SavedSession } from '../../agents/agent.js';
import { shortenedLine, type ShortenedSession } from '../../core/compaction/shortened-session.js';
import { UserError } from '../../core/errors.js';
import { present } from '../../core/present.js';
import { formatTokens } from '../../core/format.js';
import { knownStrategies } from '../../core/config/strategy.js';
import type { Change } from '../../core/strategies/check.js';
import type { Strategy } from '../../core/strategies/strategy.js';
import { systemReason } from '../../storage/errors.js';
import { appendToAudit } from '../../storage/log-file.js';
import { listSessions, type ListedSession } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { toPlainText } from '../../ui/text.js';
import { findStrategy } from '../../session-files/find-strategy.js';
import { shorten, ShortenError, writeShortened, type Shortened } from '../../session-files/shorten.js';
import { openSummariser } from '../../session-files/summariser.js';
import { newSession } from '../../session-files/undo.js';
import { askAlone, type Answered } from '../ask-session.js';
import * as messages from '../messages.js';
import { findOneSource, type OneSource } from '../one-source.js';
import { failure } from '../usage-error.js';
import { print, printLines, workingFolder } from '../print.js';
import type { ShortenRequest } from '../define/compact.js';
import { elsewhereRow, isInStore, resumeOf, resumeRows, type Resume } from '../resume.js';
import type { Outcome } from '../session.js';
import { shortIdOf } from '../session-argument.js';
import { noProgress, progressLine } from '../text.js';
import { shortId } from '../../core/shown-conversation.js';
import { jsonText } from '../../core/printable.js';
import { catchStopSignals } from '../verify.js';
import { openSearch } from './history.js';

// `ctxwrap compact --strategy`: shortens a conversation without the agent, in a new session; a running agent goes on with it.

/** The schema of `--json`. */
interface ShortenReport {
  readonly schema: 'ctxwrap.shorten/1';
  readonly runtime: string;
  readonly strategy: string;
}

/** Of a session file. */
interface FileReport extends ShortenReport {
  /** the session file that was read */
  readonly from: string;
  /** in estimated tokens of the conversation, without the agent's instructions and tools */
  readonly change: Change & { readonly budgetTokens: number };
  /** the new session; absent with --dry-run */
  readonly session?: SavedSession;
  readonly resume?: Resume;
  /** why the audit log does not have it, so that history, recall and undo do not know what it was shortened from */
  readonly unrecorded?: string;
}

/** Of a running session, which does it itself. */
interface LiveReport extends ShortenReport {
  readonly live: {
    readonly id: string;
    readonly outcome: 'shortened' | 'refused' | 'unknown' | 'asked';
    readonly words?: string | undefined;
  };
}

const failed = 1;

export const shortenCommand = async (request: ShortenRequest): Promise<Outcome> => {
  const { json, isDryRun, output, options } = request;
  const search = await openSearch(options);
  const strategy = await findOrFault(request);
  const found = await findOneSource(request, search, {
    command: `compact --strategy ${request.strategy}`,
    none: messages.nothingToShorten,
  }).catch((error: unknown) => {
    throw typeof strategy === 'function' ? error : strategy;
  });
  const { source, session } = found;
  const { agent } = source;
  if (!isDryRun && agent.log?.conversation && !agent.newSessions)
    throw messages.unwrittenSessions(agent.name, takesDraft(agent));
  const isLive = session?.liveness === 'live' && agent.newSessions?.switching !== undefined;
  if (isLive && !isDryRun && output === undefined) {
    const all = await listSessions(search.stateFolder, Date.now()).catch(() => [session]);
    return shortenInAgent(request, source, { ...session, name: shortIdOf(all, session) });
  }
  if (typeof strategy !== 'function') throw strategy;
  const stopping = catchStopSignals();
  const progress = json || options.values.quiet === true ? noProgress : progressLine();
  try {
    progress.say(
      options.values['summariser.url'] === undefined ? 'reading the session' : 'shortening the session',
    );
    const shortened = await orExplain(found, compute(request, found, { strategy, signal: stopping.signal }));
    progress.clear();
    const report = isDryRun
      ? reportOf(request, found, shortened)
      : await withSession(reportOf(request, found, shortened), found, shortened);
    await (json
      ? print(jsonText(report, 2))
      : printLines(reportRows(report, isDryRun, await isInStore(source, search.where))));
    return { status: { kind: 'code', code: 0 }, notices: [] };
  } finally {
    progress.clear();
    stopping.release();
  }
};

/** The running session does it itself, because only that knows when the agent rests. */
const shortenInAgent = async (
  { strategy, keepRecent, budgetTokens, json, options }: ShortenRequest,
  { agent, path }: OneSource['source'],
  { record, name }: ListedSession & { /** as ps shows it */ readonly name: string },
): Promise<Outcome> => {
  const { env } = process;
  const { id, runtime, cwd, agentSessionId } = record;
  const { answered, status } = await askAlone(
    id,
    { schema: 'ctxwrap.shorten/1', strategy, keepRecent, budgetTokens },
    { stateFolder: stateFolder(env, homeFolder(env)), isQuiet: json || options.values.quiet === true },
  );
  const report: LiveReport = {
    schema: 'ctxwrap.shorten/1',
    runtime,
    strategy,
    live: { id, ...liveOf(answered) },
  };
  // nobody runs the agent any more, and the session from before is as it was
  const isLeft = answered.outcome === 'unknown' && answered.isOver && agentSessionId !== undefined;
  const resume = isLeft ? resumeRows(resumeOf(agent, { id: agentSessionId, path }, cwd)) : [];
  const rows = [toPlainText(askedText(answered, { name, runtime })), ...resume];
  await (json ? print(jsonText(report, 2)) : printLines(rows));
  return { status, notices: [] };
};

const liveOf = (answered: Answered): Omit<LiveReport['live'], 'id'> => {
  switch (answered.outcome) {
    case 'done':
      return { outcome: 'shortened', words: answered.words };
    case 'begun':
      return { outcome: 'asked', words: answered.words };
    case 'refused':
    case 'unknown':
      return { outcome: answered.outcome, words: answered.reason };
  }
};

const askedText = (
  answered: Answered,
  { name, runtime: agent }: { readonly name: string; readonly runtime: string },
): string => {
  switch (answered.outcome) {
    case 'done':
      return `✓ shortened ${answered.words ?? ''}; u in the overview brings the whole conversation back`;
    case 'begun':
      return answered.words === undefined
        ? 'the conversation is shortened as soon as the agent is idle'
        : `the agent is restarting, shortened ${answered.words}; its footer says when it has the shorter conversation`;
    case 'refused':
      return `✗ not shortened: ${answered.reason}`;
    case 'unknown': {
      const advice = answered.isOver
        ? 'the whole conversation is unchanged'
        : `ctxwrap context ${name} shows how full it is`;
      return `✗ not known whether ${agent} has the shorter conversation: ${answered.reason}; ${advice}`;
    }
  }
};

/** The strategy, or why there is none: a running session may know another one. */
const findOrFault = async ({ strategy: name, options }: ShortenRequest): Promise<Strategy | UserError> => {
  const { values } = options;
  try {
    return await findStrategy(name, {
      values,
      hasSummariser: values['summariser.url'] !== undefined,
      home: homeFolder(process.env),
    });
  } catch (error) {
    if (!(error instanceof ShortenError)) throw error;
    const [, ...known] = knownStrategies(values.strategies);
    return known.includes(name)
      ? failure(error.message, error.fix ?? 'ctxwrap config check says what is wrong')
      : messages.unknownChoice('--strategy', name, known);
  }
};

const compute = async (
  { keepRecent, budgetTokens, options }: ShortenRequest,
  { source, session }: OneSource,
  { strategy, signal }: { readonly strategy: Strategy; readonly signal: AbortSignal },
): Promise<Shortened> => {
  const { values } = options;
  const { env } = process;
  const home = homeFolder(env);
  const summarise = openSummariser({ values, agent: source.agent, env, home });
  const warn = session?.record.thresholds.find(
    ({ name: each, unit }) => each === 'warn' && unit === 'tokens',
  );
  const { usedTokens, source: from } = session?.record.reading ?? {};
  const known = { warnTokens: warn?.value, usedTokens, isEstimated: from === 'estimate' };
  return shorten({
    source,
    strategy,
    options: { keepRecent: keepRecent ?? values.keepRecent, summarise, signal },
    budgetTokens,
    known,
  });
};

/** Says what cannot be shortened, and why. */
const orExplain = async <T>({ source: { path } }: OneSource, task: Promise<T>): Promise<T> => {
  try {
    return await task;
  } catch (error) {
    const reason = error instanceof ShortenError ? error.message : systemReason(error);
    throw new UserError(`cannot shorten "${path}": ${reason}`, {
      exitCode: failed,
      hint: 'ctxwrap compact --help says what --keep-recent and --budget do',
    });
  }
};

const reportOf = (
  { strategy }: ShortenRequest,
  { source }: OneSource,
  { change, budgetTokens }: Shortened,
): FileReport => ({
  schema: 'ctxwrap.shorten/1',
  runtime: source.agent.name,
  strategy,
  from: source.path,
  change: { ...change, budgetTokens },
});

const withSession = async (
  report: FileReport,
  found: OneSource,
  shortened: Shortened,
): Promise<FileReport> => {
  const { source } = found;
  const as = newSession(workingFolder());
  let unrecorded: string | undefined;
  const onWrite = async (written: ShortenedSession): Promise<void> => {
    unrecorded = await recordOrReason(written);
  };
  const request = { source, strategy: report.strategy, as, onWrite };
  const { path, name: id } = await orExplain(found, writeShortened(request, shortened));
  const session = { id, path };
  const resume = resumeOf(source.agent, session, shortened.before.head.cwd);
  return { ...report, session, resume, ...present({ unrecorded }) };
};

/** Why the audit log does not have it; undefined where it has. */
const recordOrReason = async (session: ShortenedSession): Promise<string | undefined> => {
  const { env } = process;
  const failure = await appendToAudit(stateFolder(env, homeFolder(env)), shortenedLine(session));
  return failure === undefined ? undefined : systemReason(failure);
};

// For people.

const reportRows = (
  { change, session, resume, runtime, strategy, from, unrecorded }: FileReport,
  isDryRun: boolean,
  isFound: boolean,
): readonly string[] => {
  const size = `${formatTokens(change.tokensBefore)} → ${formatTokens(change.tokensAfter)}`;
  const rows = [
    isDryRun
      ? `${toPlainText(runtime)}: ${strategy} would shorten the conversation, ${size} (estimated tokens)`
      : `✓ shortened by ${strategy}, ${size}, in a new session: ${session ? shortId(session.id) : ''}`,
    `  kept        ${counted(change.keptMessages, change.keptCalls)}, word for word`,
    `  removed     ${counted(change.droppedMessages, change.droppedCalls)}`,
    `  instead     a text of about ${formatTokens(change.summaryTokens)} tokens`,
  ];
  const warning =
    unrecorded === undefined
      ? []
      : [
          `! not recorded in audit.jsonl: ${toPlainText(unrecorded)}`,
          `  ctxwrap undo cannot find the whole conversation, which stays in ${toPlainText(from)}`,
          '  ctxwrap doctor says what is wrong with the state folder',
        ];
  if (session && !isFound) return [...rows, ...warning, elsewhereRow(runtime, session.path)];
  return [...rows, ...warning, ...(resume ? resumeRows(resume) : [])];
};

const counted = (prompts: number, calls: number): string =>
  `${prompts} ${prompts === 1 ? 'message' : 'messages'} of yours, ${calls} tool ${calls === 1 ? 'call' : 'calls'}`;
