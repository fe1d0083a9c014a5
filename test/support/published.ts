import type { SessionRecord } from '../../src/core/report/records.js';
import { ensureSessionsFolder, writeSession } from '../../src/storage/sessions.js';

/** Publishes a running session as its wrapper does: this process is the wrapper, and claude was just started in `/proj`. */
export const publishSession = async (stateFolder: string, more: Partial<SessionRecord> = {}): Promise<void> =>
  writeSession(await ensureSessionsFolder(stateFolder), {
    schema: 'ctxwrap.session/1',
    id: '4711-a',
    version: '1',
    pid: process.pid,
    childPid: process.pid,
    runtime: 'claude',
    cwd: '/proj',
    startedAt: Date.now(),
    heartbeatAt: Date.now(),
    activity: 'ready',
    compactions: 0,
    thresholds: [],
    ...more,
  });
