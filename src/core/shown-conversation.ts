import { present } from './present.js';
import type { Millis } from './reading.js';

// Which conversation this terminal shows. It is not a property of the process: agents have become screens onto servers, and a key can bring
// another conversation into view.

/** What the agent's screen says about what is in view. */
export type View =
  /** a list of conversations: none of them is in view. `name`: `the list of agents` */
  { readonly shows: 'list'; readonly name: string } | ({ readonly shows: 'conversation' } & ViewMarks);

/** How to tell a conversation on the screen from others. The text is untrusted. */
export interface ViewMarks {
  /** what the screen and the title call it */
  readonly names: readonly string[];
  /** the user's messages that are visible, the first row of each; the newest comes last */
  readonly messages: readonly string[];
}

/** Which conversation this terminal shows, and since when. Every number and every compaction belongs to it. */
export type ShownConversation =
  /** none was found so far */
  | { readonly kind: 'none'; readonly since: Millis }
  /** another one may have come into view, and it is not known yet which */
  | { readonly kind: 'sought'; readonly since: Millis }
  | { readonly kind: 'list'; readonly name: string; readonly since: Millis }
  | KnownConversation;

export interface KnownConversation {
  readonly kind: 'known';
  /** the agent's id of it */
  readonly id: string;
  /** its file; absent while it has none, and for an agent that keeps all in a database */
  readonly path?: string;
  /** proved by the agent; false for the best of several candidates */
  readonly isCertain: boolean;
  readonly since: Millis;
}

/** A conversation that was found for this terminal. */
export interface FoundConversation {
  /** the agent's id of it */
  readonly sessionId: string;
  /** as in `KnownConversation` */
  readonly path?: string;
  readonly isCertain?: boolean;
}

const KIND = /^[a-z]+_/; // before the id itself, as in `session_5f0b2e2e-…`
const SHORT_ID = 8; // characters, as agents show it

/** The beginning of a session's id, by which a user knows it: `5f0b2e2e`, `session_5f0b2e2e`. */
export const shortId = (id: string): string => id.slice(0, (KIND.exec(id)?.[0].length ?? 0) + SHORT_ID);

export const withoutKind = (id: string): string => id.replace(KIND, '');

/** Whether the id begins so, with its kind or without it. */
export const hasIdStart = (id: string, start: string): boolean =>
  id.startsWith(start) || withoutKind(id).startsWith(start);

/** The same, or as much more of the id as means it alone among these. */
export const shortIdAmong = (id: string, others: readonly string[]): string => {
  let { length } = shortId(id);
  while (length < id.length && others.some((other) => other.startsWith(id.slice(0, length)))) length += 1;
  return id.slice(0, length);
};

/** The agent's id of the conversation in view; undefined while none is known. */
export const shownId = (shown: ShownConversation): string | undefined =>
  shown.kind === 'known' ? shown.id : undefined;

/** The file of the conversation in view; undefined while none is known. */
export const shownPath = (shown: ShownConversation): string | undefined =>
  shown.kind === 'known' ? shown.path : undefined;

/** Another view: it has no conversation until one is found for it. Where none was ever found, none is looked for in vain. */
export const afterView = (before: ShownConversation, view: View, since: Millis): ShownConversation => {
  if (view.shows === 'list') return { kind: 'list', name: view.name, since };
  return { kind: before.kind === 'none' ? 'none' : 'sought', since };
};

/** A conversation was found; the same one in another file stays in view since it was. */
export const afterFound = (
  shown: ShownConversation,
  { sessionId: id, path, isCertain = true }: FoundConversation,
  now: Millis,
): KnownConversation => ({
  kind: 'known',
  id,
  ...present({ path }),
  isCertain,
  since: shown.kind === 'known' && shown.id === id ? shown.since : now,
});
