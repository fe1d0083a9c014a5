import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { pid } from 'node:process';
import type { DaemonOpening, ServerOpening } from '../agents/channel.js';
import { errorText } from '../core/errors.js';
import { portOwner } from '../storage/port-owner.js';
import { homeFolder } from '../storage/state-folder.js';
import type { LaunchSession } from '../session/options.js';

// Has the agent open its control channel: a server on 127.0.0.1 behind a password that only this session knows. A background server is there
// without that.

const PASSWORD_BYTES = 24;
const UNVERIFIABLE = 'ctxwrap cannot verify here who listens on a port; it takes /proc of Linux';

/** The session with what the launch adds, or with a notice where the channel cannot be opened. Never rejects. */
export const openChannel = async (session: LaunchSession): Promise<LaunchSession> => {
  const { agent, file, log, values } = session;
  const { channel } = agent;
  if (values.via !== 'channel' || values.mode === 'off') return session;
  const keysUsed = (reason: string): string => `via is channel, but keys are used: ${reason}`;
  if (!channel) {
    // the setting is for all agents, and nothing is wrong
    log.info(keysUsed(`ctxwrap knows no control channel of ${agent.name}`));
    return session;
  }
  const leave = (reason: string): LaunchSession => {
    log.warn(keysUsed(reason));
    return { ...session, notices: [...(session.notices ?? []), keysUsed(reason)] };
  };
  if (basename(file) !== agent.command)
    return leave(`${basename(file)} may not take the options of ${agent.name}`);
  try {
    const opened =
      channel.via === 'server' ? await openServer(session, channel) : findDaemon(session, channel);
    return typeof opened === 'string' ? leave(opened) : { ...session, ...opened };
  } catch (error) {
    return leave(errorText(error));
  }
};

type Opened = Pick<LaunchSession, 'args' | 'env' | 'channel'>;

/** What the launch adds, or why it is left alone. */
const openServer = async (
  { args, env, log }: LaunchSession,
  channel: ServerOpening,
): Promise<Opened | string> => {
  const port = await freePort();
  if (port === undefined) return UNVERIFIABLE;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const plan = channel.plan({ args, env, port, password });
  if (plan.kind === 'leave') return plan.reason;
  const { via, name } = channel;
  log.info(`${name} is opened on port ${port}`);
  return { args: plan.args, env: { ...env, ...plan.env }, channel: { via, name, port, password } };
};

const findDaemon = ({ args, env, cwd }: LaunchSession, channel: DaemonOpening): Opened | string => {
  const { via, name, needsSession } = channel;
  const socket = channel.socket({ env, cwd, home: homeFolder(env) });
  return (
    channel.refusal(args) ?? {
      args,
      env,
      channel: { via, name, ...(needsSession ? { needsSession } : {}), socket },
    }
  );
};

/** A port of 127.0.0.1 that was free a moment ago; undefined where it would not be known who listens there next, as on macOS. */
const freePort = async (): Promise<number | undefined> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const owner = portOwner(pid, port);
  server.close();
  await once(server, 'close');
  return owner === 'own' ? port : undefined;
};
