import type { LaunchSession, Wrapper, StartedChild, ExitStatus } from './options.js';
import { present } from '../core/present.js';
import type { SessionIdentity, Exit } from '../core/report/records.js';
import { processStart } from '../storage/processes.js';

// Who a session is, for other programs.

/** A session that other processes see. */
export type PublishedSession<S extends LaunchSession = LaunchSession> = S & { readonly wrapper: Wrapper };

/** What a record says of a session from its start on. */
export const identityOf = (
  { wrapper, agent, cwd, channel }: Pick<PublishedSession, 'wrapper' | 'agent' | 'cwd' | 'channel'>,
  { pid: childPid, startedAt }: StartedChild,
): SessionIdentity => {
  const start = processStart(wrapper.pid);
  return {
    ...wrapper,
    childPid,
    runtime: agent.name,
    cwd,
    startedAt,
    ...present({ channel: channel?.via, processStart: start }),
  };
};

export const exitOf = (status: ExitStatus): Exit =>
  status.kind === 'code' ? { code: status.code } : { signal: status.signal };
