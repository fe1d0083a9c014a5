import type { OfficialReport } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { openSettingsFiles } from '../storage/agent-file-reader.js';
import { homeFolder } from '../storage/state-folder.js';
import { watchReport } from '../storage/status-line.js';
import { keepLooking, type Rest } from '../storage/watch.js';
import type { WrapSession } from '../session/options.js';
import type { Subscription } from './follow-session.js';

// Follows the agent's own reports, where it was asked for them, and its own compaction threshold.

const POLL_MS = 250;

/** A running watch of the agent's reports; the session file says which conversation they must belong to. */
export interface ReportSubscription {
  /** the conversation has changed or become known: reports of other conversations are held back */
  readonly switchTo: (sessionId: string) => void;
  readonly stop: () => void;
}

export interface ReportListener {
  readonly onFact: (event: Event) => void;
  readonly now: () => Millis;
}

/** Follows the reports of a child that was asked for them; does nothing otherwise. */
export const followReports = (
  { agent, reportPath, log }: WrapSession,
  { onFact, now }: ReportListener,
  rest?: Rest,
): ReportSubscription => {
  let current: string | undefined;
  let last: OfficialReport | undefined;
  let wasUnknown = false;

  const readReport = (text: string): OfficialReport | undefined => {
    try {
      return agent.official?.read(text, now());
    } catch {
      return undefined; // a shape that its reader does not expect
    }
  };

  const emit = (): void => {
    if (!last || (current !== undefined && last.sessionId !== current)) return;
    for (const fact of last.facts) onFact(fact);
  };

  const take = (text: string): void => {
    const report = readReport(text);
    if (!report && !wasUnknown) log.warn(`${reportPath}: not a report that we know`);
    wasUnknown = !report;
    last = report;
    emit();
  };

  const watching = reportPath === undefined ? undefined : watchReport(reportPath, POLL_MS, take, rest);
  return {
    switchTo: (sessionId) => {
      current = sessionId;
      emit();
    },
    stop: () => watching?.stop(),
  };
};

// The agent's own compaction threshold, from its settings: read at the start, and again when a settings file changes.

const LOOK_MS = 3_000;

/** Reports the agent's own threshold whenever it changes, until stopped. */
export const followOwnCompaction = (
  { agent, env, cwd, args, log }: WrapSession,
  take: (event: Event) => void,
  rest?: Rest,
): Subscription => {
  const source = agent.ownCompaction;
  let isStopped = false;
  let files = openSettingsFiles();
  let last = JSON.stringify({ trigger: agent.nativeTrigger(env) });

  const read = async (): Promise<void> => {
    files = openSettingsFiles();
    const found = await source?.read(files, { env, cwd, args, home: homeFolder(env) });
    if (!found || isStopped) return;
    const { trigger, settings } = found;
    const now = JSON.stringify({ trigger });
    if (now === last) return;
    last = now;
    log.info(
      `${agent.name}'s own compaction: ${settings.map(({ name, value, place }) => `${name} = ${value} in ${place}`).join(', ') || 'by default'}`,
    );
    take({ type: 'own-compaction', trigger });
  };
  let wasRead = false;
  const look = async (): Promise<void> => {
    try {
      const isDue = !wasRead || (await files.haveChanged());
      wasRead = true;
      if (isDue) await read();
    } catch (error) {
      log.warn(`reading the agent's own settings: ${String(error)}`);
    }
    if (!source || source.isReadOnce) looking.stop();
  };
  const looking = keepLooking({ look, pauseMs: () => LOOK_MS, rest });
  return {
    stop: () => {
      isStopped = true;
      looking.stop();
    },
  };
};
