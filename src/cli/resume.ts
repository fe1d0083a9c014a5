import type { AgentLaunch, SavedSession } from '../agents/agent.js';
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
