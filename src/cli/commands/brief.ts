import { toPrintableText } from '../../core/printable.js';
import { briefText } from '../../core/conversation/brief.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder as stateFolderOf } from '../../storage/state-folder.js';
import { toPlainText } from '../../ui/text.js';
import { readReceipt } from '../../session-files/read-receipt.js';
import { askAlone, type Answered } from '../ask-session.js';
import * as messages from '../messages.js';
import { print, printLines } from '../print.js';
import type { BriefRequest } from '../define/brief.js';
import type { Outcome } from '../session.js';
import { findSession, isThere, onlySession, sessionNames } from '../session-argument.js';
import { findCompaction } from './history-show.js';

/** `ctxwrap brief`: what a compaction has lost, as a draft in the prompt of the running agent, or printed. */
export const brief = (request: BriefRequest): Promise<Outcome> =>
  request.isPrinted ? printBrief(request) : putBrief(request);

const done = (code: number): Outcome => ({ status: { kind: 'code', code }, notices: [] });

const printBrief = async ({ target, options }: BriefRequest): Promise<Outcome> => {
  if (target === undefined) throw messages.whichBrief();
  const found = await findCompaction({ target, options }, 'brief --print');
  const read = await readReceipt(found.source, { line: found.compaction.line });
  if (!read) throw messages.noReceipt(target);
  const text = briefText(read.receipt);
  if (text === undefined) throw messages.nothingLost(target);
  await print(toPrintableText(`${text}\n`));
  return done(0);
};

const putBrief = async ({ target, options }: BriefRequest): Promise<Outcome> => {
  const { env } = process;
  const stateFolder = stateFolderOf(env, homeFolder(env));
  const sessions = await listSessions(stateFolder, Date.now());
  const session =
    target === undefined ? onlySession(sessions, messages.noneToBrief) : findSession(sessions, target);
  if (!session || !isThere(session)) throw messages.noLiveSession(target ?? '', sessionNames(sessions));
  const { id, runtime: agent } = session.record;
  const isQuiet = options.values.quiet === true;
  const { answered, status } = await askAlone(id, { schema: 'ctxwrap.brief/1' }, { stateFolder, isQuiet });
  await printLines([toPlainText(textOf(answered, agent))]);
  return { status, notices: [] };
};

const textOf = (answered: Answered, agent: string): string => {
  switch (answered.outcome) {
    case 'done':
      return `✓ a draft is in the prompt of ${agent}; nothing was sent`;
    case 'begun':
      return 'the draft comes as soon as the agent is idle';
    case 'refused':
      return `✗ no draft in ${agent}: ${answered.reason}`;
    case 'unknown':
      return answered.isOver
        ? `✗ not known whether the draft was in the prompt of ${agent}: ${answered.reason}; nothing was sent`
        : `✗ not known whether the draft is in the prompt of ${agent}: ${answered.reason}; look there before you ask again`;
  }
};
