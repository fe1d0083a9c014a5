import { type UndoRequest, copySession, type UndonePlan, planCheckpoint, undoCompaction } from './undo.js';
import { readWritableConversation } from './read-conversation.js';
import { readLonger, type LongerConversation, type SessionBefore } from './shortened-from.js';
import { createFile } from '../storage/files.js';
import { checkpointName } from './write-session.js';

// Writes what a running agent takes another conversation from: a session file, or a checkpoint of its own.

export interface ReturnRequest extends Pick<UndoRequest, 'agent' | 'as'> {
  /** the session that the agent had before its conversation was shortened */
  readonly before: SessionBefore;
  /** the session file that it has now */
  readonly path: string;
}

/** What the agent's command takes it by: its id, or one that is made and `created`. */
export interface PreparedReturn {
  readonly name: string;
  readonly created?: string;
  readonly longer: LongerConversation;
}

/**
 * Made are a copy for an agent that does not show that it is back in a session that it keeps open, and where only the black box has the
 * session; a checkpoint for an agent that takes no other session while it runs. Rejects if it cannot be read or written.
 */
export const prepareReturn = async ({ agent, as, before, path }: ReturnRequest): Promise<PreparedReturn> => {
  const { keepsOpen = false, checkpoint } = agent.newSessions?.switching ?? {};
  const longer = await readLonger(before, Infinity);
  const { source, session, copiedAt } = longer;
  if (checkpoint) {
    const whole = await readWritableConversation(source);
    if (!whole) throw new Error('the session file cannot be read');
    const name = checkpointName(as);
    const file = checkpoint(whole, path, name);
    await createFile(file.path, [file.text]);
    return { name, created: file.path, longer };
  }
  if (!keepsOpen && copiedAt === undefined) return { name: session.id, longer };
  const copy = await copySession(source, as);
  return { name: copy.id, created: copy.path, longer };
};

export interface Prepared {
  readonly plan: UndonePlan;
  /** what the agent's command takes */
  readonly name: string;
  /** the new file */
  readonly path: string;
}

/** Writes what the running agent takes the conversation from: a session file, or a checkpoint. Rejects as `undoCompaction` does. */
export const prepareSwitch = async (request: UndoRequest): Promise<Prepared> => {
  const name = checkpointName(request.as);
  const planned = await planCheckpoint(request, name);
  if (!planned) {
    const { session, ...plan } = await undoCompaction(request);
    return { plan, name: session.id, path: session.path };
  }
  const { plan, file } = planned;
  await createFile(file.path, [file.text]);
  return { plan, name, path: file.path };
};
