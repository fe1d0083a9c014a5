import type { CompactRecipe, Agent } from '../../agents/agent.js';
import { agents } from '../../agents/index.js';
import type { OutcomeKind } from '../../core/compaction/outcome.js';
import type { AttemptRecord } from '../../core/compaction/protocol.js';
import { errorText, UserError } from '../../core/errors.js';
import { quoteForCopying } from '../../core/text.js';
import type { SessionRecord } from '../../core/report/records.js';
import { listSessions, type ListedSession } from '../../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import { toPlainText } from '../../ui/text.js';
import { askAlone, askSession, type Answered } from '../ask-session.js';
import { print, printLines } from '../print.js';
import type { CompactRequest } from '../define/compact.js';
import { findSession, isThere, onlySession, sessionNames, shortIdOf } from '../session-argument.js';
import type { Outcome } from '../session.js';
import { ageText, folderText } from '../ps-columns.js';
import { jsonText } from '../../core/printable.js';
import { catchStopSignals } from '../verify.js';

// `ctxwrap compact`: asks a running session to compact and reports the outcome; with --all every session. `ctxwrap top` does the same.

// Why a session cannot compact now, and the command that helps.

const refusal = 1;

const refusing = (message: string, hint: string): UserError =>
  new UserError(message, { exitCode: refusal, hint });

/** Why this session cannot be asked to compact; undefined when it can. `shortId`: as `ctxwrap ps` shows it */
export const unaskable = (
  { record, liveness }: ListedSession,
  shortId: string,
  now: number,
): UserError | undefined => {
  const name = nameOf(shortId);
  switch (liveness) {
    case 'ended':
      return refusing(`${name} has ended`, 'ctxwrap ps lists running sessions');
    case 'dead':
      return refusing(`ctxwrap was killed in ${name}`, 'ctxwrap ps lists running sessions');
    case 'stale':
      return refusing(
        `${name} has not answered for ${ageText(now - record.heartbeatAt)}`,
        'if it is suspended, run fg in its terminal',
      );
    case 'failed':
      return refusing(
        `ctxwrap has failed in ${name}`,
        `type the compact command of ${toPlainText(record.runtime)} yourself`,
      );
    case 'live':
      if (record.compaction === undefined)
        return refusing(
          `${name} runs ctxwrap ${toPlainText(record.version)}, which cannot take requests`,
          'restart that session with this version',
        );
      if (record.compaction.mode === 'off')
        return refusing(
          `${name} runs with --mode off`,
          `type the compact command of ${toPlainText(record.runtime)} yourself, or restart it with --mode warn`,
        );
      return undefined;
  }
};

const cannotAsk = (reason: string): UserError =>
  refusing(
    `cannot write the request: ${reason}`,
    'make the state folder of ctxwrap writable; ctxwrap doctor says how',
  );

const nameOf = (id: string): string => `session ${id}`;

const usage = 2;

const noneRuns = (): UserError =>
  new UserError('no session is running', { exitCode: usage, hint: 'start one with ctxwrap claude' });

const noSuchSession = (given: string, names: readonly string[]): UserError =>
  new UserError(`there is no session "${given}"`, {
    exitCode: usage,
    hint:
      names.length > 0
        ? `the sessions are:${names.map((name) => `\n  ${name}`).join('')}`
        : 'no session is running; ctxwrap ps --all lists ended ones',
  });

/** `--strategy auto`: what an ended session has nobody for. */
const notRunning = (given: string): UserError =>
  refusing(
    `--strategy auto is the agent's own command, and session "${given}" is not running`,
    `to shorten it without the agent: ctxwrap compact --strategy truncate ${quoteForCopying(given)}`,
  );

const withoutFocus = (agent: string): UserError =>
  refusing(`the compact command of ${agent} accepts no text`, 'leave out --focus');

/** The agent runs this command in its shell: the shell waits for the command, and the agent for the shell. */
const insideItself = (id: string): UserError =>
  refusing(
    `${nameOf(id)} cannot compact while this command waits inside it`,
    `ctxwrap compact --no-wait ${id}`,
  );

