// What happens next in one sentence of facts: what is counted down, waited for or held, or how far it is to the next boundary.
import { uncertaintyOf } from '../compaction/doubt.js';
import type { Doubt } from '../compaction/doubt.js';
import { compactionWords, isUrgent, secondsTo } from '../compaction/words.js';
import type { Compaction } from '../compaction/state.js';
import { sessionLadder } from '../provenance.js';
import type { Fused } from '../fusion.js';
import type { Rung } from '../rung.js';
import { grouped } from '../rung.js';
import { percentOf } from '../reading.js';
import type { Millis } from '../reading.js';
import { isWindowUnknown } from '../view.js';
import { durationText } from './durations.js';
import type { Session } from '../session-state.js';

export interface NextFacts {
  readonly session: Session;
  readonly compaction: Compaction;
  readonly now: Millis;
  /** there is a key that puts it off */
  readonly canPostpone: boolean;
}

/** The key that asks for a compaction while the overlay is open. */
const ASK = 'c';

export const nextSentence = (facts: NextFacts): string => {
  const { compaction, now, canPostpone } = facts;
  const { phase, request, postponedUntil } = compaction;
  if (phase.kind === 'countdown') {
    const why = compaction.isByText ? ', proactive' : '';
    const key = canPostpone ? ', p postpones' : '';
    return sentence(`compacting in ${secondsTo(phase.until, now)} s${why}${key}`);
  }
  // of a doubt, here is room for a whole sentence
  const isDoubted = phase.kind === 'doubted' && !isUrgent(compaction, now);
  const words = isDoubted ? undefined : compactionWords(compaction, now, ASK);
  if (words !== undefined) return sentence(request ? `compaction asked for, ${words}` : words);
  const types = compaction.mode === 'auto' || compaction.mode === 'ask';
  const isPostponed = types && postponedUntil !== undefined && postponedUntil > now;
  return isPostponed
    ? `Postponed by you for ${durationText(postponedUntil - now)} more.`
    : restSentence(facts);
};

const sentence = (words: string): string => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;

const restSentence = ({ session, compaction }: NextFacts): string => {
  const { fused } = session;
  if (compaction.activity === 'dead') return 'The agent has ended.';
  if (compaction.settings.command === undefined)
    return 'Nothing is typed: no compact command of this agent is known, or it is switched off.';
  if (compaction.mode === 'warn' || compaction.mode === 'off')
    return `In the mode ${compaction.mode} nothing is typed by itself.`;
  if (!fused) return 'Nothing is started without a number.';
  if (isWindowUnknown(fused) && sessionLadder(session).auto?.unit !== 'tokens') return WINDOWLESS;
  const doubt = fused.exact ? undefined : uncertaintyOf(fused);
  return doubt ? doubtTexts[doubt] : distance(session, fused);
};

const WINDOWLESS =
  'The window is not known, so that nothing is started: --window says how large it is, --auto 150k where to compact.';

const doubtTexts: Readonly<Record<Doubt, string>> = {
  assumed: 'The window is assumed: nothing is started on it.',
  window: 'The window is not certain: nothing is started on it.',
  estimate: 'The number is an estimate: nothing is started on it.',
  sources: 'The sources differ: nothing is started on the higher number.',
};

/** How far it is to auto. */
const distance = (session: Session, fused: Fused): string => {
  const { auto } = sessionLadder(session);
  if (!auto) return 'These boundaries have no auto: nothing is typed by itself.';
  const used = auto.unit === 'tokens' ? fused.tokens : percentOf(fused.reading);
  if (used === undefined) return `Auto is at ${boundText(auto, auto.value)}.`;
  const left = auto.value - used;
  if (left <= 0) return `Auto is at ${boundText(auto, auto.value)}, and it is reached.`;
  const points = auto.unit === 'percent' ? `${Math.ceil(left)} points` : grouped(left);
  return `Auto is at ${boundText(auto, auto.value)}, ${points} above what is used now.`;
};

const boundText = ({ unit }: Rung, value: number): string =>
  unit === 'percent' ? `${value}%` : `${grouped(value)} tokens`;
