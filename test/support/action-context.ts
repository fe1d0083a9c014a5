// What an action has at hand: a session of Claude at rest, and whatever a test says otherwise.
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import type { WrapSession } from '../../src/session/options.js';
import type { Publisher } from '../../src/session/ports.js';
import { nullLog } from '../../src/storage/log-file.js';
import type { ActionContext } from '../../src/typing/action.js';
import { makeAgent, typed } from './typed-agent.js';

export interface GivenContext extends Partial<Omit<ActionContext, 'session' | 'publisher'>> {
  readonly flow: ActionContext['flow'];
  readonly session?: Partial<WrapSession>;
  readonly publisher?: Partial<Publisher> | undefined;
}

/** The agent's commands are typed as `typed` says, if not said otherwise. */
export const actionContext = ({ session, publisher, ...given }: GivenContext): ActionContext => ({
  session: {
    agent: { ...agents.claude, recipe: () => typed },
    args: [],
    file: '/usr/bin/claude',
    env: {},
    cwd: '/proj',
    log: nullLog,
    values: defaultValues,
    ...session,
  } as unknown as WrapSession,
  publisher:
    publisher &&
    ({
      beginAction: () => undefined,
      onShortened: () => undefined,
      ...publisher,
    } as unknown as Publisher),
  childPid: process.pid,
  ended: new AbortController().signal,
  screen: { takesPastes: () => true, snapshot: () => undefined },
  port: makeAgent().port,
  take: () => undefined,
  sessionFile: () => undefined,
  source: async () => undefined,
  onEntered: () => undefined,
  onRestart: () => undefined,
  ...given,
});