/** Advice after this outcome; none if the outcome includes it, or the session itself shows it. */
const helpAfter = ({ outcome, words }: CompactReport, id: string): readonly string[] => {
  if (outcome !== 'refused') return [];
  return [words.startsWith('paused') ? `ctxwrap compact --force ${id}` : 'ctxwrap ps shows what it is doing'];
};

/** The first line of the output. */
const askedText = ({ runtime: agent, cwd }: SessionRecord, id: string, home: string): string =>
  `Asked ${toPlainText(agent)} (${id}) in ${folderText(cwd, home)} to compact.`;

// The result of `ctxwrap compact`, for people and for scripts.

/** One request and its result. Unknown fields are absent. */
interface CompactReport extends Partial<Omit<AttemptRecord, 'schema' | 'outcome' | 'words'>> {
  readonly schema: 'ctxwrap.compact/1';
  readonly session: { readonly id: string; readonly pid: number; readonly runtime: string };
  readonly outcome: OutcomeKind | 'refused' | 'asked' | 'cancelled' | 'unknown';
  /** the outcome as a sentence */
  readonly words: string;
  readonly durationMs?: number;
}

const AT_NEXT = 'it will compact at its next safe moment';

/** Throws a UserError where the session could not be asked. */
export const compactReport = (
  { id, pid, runtime: agent }: SessionRecord,
  answered: Answered,
): CompactReport => {
  const base = { schema: 'ctxwrap.compact/1', session: { id, pid, runtime: agent } } as const;
  switch (answered.outcome) {
    case 'done': {
      if (!answered.attempt) return { ...base, outcome: 'unknown', words: 'an answer in an unknown format' };
      const { schema: _, ...attempt } = answered.attempt;
      const { startedAt, endedAt } = attempt;
      return { ...base, ...attempt, durationMs: Math.max(0, endedAt - startedAt) };
    }
    case 'refused':
      if (answered.why === 'unwritten') throw cannotAsk(answered.reason);
      return {
        ...base,
        outcome: answered.why === 'withdrawn' ? 'cancelled' : 'refused',
        words: answered.reason,
      };
    case 'unknown':
      return { ...base, outcome: 'unknown', words: answered.reason };
    case 'begun':
      return { ...base, outcome: 'asked', words: answered.words ?? AT_NEXT };
  }
};

/** 0 when the session was compacted or asked as requested, 1 for everything else. */
const statusOfOutcome = ({ outcome }: CompactReport): 0 | 1 =>
  outcome === 'verified' || outcome === 'noop' || outcome === 'asked' ? 0 : 1;

/** The outcome as one fact, and whether it is good. */
export const resultText = (report: CompactReport): string =>
  `${statusOfOutcome(report) === 0 ? '✓' : '✗'} ${toPlainText(factOf(report))}`;

const factOf = ({ outcome, words, durationMs = 0 }: CompactReport): string => {
  const seconds = `${(durationMs / 1000).toFixed(1)} s`;
  switch (outcome) {
    case 'verified':
      return `${words} in ${seconds}`;
    case 'interrupted':
      return words.replace(/(?=:|$)/, ` after ${seconds}`); // before the reason
    case 'refused':
      return `not compacted: ${words}`;
    case 'unknown':
      return `outcome unknown: ${words}; ctxwrap history shows whether it has compacted`;
    default:
      return words;
  }
};

export const compact = (asked: CompactRequest): Promise<Outcome> =>
  asked.all ? compactAll(asked) : compactOne(asked);

const compactOne = async (asked: CompactRequest): Promise<Outcome> => {
  const { env } = process;
  const { force, focus, wait, json, options } = asked;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const { session, name } = await sessionFor(asked, stateFolder);
  const isQuiet = options.values.quiet === true;
  const { answered, signal } = await askAlone(
    session.id,
    { schema: 'ctxwrap.request/1', force, focus },
    {
      stateFolder,
      isQuiet,
      waits: wait,
      onAsked: async () => {
        if (!json && !isQuiet) await printLines([toPlainText(askedText(session, name, homeFolder(env)))]);
      },
    },
  );
  const report = compactReport(session, answered);
  await (json ? print(jsonText(report, 2)) : printLines([resultText(report)]));
  return outcomeOf([report], signal, json ? [] : helpAfter(report, name));
};

