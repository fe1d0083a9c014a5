import type { Millis } from '../../core/reading.js';
import { countPassed, type SessionRecord } from '../../core/report/records.js';
import { type ListedSession, listSessions, readVerified } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { readLook } from '../../core/look.js';
import { linesToPrint } from '../print.js';
import type { PsRequest } from '../define/ps.js';
import { isThere } from '../session-argument.js';
import { sessionsText, templateLines } from '../ps-columns.js';
import { widthOfOutput } from '../text.js';
import { jsonText, type Printable, type Styled } from '../../core/printable.js';

/** `ctxwrap ps`: lists running sessions, with --all also those that have ended. */
export const ps = async (request: PsRequest): Promise<Printable> => {
  const found = await findSessions(request);
  if (request.json) return jsonOf(found);
  return linesToPrint(sessionsLines(found, request, Date.now()));
};

/** What is listed now. */
export interface FoundSessions {
  readonly shown: readonly ListedSession[];
  /** also those that are not shown */
  readonly known: readonly ListedSession[];
}

export const findSessions = async ({ all }: Pick<PsRequest, 'all'>): Promise<FoundSessions> => {
  const { env } = process;
  const known = await listSessions(stateFolder(env, homeFolder(env)), Date.now());
  return { known, shown: known.filter((each) => all || isThere(each)) };
};

/** The table, or a line for each session. */
export const sessionsLines = (
  { shown, known }: FoundSessions,
  { format, options }: Pick<PsRequest, 'format' | 'options'>,
  now: Millis,
): readonly Styled[] => {
  const { env, stdout } = process;
  const look = readLook({ env, isTTY: stdout.isTTY, columns: widthOfOutput(), theme: options.values.theme });
  const view = { now, home: homeFolder(env), look, known };
  return format ? templateLines(shown, format, view) : sessionsText(shown, view);
};

const jsonOf = async ({ shown }: FoundSessions): Promise<Printable> => {
  const sessions = await Promise.all(
    shown.map(async ({ record, liveness }) => ({ ...record, liveness, ...(await verifiedOf(record)) })),
  );
  return jsonText({ schema: 'ctxwrap.sessions/1', sessions }, 2);
};

/** The result of `ctxwrap verify` for the agent's version; nothing where it was not run or the version is not known yet. */
const verifiedOf = async ({ runtime: agent, agentVersion = '' }: SessionRecord): Promise<object> => {
  const { env } = process;
  const record = await readVerified(stateFolder(env, homeFolder(env)), agent, agentVersion);
  if (!record) return {};
  return { verified: { at: record.at, good: countPassed(record), checks: record.checks.length } };
};
