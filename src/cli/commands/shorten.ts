import { randomUUID } from 'node:crypto';
import type { SavedSession } from '../../agents/agent.js';
import type { NewSession } from '../../core/conversation.js';
import { UserError } from '../../core/errors.js';
import { formatTokens } from '../../core/format.js';
import { budgetFor } from '../../core/strategies/budget.js';
import type { Change } from '../../core/strategies/check.js';
import { systemReason } from '../../storage/errors.js';
import { homeFolder } from '../../storage/state-folder.js';
import { toPlainText } from '../../ui/text.js';
import { findStrategy } from '../../wrap/find-strategy.js';
import { shorten, ShortenError, writeForSwitch, writeShortened, type Shortened } from '../../wrap/shorten.js';
import { askSession } from '../ask-session.js';
import * as messages from '../messages.js';
import { findOneSource, type OneSource } from '../one-source.js';
import { print, toAsciiIfNeeded, workingFolder } from '../print.js';
import type { ShortenCommandRequest } from '../request.js';
import { resumeOf, resumeRows, type Resume } from '../resume.js';
import type { Outcome } from '../session.js';
import { jsonText, noProgress, progressLine } from '../text.js';
import { catchStopSignals } from '../verify.js';
import { openSearch } from './history.js';

// `ctxwrap compact --strategy`: shortens a conversation without the agent, in a new session; a running agent goes on with it.

/** The schema of `--json`. */
interface ShortenReport {
  readonly schema: 'ctxwrap.shorten/1';
  readonly runtime: string;
  readonly strategy: string;
  /** the session file that was read */
  readonly from: string;
  /** in estimated tokens of the conversation, without the agent's instructions and tools */
  readonly change: Change & { readonly budgetTokens: number };
  /** the new session; absent with --dry-run */
  readonly session?: SavedSession;
  readonly resume?: Resume;
  /** what became of the running session */
  readonly live?: {
    readonly id: string;
    readonly outcome: 'switched' | 'refused' | 'unknown' | 'asked';
    readonly words?: string;
  };
}

const failed = 1;

export const shortenCommand = async (request: ShortenCommandRequest): Promise<Outcome> => {
  const { json, options } = request;
  const search = await openSearch(options);
  const found = await findOneSource(request, search, {
    command: `compact --strategy ${request.strategy}`,
    none: messages.nothingToShorten,
  });
  const stopping = catchStopSignals();
  const progress = json || options.values.quiet === true ? noProgress : progressLine();
  try {
    progress.say('reading the session');
    const shortened = await orExplain(found, compute(request, found, stopping.signal));
    progress.clear();
    const report = await apply(request, found, shortened, search.stateFolder);
    await print(json ? jsonText(report, 2) : `${textOf(report, request).join('\n')}\n`);
    const code = report.live?.outcome === 'unknown' || report.live?.outcome === 'refused' ? failed : 0;
    return { status: { kind: 'code', code }, notices: [] };
  } finally {
    progress.clear();
    stopping.release();
  }
};

const compute = async (
  { strategy: name, keepRecent, budgetTokens, options }: ShortenCommandRequest,
  { source, session }: OneSource,
  signal: AbortSignal,
): Promise<Shortened> => {
  const { values } = options;
  const strategy = await findStrategy(name, { values, home: homeFolder(process.env) });
  const warn = session?.record.thresholds.find(
    ({ name: each, unit }) => each === 'warn' && unit === 'tokens',
  );
  const known = { warnTokens: warn?.value, usedTokens: session?.record.reading?.usedTokens };
  return shorten({
    source,
    strategy,
    options: { keepRecent: keepRecent ?? values.keepRecent, signal },
    budget: (conversation) => budgetTokens ?? budgetFor(conversation, known),
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

const apply = async (
  { strategy, isDryRun, isNewSession, json, options }: ShortenCommandRequest,
  found: OneSource,
  shortened: Shortened,
  stateFolder: string,
): Promise<ShortenReport> => {
  const { source, session } = found;
  const report: ShortenReport = {
    schema: 'ctxwrap.shorten/1',
    runtime: source.agent.name,
    strategy,
    from: source.path,
    change: { ...shortened.change, budgetTokens: shortened.budgetTokens },
  };
  if (isDryRun) return report;
  const as: NewSession = {
    id: randomUUID(),
    cwd: workingFolder(),
    now: Date.now(),
    newUuid: () => randomUUID(),
  };
  const canSwitch =
    !isNewSession && session?.liveness === 'live' && source.agent.conversations?.switching !== undefined;
  if (!canSwitch) return withSession(report, found, shortened, as);
  const written = await orExplain(found, writeForSwitch({ source }, shortened, as));
  const { outcome, words } = await askSession(
    session.record.id,
    { schema: 'ctxwrap.switch/1', name: written.name },
    { stateFolder, isQuiet: json || options.values.quiet === true },
  );
  const live = {
    id: session.record.id,
    outcome: outcome === 'done' ? ('switched' as const) : outcome,
    ...(words === undefined ? {} : { words }),
  };
  if (outcome === 'done' || outcome === 'asked') return { ...report, live };
  // the agent goes on as before; the new session can be resumed
  return { ...(await withSession(report, found, shortened, as)), live };
};

const withSession = async (
  report: ShortenReport,
  found: OneSource,
  shortened: Shortened,
  as: NewSession,
): Promise<ShortenReport> => {
  const own = { ...as, id: randomUUID() };
  const { path, name: id } = await orExplain(found, writeShortened(found, shortened, own));
  const session = { id, path };
  return { ...report, session, resume: resumeOf(found.source.agent, session, shortened.before.head.cwd) };
};

// For people.

const textOf = (report: ShortenReport, { isDryRun }: ShortenCommandRequest): readonly string[] => {
  const { change, session, live, resume, runtime, strategy } = report;
  const size = `${formatTokens(change.tokensBefore)} → ${formatTokens(change.tokensAfter)}`;
  const head = isDryRun
    ? `${runtime}: ${strategy} would shorten the conversation, ${size} (estimated tokens)`
    : live?.outcome === 'switched'
      ? `✓ shortened by ${strategy} in ${runtime}: ${size}`
      : live?.outcome === 'asked'
        ? 'the agent goes on with the shortened conversation as soon as it is at rest'
        : `✓ shortened by ${strategy}, ${size}${session ? `, in a new session: ${session.id}` : ''}`;
  const rows = [
    ...(live?.words === undefined || live.outcome === 'asked' ? [] : [`✗ ${live.words}`]),
    head,
    `  kept        ${counted(change.keptMessages, change.keptCalls)}, word for word`,
    `  taken out   ${counted(change.droppedMessages, change.droppedCalls)}`,
    `  instead     a text of about ${formatTokens(change.summaryTokens)} tokens`,
  ];
  return [...rows.map(toPlainText), ...(resume ? resumeRows(resume) : [])].map((row) =>
    toAsciiIfNeeded(row, process.env),
  );
};

const counted = (prompts: number, calls: number): string =>
  `${prompts} ${prompts === 1 ? 'message' : 'messages'} of yours, ${calls} tool ${calls === 1 ? 'call' : 'calls'}`;
