import type { WindowSource } from '../../core/reading.js';
import type { Definition } from './definition.js';
import { matchRow } from './pattern.js';

interface Window {
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
}

/** The window that the definition gives this model, if it does. */
export const windowOf = (window: Definition['window'], model: string | undefined): Window => {
  const tokens =
    typeof window === 'object'
      ? window.find(({ pattern }) => model !== undefined && matchRow(pattern, model))?.tokens
      : window;
  return tokens === undefined ? {} : { windowTokens: tokens, windowSource: 'table' };
};
