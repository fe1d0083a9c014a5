import { goodChecks } from '../../core/verified-record.js';
import type { SessionRecord } from '../../core/session-record.js';
import { homeFolder } from '../../storage/home-folder.js';
import { listSessions } from '../../storage/session-records.js';
import { stateFolder } from '../../storage/state-folder.js';
import { readVerified } from '../../storage/verified-records.js';
import type { PsRequest } from '../request.js';
import { jsonText } from '../json-text.js';
import { isThere } from '../session-argument.js';
import { sessionsText } from '../sessions-text.js';
import { drawnFor } from '../signs.js';
import { widthOfOutput } from '../output-width.js';

/** `ctxwrap ps`: the sessions that are running, and with --all those that were. */
export const ps = async ({ all, json }: Pick<PsRequest, 'all' | 'json'>): Promise<string> => {
  const now = Date.now();
  const { env } = process;
  const home = homeFolder(env);
  const every = await listSessions(stateFolder(env, home), now);
  const sessions = every.filter((each) => all || isThere(each));
  if (json) {
    const records = await Promise.all(
      sessions.map(async ({ record, liveness }) => ({ ...record, liveness, ...(await verifiedOf(record)) })),
    );
    return jsonText({ schema: 'ctxwrap.sessions/1', sessions: records }, 2);
  }
  const lines = sessionsText(sessions, { now, width: widthOfOutput(), home });
  return drawnFor(`${lines.join('\n')}\n`, env);
};

/** What `ctxwrap verify` found with the agent in this version; nothing where it was not tried, or the agent has not told its version yet. */
const verifiedOf = async ({ runtime, agentVersion = '' }: SessionRecord): Promise<object> => {
  const { env } = process;
  const record = await readVerified(stateFolder(env, homeFolder(env)), runtime, agentVersion);
  if (!record) return {};
  return { verified: { at: record.at, good: goodChecks(record), checks: record.checks.length } };
};
