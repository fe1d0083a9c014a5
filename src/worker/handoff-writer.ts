import { handoffMarkdown } from '../core/conversation/handoff-text.js';
import type { HandoffReason } from '../core/conversation/handoff.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import { handoffCommand, handoffReadyText } from '../core/live-handoff.js';
import { toPrintableLines } from '../core/printable.js';
import { answerEvent } from '../core/session-flow.js';
import { shownId } from '../core/shown-conversation.js';
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

export interface HandoffWriter {
  /** the window is at hard, and the preset wants a handoff then */
  readonly writeAtHard: () => void;
  /** the key that writes one */
  readonly press: () => void;
}

/** Writes one at a time. Never throws and never rejects: the footer says why there is none. */
export const makeHandoffWriter = (options: HandoffWriterOptions): HandoffWriter => {
  const { session, flow, publisher, take } = options;
  let isWriting = false;
  const write = async (reason: HandoffReason): Promise<void> => {
    if (isWriting) return;
    isWriting = true;
    try {
      const conversation = shownId(flow().session.conversation);
      const path = await writeHandoff(options, reason);
      const handoff = { path, at: Date.now(), conversation };
      session.log.info(`handoff written: ${path}`);
      take({ type: 'handoff-ready', handoff });
      publisher?.onHandoff(handoff);
      if (reason !== 'requested') return;
      const command = flow().liveHandoff?.command ?? handoffCommand(undefined);
      take(answerEvent(handoffReadyText(command)));
    } catch (error) {
      session.log.warn(`no handoff was written: ${errorText(error)}`);
      take(answerEvent(`no handoff: ${errorText(error)}`));
    } finally {
      isWriting = false;
    }
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
