import { realpath } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import type { Agent, AgentLaunch, SavedSession } from '../agents/agent.js';
import type { AgentFolders } from '../agents/home.js';
import { quoteForCopying } from '../core/text.js';
import { toPlainText } from '../ui/text.js';
import { workingFolder } from './print.js';

/** What starts an agent with a session. */
export interface Resume {
  readonly command: string;
  readonly args: readonly string[];
  /** the folder that the agent looks for it in */
  readonly cwd?: string;
}

export const resumeOf = (
  { command, name, resumeArgs }: AgentLaunch,
  session: SavedSession,
  cwd: string | undefined,
): Resume => ({
  command: command ?? name,
  args: resumeArgs?.(session) ?? [],
  ...(cwd === undefined ? {} : { cwd }),
});

/** For people, to copy. */
export const resumeRows = ({ command, args, cwd }: Resume): readonly string[] => {
  const words = [command, ...args].map(quoteForCopying).join(' ');
  const there = cwd === undefined || cwd === workingFolder() ? '' : `cd ${quoteForCopying(cwd)} && `;
  return ['To continue it:', `  ${toPlainText(`${there}ctxwrap ${words}`)}`];
};

/** The agent finds a new session that is written beside this file. */
export const isInStore = async (
  { agent: { home }, path }: { readonly agent: Agent; readonly path: string },
  where: AgentFolders,
): Promise<boolean> => {
  if (!home) return false;
  const folders = [home.sessions(where), dirname(path)];
  const [store = '', folder = ''] = await Promise.all(
    folders.map((each) => realpath(each).catch(() => each)),
  );
  return !relative(store, folder).startsWith('..');
};

/** In place of the command that continues a session, where the agent would not find it. */
export const elsewhereRow = (agent: string, path: string): string =>
  toPlainText(`It is in ${path}, where ${agent} does not look for sessions.`);
