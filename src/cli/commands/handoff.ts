import { closeSync, openSync, readSync } from 'node:fs';
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import { takesDraft, type Agent } from '../../agents/agent.js';
import { allAgents } from '../../agents/index.js';
import { errorCode } from '../../core/errors.js';
import type { Handoff, HandoffReason } from '../../core/conversation/handoff.js';
import { handoffDraft, handoffMarkdown, sizeAdvice, sizeOf } from '../../core/conversation/handoff-text.js';
import type { SessionRecord } from '../../core/report/records.js';
import { escapeMentions } from '../../core/text.js';
import { jsonText, own, type Printable, toPrintableLines } from '../../core/printable.js';
import { systemReason } from '../../storage/errors.js';
import { createFile } from '../../storage/files.js';
import { toPlainText } from '../../ui/text.js';
import { readHandoff } from '../../session-files/read-handoff.js';
import * as messages from '../messages.js';
import { findOneSource, type OneSource } from '../one-source.js';
import { linesToPrint, print, printError, workingFolder } from '../print.js';
import type { HandoffRequest } from '../define/handoff.js';
import type { Start } from '../request.js';
import type { Outcome } from '../session.js';
import { transparentReason, isSessionRunning } from '../transparency.js';
import { openSearch } from './history.js';

/**
 * `ctxwrap handoff`: prints what another session needs to continue the work, or starts another agent with it. `start` is given by the caller,
 * because only `--to` needs that much code.
 */
export const handoff = async (request: HandoffRequest, start: Start): Promise<Outcome> => {
  const target = request.to === undefined ? undefined : targetAgent(request.to, request);
  if (target) requireTerminal(request);
  const search = await openSearch(request.options);
  const found = await findOneSource(request, search, {
    command: 'handoff',
    none: messages.nothingToHandOff,
    last: 'any',
  });
  const made = await handoffOf(found, request);
  const advice = sizeAdvice(sizeOf(made));
  if (request.output !== undefined) await write(request.output, documentOf(made, request));
  if (target) return startWith(target, { made, advice, found, request, start });
  if (request.output === undefined) await print(documentOf(made, request));
  const partial = request.json ? undefined : advice;
  const notices = [found.notice, partial].filter((text) => text !== undefined);
  return { status: { kind: 'code', code: 0 }, notices };
};

const handoffOf = async (
  { source, session }: OneSource,
  { requests, without = [] }: HandoffRequest,
): Promise<Handoff> => {
  const reason = session && reasonOf(session.record);
  const settings = { cwd: session?.record.cwd, env: process.env, reason, requests, without };
  const made = await readHandoff(source, settings).catch((error: unknown) => {
    throw messages.unreadableFile(source.path, systemReason(error));
  });
  if (made === 'unread') throw messages.unreadConversation(source.agent.name);
  if (made === 'empty') throw messages.handoffEmpty(source.path);
  return made;
};

const reasonOf = ({ tier, compaction }: SessionRecord): HandoffReason | undefined => {
  if (compaction?.compactSuccessful === false) return 'error';
  return tier === 'hard' ? 'threshold_critical' : undefined;
};

// What is printed.

const documentOf = (made: Handoff, { json }: HandoffRequest): Printable =>
  json
    ? jsonText({ ...made, size: sizeOf(made) }, 2)
    : toPrintableLines(handoffMarkdown(made).trimEnd().split('\n'));

const write = async (path: string, text: Printable): Promise<void> => {
  const file = resolve(workingFolder(), path);
  try {
    await createFile(file, [text.trimEnd()]);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw messages.outputExists(path);
    throw messages.outputFailed(path, systemReason(error));
  }
};

// The other agent.

/** An agent that can be started, and whose prompt can be read. */
const targetAgent = (given: string, { options }: HandoffRequest): Agent => {
  const able = allAgents(options.configured?.runtimes).filter(takesDraft);
  const found = able.find(({ name }) => name === given);
  if (!found)
    throw messages.unknownTarget(
      given,
      able.map(({ name }) => name),
    );
  return found;
};

/** A prompt can only be filled where the agent is wrapped and its screen is read. */
const requireTerminal = ({ options }: HandoffRequest): void => {
  const reason = transparentReason({
    stdinIsTty: isatty(0),
    stdoutIsTty: isatty(1),
    env: process.env,
    insideIsAlive: isSessionRunning(process.env['CTXWRAP_SESSION']),
    interactive: true,
  });
  if (reason !== undefined) throw messages.noDraft(reason);
  if (options.values.mode === 'off') throw messages.noDraft('the mode is off');
};

const READ_ANEW = 'the conversation is read again, and may be longer than the handoff that was written';

interface Continuation {
  readonly made: Handoff;
  readonly advice: string | undefined;
  readonly found: OneSource;
  readonly request: HandoffRequest;
  readonly start: Start;
}

const startWith = async (
  target: Agent,
  { made, advice, found, request, start }: Continuation,
): Promise<Outcome> => {
  const { options } = request;
  const from = found.source.agent.name;
  const { imports } = target;
  const takes = imports?.from.includes(from) ? imports.command : undefined;
  if (request.import && takes === undefined) throw messages.noImport(target.name, from);
  const isImport =
    takes !== undefined && (request.import || (!request.draft && ask(from, target.name, takes) === 'import'));
  if (found.notice !== undefined) tell(found.notice);
  if (!isImport && found.session?.record.handoff) tell(READ_ANEW);
  if (!isImport && advice !== undefined) tell(advice);
  goTo(made.cwd);
  const draft = handoffDraft(made);
  const startingDraft = isImport ? takes : target.readsMentions ? escapeMentions(draft) : draft;
  // --runtime named the agent of the file, not of the program to start
  const { runtime: _, ...others } = options;
  return start({
    kind: 'run',
    word: target.name,
    args: [],
    anyCommand: false,
    startingDraft,
    options: others,
  });
};

const tell = (text: string): void => printError(linesToPrint([`ctxwrap: ${toPlainText(text)}`]));

/** The agent's files are named relative to the folder of the session. */
const goTo = (folder: string | undefined): void => {
  if (folder === undefined || folder === workingFolder()) return;
  try {
    process.chdir(folder);
  } catch (error) {
    throw messages.badFolder(folder, systemReason(error));
  }
};

const ANSWER_BYTES = 256;

/** Asks in the terminal; the agent's own import is the answer to an empty line. */
const ask = (from: string, to: string, command: string): 'import' | 'draft' => {
  const rows = [
    `${to} can import sessions of ${from} itself, with the whole conversation.`,
    `  1  import: ${command} is put into its prompt, and Enter lets you choose what to import`,
    '  2  handoff: what is on record is put into its prompt, as a draft',
  ];
  printError(linesToPrint(rows));
  for (;;) {
    printError(own`Which one? [1] `);
    const answer = readLine();
    if (answer.trim() === '2') return 'draft';
    if (['', '1'].includes(answer.trim())) return 'import';
  }
};

/** One line of the terminal, which is read here at once: a stream would take keys that are for the agent. '' where there is none. */
const readLine = (): string => {
  let terminal: number | undefined;
  try {
    terminal = openSync('/dev/tty', 'r');
    const bytes = Buffer.alloc(ANSWER_BYTES);
    return bytes.toString('utf8', 0, readSync(terminal, bytes, 0, ANSWER_BYTES, null));
  } catch {
    return '';
  } finally {
    if (terminal !== undefined) closeSync(terminal);
  }
};
