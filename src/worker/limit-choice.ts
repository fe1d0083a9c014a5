import { join } from 'node:path';
import { limitFor } from '../core/custom-bounds.js';
import type { Event } from '../core/event.js';
import { hotkeyName } from '../core/format.js';
import { limitOfferText } from '../core/limit-offer.js';
import { limitName, type LimitAnswer, type SessionLimit } from '../core/own-limit.js';
import { isReached } from '../core/report/limit-page.js';
import type { Session } from '../core/session.js';
import { answerEvent } from '../core/session-flow.js';
import { currentModel } from '../core/window.js';
import type { AgentTracker } from './agent-tracker.js';
import type { OwnConfig, WrapSession } from '../session/options.js';
import { systemReason } from '../storage/errors.js';
import { ensureFolder, homeFolder, readOwnFile, stateFolder, writeAtomic } from '../storage/state-folder.js';

// The user's choice of a limit: holds it in the session, saves it in the user's configuration where it is for always, and remembers that
// there was one, so that none is offered again.

type LimitSession = Pick<WrapSession, 'env' | 'log' | 'ownConfig' | 'values'>;

/** Carries out the choice, and answers in the footer. Never rejects. */
export const takeLimit = async (
  session: LimitSession,
  { limit, span }: LimitAnswer,
  tracker: Pick<AgentTracker, 'handle' | 'flow'> | undefined,
): Promise<void> => {
  if (!tracker) return;
  const { handle: take, flow } = tracker;
  const isRemembered = rememberAnswer(session);
  await carryOut(session, { limit, span }, { take, flow });
  await isRemembered;
};

const carryOut = async (
  session: LimitSession,
  { limit, span }: LimitAnswer,
  { take, flow }: { readonly take: (event: Event) => void; readonly flow: AgentTracker['flow'] },
): Promise<void> => {
  const { ownConfig: own } = session;
  const name = limit === 'none' ? 'no limit' : `limit ${limitName(limit)}`;
  if (span === 'session' || !own) {
    take({ type: 'limit', limit });
    const unsaved = span === 'always' ? ' · nothing is saved here' : '';
    return take(answerEvent(`${name} for this session${reachText(flow().session, limit)}${unsaved}`));
  }
  const saved = await save(own, limit);
  if ('failure' in saved) session.log.warn(`the limit is not saved in ${own.path}: ${saved.failure}`);
  const above = own.autoFrom ?? modelLimits(flow().session);
  const isInForce = !('failure' in saved) && above === undefined;
  take({ type: 'limit', limit, ...(isInForce ? { isSaved: true } : {}) });
  take(answerEvent(savedText({ limit, name, above }, own, saved) + reachText(flow().session, limit)));
};

const reachText = (session: Session, limit: SessionLimit): string =>
  limit === 'none' || isReached({ ...session, limit }) ? '' : ' · not reached in this window';

/** What became of the file. */
type Saved = { readonly before: unknown } | { readonly failure: string; readonly command: string };

const save = async (own: OwnConfig, limit: SessionLimit): Promise<Saved> => {
  const value = limit === 'none' ? undefined : limitName(limit);
  try {
    const { changeKey } = await import('../storage/config-edit.js'); // it loads a parser, which few sessions need
    const before = await changeKey(own.path, ['auto', value], {
      refused: ({ reason }) => new Error(reason),
      invalid: () => new Error('the file is not valid JSONC'),
    });
    return { before };
  } catch (error) {
    const command = `${own.command} ${value === undefined ? 'unset auto' : `set auto ${value}`}`;
    return { failure: systemReason(error), command };
  }
};

/** The key that holds a limit for the session's model, above `auto`; undefined where it has none. */
const modelLimits = (session: Session): 'limits' | undefined =>
  limitFor(session.ladder, currentModel(session))?.pattern === undefined ? undefined : 'limits';

interface Chosen {
  readonly limit: SessionLimit;
  readonly name: string;
  /** what outranks the key in the user's file */
  readonly above: string | undefined;
}

/** Where there is no room for all of it, the footer leaves out its last part. */
const savedText = ({ limit, name, above }: Chosen, own: OwnConfig, saved: Saved): string => {
  if ('failure' in saved) return `not saved: ${saved.command} · ${saved.failure} · ${name} for this session`;
  const here = above === undefined ? '' : ` · in this session instead of ${above}`;
  if (limit !== 'none') return `${name} saved in ${own.name}${here}`;
  return `${name}: auto ${saved.before === undefined ? 'is not set in' : 'removed from'} ${own.name}${here}`;
};

const ANSWERED_FILE = 'limit-answered';
const ANSWERED = 'answered\n';

const ownFolder = ({ env }: Pick<WrapSession, 'env'>): string => stateFolder(env, homeFolder(env));

const rememberAnswer = async (session: LimitSession): Promise<void> => {
  try {
    await writeAtomic(join(await ensureFolder(ownFolder(session)), ANSWERED_FILE), ANSWERED);
  } catch (error) {
    session.log.info(`the answer about a limit is not remembered: ${String(error)}`);
  }
};

const OFFER_PRIORITY = 120; // above tips, below other notices

/** Offers a limit in the footer, unless the user has chosen one before. */
export const offerLimit = async (session: LimitSession, take: (event: Event) => void): Promise<void> => {
  const hotkey = hotkeyName(session.values);
  if (hotkey === undefined || (await isLimitAnswered(session))) return;
  session.log.info('offered a limit');
  take({ type: 'notice', text: limitOfferText(`${hotkey} l`), priority: OFFER_PRIORITY, isOffer: true });
};

/** The user has chosen in this session or in an earlier one, of any agent. False where the file cannot be read, or has something else in it. */
const isLimitAnswered = async (session: Pick<WrapSession, 'env'>): Promise<boolean> =>
  (await readOwnFile(join(ownFolder(session), ANSWERED_FILE))) === ANSWERED;
