// What the title of the terminal says of Claude: a sign and a blank before a name, one at rest and others in turns while it works
// (facts/claude.md §3, facts/updates-2026-11-22.md).
import type { Millis } from '../../core/reading.js';

export type TitleWord = 'idle' | 'busy' | 'with an unknown sign' | 'without a sign';

/** The sign of a title, and when it has changed last. */
export interface TitleSeen {
  readonly sign: string;
  readonly changedAt?: Millis;
}

const SIGNED = /^([^\p{L}\p{N}\s"'([{/\\~.-])\ufe0f? +\S/u;
const AT_REST = '✳';
// `⠂ ⠐` until 2.1.230, `◐ ◑` since: parts of something that turns, as many spinners have them.
const TURNING = /^[\u2801-\u28ff◐-◓◜-◟◠◡◴-◷⊙]$/u;

const IN_TURNS_MS = 2_500; // Claude changes its sign about once a second

/** Whether a title is one that only Claude sets. */
export const isTitleOfClaude = (title: string | undefined): boolean => /^[✳⠂⠐◐◑] /.test(title ?? '');

/** What is known of the sign after this title. */
export const titleAfter = (
  before: TitleSeen | undefined,
  title: string | undefined,
  now: Millis,
): TitleSeen | undefined => {
  const sign = SIGNED.exec(title ?? '')?.[1];
  if (sign === undefined || sign === before?.sign) return sign === undefined ? undefined : before;
  return before === undefined || before.sign === AT_REST ? { sign } : { sign, changedAt: now };
};

/** Undefined where there is no title: in old versions, with CLAUDE_CODE_DISABLE_TERMINAL_TITLE, and after the exit. */
export const titleWord = (
  title: string | undefined,
  seen?: TitleSeen,
  now?: Millis,
): TitleWord | undefined => {
  if (title === undefined) return undefined;
  const sign = SIGNED.exec(title)?.[1];
  if (sign === undefined) return 'without a sign';
  if (sign === AT_REST) return 'idle';
  const isInTurns = seen?.changedAt !== undefined && now !== undefined && now - seen.changedAt <= IN_TURNS_MS;
  return TURNING.test(sign) || isInTurns ? 'busy' : 'with an unknown sign';
};
