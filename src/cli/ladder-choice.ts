import type { LadderChoice } from '../core/ladder.js';
import type { Options } from './request.js';

/** The boundaries of the tiers as the options say. */
export const ladderChoice = ({
  ladder,
  warn,
  auto,
  hard,
}: Pick<Options, 'ladder' | 'warn' | 'auto' | 'hard'>): LadderChoice => ({
  ...(ladder ? { preset: ladder } : {}),
  ...(warn ? { warn } : {}),
  ...(auto ? { auto } : {}),
  ...(hard ? { hard } : {}),
});
