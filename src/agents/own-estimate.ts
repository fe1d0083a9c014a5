import { getText } from '../core/json.js';
import type { Source } from '../core/reading.js';

// An agent takes the size of its window from its last answer, so a session that ctxwrap has shortened has ctxwrap's estimate there. The mark
// beside it tells it from a count of the agent's, in this file and in every copy of it.

const ESTIMATED_BY = 'estimated_by';

/** Belongs beside the count of an answer. */
export const OWN_ESTIMATE = { [ESTIMATED_BY]: 'ctxwrap' };

/** `count`: the record of the count of an answer */
export const countSource = (count: unknown): Extract<Source, 'log' | 'estimate'> =>
  getText(count, ESTIMATED_BY) === OWN_ESTIMATE[ESTIMATED_BY] ? 'estimate' : 'log';
