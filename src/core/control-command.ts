import type { Mode } from './compaction/state.js';
import type { Event } from './event.js';
import { getText, type JsonRecord, parseRecord } from './json.js';
import { isSessionId } from './report/session-id.js';
import { cleanFocus, toOneLine } from './text.js';
import { present } from './present.js';

// What a parent that owns a session may ask of it: one JSON object a line, `{"do": "compact"}`. docs/internals/events.md describes it.

export type ControlCommand =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'state' }
  /** what is wrong with the line */
  | { readonly kind: 'wrong'; readonly message: string };

const verbs = ['compact', 'withdraw', 'mode', 'strategy', 'pause', 'state'] as const;
const modes: readonly Mode[] = ['auto', 'ask', 'warn'];
const LONGEST_GIVEN = 60;

const wrong = (message: string): ControlCommand => ({ kind: 'wrong', message });

const quoted = (given: unknown): string => toOneLine(JSON.stringify(given) ?? 'nothing', LONGEST_GIVEN);

interface ControlContext {
  /** for a request that names none */
  readonly freshId: string;
  /** names of the strategies that can be used in this session */
  readonly strategies: readonly string[];
}

/** Reads one line of a parent. */
export const parseControlCommand = (
  line: string,
  { freshId, strategies }: ControlContext,
): ControlCommand => {
  const found = parseRecord(line);
  if (!found) return wrong('the line is no JSON object such as {"do": "compact"}');
  const verb = verbs.find((each) => each === found['do']);
  const id = found['id'] === undefined && verb !== 'withdraw' ? freshId : (getText(found, 'id') ?? '');
  if (!isSessionId(id))
    return wrong(`id must be 1 to 64 letters, digits, - or _, got ${quoted(found['id'])}`);
  switch (verb) {
    case 'compact': {
      const fault = compactFault(found);
      if (fault !== undefined) return wrong(fault);
      const focus = cleanFocus(getText(found, 'focus') ?? '');
      const request = { id, force: found['force'] === true, ...present({ focus }) };
      return { kind: 'event', event: { type: 'compact-requested', request } };
    }
    case 'withdraw':
      return { kind: 'event', event: { type: 'compact-cancelled', id } };
    case 'mode': {
      const mode = modes.find((each) => each === found['mode']);
      if (!mode) return wrong(`mode must be one of ${modes.join(', ')}, got ${quoted(found['mode'])}`);
      return { kind: 'event', event: { type: 'mode', mode } };
    }
    case 'strategy': {
      const strategy = strategies.find((each) => each === found['strategy']);
      if (strategy === undefined)
        return wrong(`strategy must be one of ${strategies.join(', ')}, got ${quoted(found['strategy'])}`);
      return { kind: 'event', event: { type: 'strategy', strategy } };
    }
    case 'pause':
      return { kind: 'event', event: { type: 'postpone' } };
    case 'state':
      return { kind: 'state' };
    case undefined:
      return wrong(`do must be one of ${verbs.join(', ')}, got ${quoted(found['do'])}`);
  }
};

/** What is wrong with the fields of a request; undefined if nothing is. */
const compactFault = ({ focus, force }: JsonRecord): string | undefined => {
  if (focus !== undefined && typeof focus !== 'string') return `focus must be a text, got ${quoted(focus)}`;
  if (force !== undefined && typeof force !== 'boolean')
    return `force must be true or false, got ${quoted(force)}`;
  return undefined;
};
