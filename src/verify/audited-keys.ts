// The keys that the wrapper's own audit log admits to.
import { listAt, parseRecord, textAt } from '../core/json.js';

/** The strokes of its attempts, in order; the log writes a control character as JavaScript does. */
export const strokesIn = (audit: string): readonly string[] =>
  audit
    .split('\n')
    .map(parseRecord)
    .filter((line) => textAt(line, 'initiator') === 'ctxwrap')
    .flatMap((line) => listAt(line, 'strokes'))
    .map((stroke) => unescaped(textAt(stroke, 'keys') ?? ''));

const unescaped = (keys: string): string => {
  const text: unknown = JSON.parse(`"${keys}"`);
  return typeof text === 'string' ? text : keys;
};
