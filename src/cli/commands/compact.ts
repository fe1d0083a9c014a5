import { randomBytes } from 'node:crypto';
import type { RequestRecord } from '../../core/compaction/request-record.js';
import type { SessionRecord } from '../../core/session-record.js';
import { runtimes } from '../../runtimes/index.js';
import type { Recipe } from '../../runtimes/recipe.js';
import type { Runtime } from '../../runtimes/runtime.js';
import { homeFolder } from '../../storage/home-folder.js';
import { processStart } from '../../storage/processes.js';
import { listSessions } from '../../storage/session-records.js';
import { stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import type { ExitStatus } from '../../wrap/wrap-session.js';
import { askSession } from '../await-answer.js';
import type { Reply } from '../await-answer.js';
import * as messages from '../compact-messages.js';
import { compactReport, compactText, statusOfOutcome } from '../compact-text.js';
import { jsonText } from '../json-text.js';
import { widthOfOutput } from '../output-width.js';
import { print } from '../print.js';
import { noProgress, progressLine } from '../progress-line.js';
import type { CompactCommandRequest } from '../request.js';
import { findSession, namesOf, onlySession } from '../session-argument.js';
import type { Outcome } from '../session.js';
import { stopSignals } from '../stop-signals.js';

/** `ctxwrap compact`: asks a running session to compact, and tells what came of it. */
export const compact = async (asked: CompactCommandRequest): Promise<Outcome> => {
  const { env } = process;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const session = await sessionFor(asked, stateFolder);
  const { reply, signal } = await ask(asked, session, stateFolder);
  const report = compactReport(session, reply);
  if (asked.json) await print(jsonText(report, 2));
  else if (reply.kind === 'refused') throw messages.refusedBy(session.id, reply.reason);
  else if (reply.kind === 'unknown') throw messages.outcomeUnknown(session.id, reply.reason);
  else if (reply.kind !== 'cancelled') await print(`${compactText(report, widthOfOutput()).join('\n')}\n`);
  if (signal === undefined) return { status: { kind: 'code', code: statusOfOutcome(report) }, notices: [] };
  return { status: { kind: 'signal', signal }, notices: [messages.withdrawn] };
};

/** The session that is meant, if it can be asked. */
const sessionFor = async (
  { target, focus, wait }: CompactCommandRequest,
  stateFolder: string,
): Promise<SessionRecord> => {
  const now = Date.now();
  const sessions = await listSessions(stateFolder, now);
  const session =
    target === undefined ? onlySession(sessions, messages.noneRuns) : findSession(sessions, target);
  if (!session) throw messages.noSuchSession(target ?? '', namesOf(sessions));
  const obstacle = messages.unaskable(session, now);
  if (obstacle) throw obstacle;
  const { id, runtime } = session.record;
  if (focus !== undefined && recipeOf(runtime)?.takesFocus === false) throw messages.withoutFocus(runtime);
  if (wait && process.env['CTXWRAP_SESSION'] === id) throw messages.insideItself(id);
  return session.record;
};

const recipeOf = (name: string): Recipe | undefined =>
  Object.values<Runtime>(runtimes)
    .find((each) => each.name === name)
    ?.recipe?.({}); // whether it takes a text does not depend on the child's environment

interface Asked {
  readonly reply: Reply;
  /** what ended the waiting */
  readonly signal: Extract<ExitStatus, { kind: 'signal' }>['signal'] | undefined;
}

const ask = async (
  { force, focus, wait, options }: CompactCommandRequest,
  { id }: SessionRecord,
  stateFolder: string,
): Promise<Asked> => {
  const start = processStart(process.pid);
  const request: RequestRecord = {
    schema: 'ctxwrap.request/1',
    session: id,
    request: `${process.pid}-${randomBytes(6).toString('hex')}`,
    askedAt: Date.now(),
    force,
    ...(focus === undefined ? {} : { focus }),
    ...(wait ? { pid: process.pid } : {}),
    ...(wait && start !== undefined ? { processStart: start } : {}),
  };
  const stopping = stopSignals();
  const progress = options.quiet ? noProgress : progressLine();
  try {
    const reply = await askSession({
      stateFolder,
      request,
      waits: wait,
      signal: stopping.signal,
      onWords: progress.say,
    });
    return { reply, signal: reply.kind === 'cancelled' ? stopping.name() : undefined };
  } finally {
    progress.clear();
    stopping.release();
  }
};
