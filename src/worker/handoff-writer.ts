import { setTimeout as pass } from 'node:timers/promises';
import { handoffMarkdown } from '../core/conversation/handoff-text.js';
import type { HandoffReason } from '../core/conversation/handoff.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import { handoffCommand, handoffReadyText } from '../core/live-handoff.js';
import { toPrintableLines } from '../core/printable.js';
import { answerEvent } from '../core/session-flow.js';
import { shownId } from '../core/shown-conversation.js';
import { scaledWait } from '../core/time-scale.js';
import type { SessionSource } from '../session-files/read-history.js';
import { readHandoff } from '../session-files/read-handoff.js';
import type { WrapSession } from '../session/options.js';
import type { Publisher, SessionLoop } from '../session/ports.js';
import { writeHandoff as writeHandoffFile } from '../storage/sessions.js';
import { systemReason } from '../storage/errors.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';

// Writes the handoff of the running session into ctxwrap's own folder, where the next agent's user and other programs find it. One file a
// session: a later one takes the place of the one before.

export interface HandoffWriterOptions {
  readonly session: WrapSession;
  readonly source: () => Promise<SessionSource | undefined>;
  readonly flow: SessionLoop['flow'];
  readonly publisher: Pick<Publisher, 'onHandoff'> | undefined;
  readonly take: (event: Event) => void;
}

const RETRY_MS = scaledWait(2_000); // a file that is being written or replaced is whole again by then

export interface HandoffWriter {
  /** the window is at hard, and the preset wants a handoff then */
  readonly writeAtHard: () => void;
  /** the key that writes one */
  readonly press: () => void;
}

/** Writes one at a time, and tries once more what fails. Never throws and never rejects: the footer says why there is none. */
export const makeHandoffWriter = (options: HandoffWriterOptions): HandoffWriter => {
  const { session, flow, publisher, take } = options;
  let isWriting = false;
  let next: HandoffReason | undefined; // it fell due while another one was written, which may lack what was said since
  const writeOnce = async (reason: HandoffReason): Promise<string | undefined> => {
    try {
      const conversation = shownId(flow().session.conversation);
      const path = await writeHandoff(options, reason);
      const handoff = { path, at: Date.now(), conversation };
      session.log.info(`handoff written: ${path}`);
      take({ type: 'handoff-ready', handoff });
      publisher?.onHandoff(path);
      if (reason !== 'requested') return undefined;
      const command = flow().liveHandoff?.command ?? handoffCommand(undefined);
      take(answerEvent(handoffReadyText(command)));
      return undefined;
    } catch (error) {
      return errorText(error);
    }
  };
  const write = async (reason: HandoffReason): Promise<void> => {
    if (isWriting) {
      next = next === 'requested' ? next : reason; // a key wants an answer
      return;
    }
    isWriting = true;
    const failure = await writeOnce(reason);
    if (failure !== undefined) {
      session.log.info(`a handoff is tried again: ${failure}`);
      await pass(RETRY_MS, undefined, { ref: false });
      const again = await writeOnce(reason);
      if (again !== undefined) {
        session.log.warn(`no handoff was written: ${again}`);
        take(answerEvent(`no handoff: ${again}`));
      }
    }
    isWriting = false;
    const due = next;
    next = undefined;
    if (due !== undefined) await write(due);
  };
  return {
    writeAtHard: () => void write('threshold_critical'),
    press: () => void write('requested'),
  };
};

const problems = {
  unread: 'this agent keeps no conversation that can be read',
  empty: 'nothing was said yet',
} as const;

/** Resolves with the path. */
const writeHandoff = async (
  { session, source }: HandoffWriterOptions,
  reason: HandoffReason,
): Promise<string> => {
  const { env, cwd, wrapper } = session;
  const found = await source();
  if (!found) throw new Error('the session file is not known yet');
  if (!wrapper) throw new Error('the session is not published');
  const made = await readHandoff(found, { cwd, env, reason });
  if (typeof made === 'string') throw new Error(problems[made]);
  const text = toPrintableLines(handoffMarkdown(made).split('\n'));
  return writeHandoffFile(stateFolder(env, homeFolder(env)), wrapper.id, text).catch((error: unknown) => {
    throw new Error(`its file cannot be written: ${systemReason(error)}`);
  });
};
