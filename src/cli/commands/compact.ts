import type { CompactRecipe, Agent } from '../../agents/agent.js';
import { agents } from '../../agents/index.js';
import { errorText, UserError } from '../../core/errors.js';
import type { SessionRecord } from '../../core/records.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import { toPlainText } from '../../ui/text.js';
import {
  askToCompact,
  type CompactReport,
  nameOf,
  refusing,
  resultText,
  statusOfOutcome,
  unaskable,
} from '../ask-compact.js';
import { print, printLines } from '../print.js';
import type { CompactRequest } from '../define/compact.js';
import { findSession, isThere, onlySession, sessionNames } from '../session-argument.js';
import type { Outcome } from '../session.js';
import { folderText } from '../sessions-text.js';
import { noProgress, progressLine } from '../text.js';
import { jsonText } from '../../core/printable.js';
import { catchStopSignals } from '../verify.js';

// `ctxwrap compact`: asks a running session to compact and reports the outcome; with --all every session.

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

const withoutFocus = (agent: string): UserError =>
  refusing(`the compact command of ${agent} accepts no text`, 'leave out --focus');

/** The agent runs this command in its shell: the shell waits for the command, and the agent for the shell. */
const insideItself = (id: string): UserError =>
  refusing(
    `${nameOf(id)} cannot compact while this command waits inside it`,
    `ctxwrap compact --no-wait ${id}`,
  );

/** What helps after this outcome; nothing where that is said with it, or the session itself shows it. */
const helpAfter = ({ outcome, words, session: { id } }: CompactReport): readonly string[] => {
  if (outcome !== 'refused') return [];
  return [words.startsWith('paused') ? `ctxwrap compact --force ${id}` : 'ctxwrap ps shows what it is doing'];
};

/** The first line of the output. */
const askedText = ({ id, runtime: agent, cwd }: SessionRecord, home: string): string =>
  `Asked ${toPlainText(agent)} (${id}) in ${folderText(cwd, home)} to compact.`;

export const compact = (asked: CompactRequest): Promise<Outcome> =>
  asked.all ? compactAll(asked) : compactOne(asked);

const compactOne = async (asked: CompactRequest): Promise<Outcome> => {
  const { env } = process;
  const { force, focus, wait, json, options } = asked;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const session = await sessionFor(asked, stateFolder);
  const stopping = catchStopSignals();
  const { quiet } = options.values;
  const progress = quiet ? noProgress : progressLine();
  try {
    const report = await askToCompact(session, {
      stateFolder,
      force,
      focus,
      waits: wait,
      signal: stopping.signal,
      onAsked: async () => {
        if (!json && !quiet) await printLines([toPlainText(askedText(session, homeFolder(env)))]);
      },
      onWords: progress.say,
    });
    progress.clear();
    await (json ? print(jsonText(report, 2)) : printLines([resultText(report)]));
    return outcomeOf([report], stopping.name(), json ? [] : helpAfter(report));
  } finally {
    progress.clear();
    stopping.release();
  }
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
  { target, focus, wait }: CompactRequest,
  stateFolder: string,
): Promise<SessionRecord> => {
  const now = Date.now();
  const sessions = await listSessions(stateFolder, now);
  const session = target === undefined ? onlySession(sessions, noneRuns) : findSession(sessions, target);
  if (!session) throw noSuchSession(target ?? '', sessionNames(sessions));
  const obstacle = unaskable(session, now);
  if (obstacle) throw obstacle;
  const { id, runtime: agent } = session.record;
  if (focus !== undefined && recipeOf(agent)?.takesFocus === false) throw withoutFocus(agent);
  if (wait && process.env['CTXWRAP_SESSION'] === id) throw insideItself(id);
  return session.record;
};

const recipeOf = (name: string): CompactRecipe | undefined =>
  Object.values<Agent>(agents)
    .find((each) => each.name === name)
    ?.recipe?.({}); // whether the agent takes a focus text does not depend on the environment

// Every running session, or every one whose agent is idle, at once. One that cannot be asked is told with the reason.

const compactAll = async (asked: CompactRequest): Promise<Outcome> => {
  const { env } = process;
  const { force, focus, wait, json, idle } = asked;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const own = env['CTXWRAP_SESSION'];
  const now = Date.now();
  const sessions = (await listSessions(stateFolder, now)).filter(isThere);
  const chosen = sessions.filter(
    ({ record }) => (!idle || record.activity === 'ready') && !(wait && record.id === own),
  );
  const stopping = catchStopSignals();
  const say = async (report: CompactReport, { runtime: agent, cwd }: SessionRecord): Promise<void> => {
    if (json) return;
    const where = `${toPlainText(agent)} (${report.session.id}) in ${folderText(cwd, homeFolder(env))}`;
    await printLines([`${resultText(report)} · ${toPlainText(where)}`]);
  };
  try {
    const reports = await Promise.all(
      chosen.map(async (session) => {
        const { record } = session;
        const ask = async (): Promise<CompactReport> => {
          const obstacle = unaskable(session, now);
          if (obstacle) throw obstacle;
          if (focus !== undefined && recipeOf(record.runtime)?.takesFocus === false)
            throw withoutFocus(record.runtime);
          return askToCompact(record, { stateFolder, force, focus, waits: wait, signal: stopping.signal });
        };
        const report = await ask().catch((error: unknown) => refusedReport(record, error));
        await say(report, record);
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