/** Ended by the signal if that cut a request short. */
const outcomeOf = (
  reports: readonly CompactReport[],
  signal: NodeJS.Signals | undefined,
  notices: readonly string[] = [],
): Outcome => {
  const isCut = reports.some(({ outcome }) => outcome === 'cancelled' || outcome === 'unknown');
  if (isCut && signal !== undefined) return { status: { kind: 'signal', signal }, notices };
  const code = Math.max(0, ...reports.map(statusOfOutcome));
  return { status: { kind: 'code', code }, notices };
};

/** The session that the command names, if it can be asked to compact. */
const sessionFor = async (
  { target, focus, wait, strategy }: CompactRequest,
  stateFolder: string,
): Promise<{ readonly session: SessionRecord; readonly name: string }> => {
  const now = Date.now();
  const sessions = await listSessions(stateFolder, now);
  const session = target === undefined ? onlySession(sessions, noneRuns) : findSession(sessions, target);
  if (strategy !== undefined && target !== undefined && !(session && isThere(session)))
    throw notRunning(target);
  if (!session) throw noSuchSession(target ?? '', sessionNames(sessions));
  const name = shortIdOf(sessions, session);
  const obstacle = unaskable(session, name, now);
  if (obstacle) throw obstacle;
  const { id, runtime: agent } = session.record;
  if (focus !== undefined && recipeOf(agent)?.takesFocus === false) throw withoutFocus(agent);
  if (wait && process.env['CTXWRAP_SESSION'] === id) throw insideItself(name);
  return { session: session.record, name };
};

const recipeOf = (name: string): CompactRecipe | undefined =>
  Object.values<Agent>(agents)
    .find((each) => each.name === name)
    ?.recipe?.({}); // whether the agent takes a focus text does not depend on the environment

// Every running session, or every one whose agent is idle, at once. One that cannot be asked is listed with the reason.

const compactAll = async (asked: CompactRequest): Promise<Outcome> => {
  const { env } = process;
  const { force, focus, wait, json, idle } = asked;
  const request = { schema: 'ctxwrap.request/1', force, focus } as const;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const own = env['CTXWRAP_SESSION'];
  const now = Date.now();
  const all = await listSessions(stateFolder, now);
  const sessions = all.filter(isThere);
  const chosen = sessions.filter(
    ({ record }) => (!idle || record.activity === 'ready') && !(wait && record.id === own),
  );
  const stopping = catchStopSignals();
  const say = async (report: CompactReport, name: string, { runtime: agent, cwd }: SessionRecord) => {
    if (json) return;
    const where = `${toPlainText(agent)} (${name}) in ${folderText(cwd, homeFolder(env))}`;
    await printLines([`${resultText(report)} · ${toPlainText(where)}`]);
  };
  try {
    const reports = await Promise.all(
      chosen.map(async (session) => {
        const { record } = session;
        const name = shortIdOf(all, session);
        const ask = async (): Promise<CompactReport> => {
          const obstacle = unaskable(session, name, now);
          if (obstacle) throw obstacle;
          if (focus !== undefined && recipeOf(record.runtime)?.takesFocus === false)
            throw withoutFocus(record.runtime);
          const { signal } = stopping;
          const answered = await askSession(record.id, request, { stateFolder, waits: wait, signal });
          return compactReport(record, answered);
        };
        const report = await ask().catch((error: unknown) => refusedReport(record, error));
        await say(report, name, record);
        return report;
      }),
    );
    if (json) await print(jsonText({ schema: 'ctxwrap.compacts/1', results: reports }, 2));
    const none = idle && sessions.length > 0 ? 'no agent is idle' : 'no session is running';
    return outcomeOf(reports, stopping.name(), reports.length > 0 || json ? [] : [none]);
  } finally {
    stopping.release();
  }
};

const refusedReport = ({ id, pid, runtime: agent }: SessionRecord, error: unknown): CompactReport => {
  if (!(error instanceof UserError)) throw error;
  const session = { id, pid, runtime: agent };
  return { schema: 'ctxwrap.compact/1', session, outcome: 'refused', words: errorText(error) };
};
