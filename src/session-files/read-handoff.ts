import type { Agent } from '../agents/agent.js';
import { makeHandoff, type Handoff, type HandoffInput } from '../core/conversation/handoff.js';
import { openSettingsFiles } from '../storage/agent-file-reader.js';
import { readGit, readGitPrefix } from '../storage/git.js';
import { readWholeConversation } from './read-conversation.js';
import type { RecordSource } from './session-records.js';

// The handoff of a session file, with what git says about the folder of its session.

export type HandoffSettings = Pick<HandoffInput, 'reason' | 'requests' | 'without'> & {
  /** the folder of the session, where its file does not tell it */
  readonly cwd?: string | undefined;
  /** for git */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** Why there is none: conversations of this agent cannot be read, or nothing was said. */
export type NoHandoff = 'unread' | 'empty';

/** Rejects with the system's error for a file that cannot be read. */
export const readHandoff = async (
  source: RecordSource,
  { cwd: given, env, ...settings }: HandoffSettings,
): Promise<Handoff | NoHandoff> => {
  const conversation = await readWholeConversation(source);
  if (!conversation) return 'unread';
  const hasMessages = conversation.entries.some(({ kind }) => kind !== 'context' && kind !== 'notice');
  if (!hasMessages) return 'empty';
  const cwd = conversation.head.cwd ?? given ?? (await projectOf(source.agent, source.path));
  const git = cwd === undefined ? undefined : await readGit(cwd, env);
  return makeHandoff({
    ...settings,
    conversation,
    runtime: source.agent.name,
    cwd,
    git,
    gitPrefix: cwd === undefined || !git ? undefined : await readGitPrefix(cwd, env),
    now: Date.now(),
  });
};

const projectOf = async ({ home }: Agent, path: string): Promise<string | undefined> =>
  home?.projectOf?.(openSettingsFiles(), path);
