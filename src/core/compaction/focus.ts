import type { Event } from '../event.js';
import type { Millis } from '../reading.js';
import { hasMoved } from './copy.js';
import type { Compaction, Effect } from './state.js';

// What the agent is asked to keep, taken from the conversation: the user wants it instead of a fixed text. It is read before the countdown, so
// that the overview can show it before it is typed. The wrapper reads it, and reports it as an event.

/** In place of a fixed text: what must be kept is taken from the conversation. */
export const FROM_CONVERSATION = 'evidence';

/** The text from the conversation. */
export type FoundFocus =
  | { readonly kind: 'asked'; readonly id: number; readonly since: Millis }
  /** read, and the agent has not worked since; without a text where nothing is known */
  | { readonly kind: 'read'; readonly text?: string | undefined }
  /** the agent's prompt did not show it as it was typed: the command goes without it */
  | { readonly kind: 'refused' };

/** Reading a file of the greatest size takes a few seconds; after this the command goes without the text. */
const READ_MS = 15_000;

const isWanted = ({ request, settings }: Compaction): boolean =>
  settings.strategy === undefined && (request?.focus ?? settings.focus) === FROM_CONVERSATION;

/** The state in which the text is asked for, where it is wanted and not there yet. */
export const withFocus = (state: Compaction, now: Millis): Compaction => {
  if (!isWanted(state) || state.found !== undefined) return state;
  const id = state.foundAsked + 1;
  return {
    ...state,
    foundAsked: id,
    found: { kind: 'asked', id, since: now },
    effects: [...state.effects, { type: 'find-focus', id }],
  };
};

/** Updates it after an event: what was read, work of the agent that makes it outdated, or a prompt that did not show it. */
export const focusAfterEvent = (state: Compaction, event: Event): Compaction => {
  const { found, phase } = state;
  if (found === undefined) return state;
  if (event.type === 'focus-found')
    return found.kind === 'asked' && found.id === event.id
      ? { ...state, found: { kind: 'read', text: event.text } }
      : state;
  const isTaken = phase.kind === 'typing' && phase.withdrawal === undefined;
  if (event.type === 'typed' && event.result.kind === 'withdrawn' && isTaken)
    return foundText(state) === undefined ? state : { ...state, found: { kind: 'refused' } };
  // the next turn makes no other prompt of it
  const isKept = found.kind === 'refused' && (event.type === 'activity' || event.type === 'voided');
  return hasMoved(state, event) && !isKept ? { ...state, found: undefined } : state;
};

/** A file that is not read in time counts as one that says nothing. */
export const focusAfterTime = (state: Compaction, now: Millis): Compaction =>
  now >= (focusDueAt(state) ?? Infinity) ? { ...state, found: { kind: 'read' } } : state;

/** Until when the text is waited for; undefined if it is not being read. */
export const focusDueAt = ({ found }: Compaction): Millis | undefined =>
  found?.kind === 'asked' ? found.since + READ_MS : undefined;

const foundText = ({ found }: Compaction): string | undefined =>
  found?.kind === 'read' ? found.text : undefined;

/** What is typed behind the command. */
export const focusOf = (
  state: Compaction,
): Pick<Extract<Effect, { type: 'type-compact' }>, 'focus' | 'found'> =>
  isWanted(state) ? { found: foundText(state) } : { focus: state.request?.focus ?? state.settings.focus };

/** The text from the conversation that is about to be typed, for the user; undefined where none is. */
export const comingFocus = (state: Compaction): string | undefined => {
  const { kind } = state.phase;
  const isComing = kind === 'proposed' || kind === 'held' || kind === 'countdown' || kind === 'typing';
  return isComing ? foundText(state) : undefined;
};
