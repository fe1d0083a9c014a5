import type { Entry, Prompt } from '../conversation/conversation.js';

// Cuts what is in the window into parts that only stay or go as a whole: a tool call with its result, the records of one answer, a thought with
// what it led to. A model's server refuses a history in which they are apart (docs/facts/sessions.md#made-up-histories).

export interface Part {
  /** in the order of the window; never empty */
  readonly entries: readonly Entry[];
  /** the user's messages among them: one for a message between turns, more where the user wrote while a tool ran */
  readonly prompts: readonly Prompt[];
  readonly tokens: number;
}

/** The window as parts, in its order. Calls without a result, and results without a call, are left out with what led to them. */
export const partsOf = (window: readonly Entry[]): readonly Part[] => {
  const paired = withoutOrphans(window);
  const ends = endsOf(paired);
  const parts: Part[] = [];
  for (let start = 0; start < paired.length;) {
    let end = start;
    for (let index = start; index <= end; index += 1) end = Math.max(end, ends[index] ?? index);
    parts.push(partOf(paired.slice(start, end + 1)));
    start = end + 1;
  }
  return parts;
};

const partOf = (entries: readonly Entry[]): Part => ({
  entries,
  prompts: entries.filter((entry): entry is Prompt => entry.kind === 'prompt'),
  tokens: entries.reduce((total, { tokens }) => total + tokens, 0),
});

/** For each entry the index of the last one that belongs to it. */
const endsOf = (entries: readonly Entry[]): readonly number[] => {
  const lastOf = new Map<string, number>();
  const keys = entries.map(keysOf);
  for (const [index, own] of keys.entries()) for (const key of own) lastOf.set(key, index);
  return entries.map((entry, index) => {
    const next = entry.kind === 'reasoning' && index + 1 < entries.length ? index + 1 : index;
    return Math.max(next, ...(keys[index] ?? []).map((key) => lastOf.get(key) ?? index));
  });
};

/** Entries with a key in common belong together. */
const keysOf = (entry: Entry): readonly string[] => {
  const { answerId, id } = entry.source;
  return [
    ...(entry.kind === 'call' || entry.kind === 'result' ? [`call ${entry.callId}`] : []),
    ...(answerId === undefined ? [] : [`answer ${answerId}`]),
    ...(id === undefined ? [] : [`record ${id}`]),
  ];
};

/** Each call with its first result after it. A thought before a call that goes would lead to nothing, and goes, too. */
const withoutOrphans = (window: readonly Entry[]): readonly Entry[] => {
  const open = new Map<string, number>(); // index of the call
  const paired = new Set<number>();
  for (const [index, entry] of window.entries()) {
    if (entry.kind === 'call') open.set(entry.callId, index);
    const call = entry.kind === 'result' ? open.get(entry.callId) : undefined;
    if (entry.kind !== 'result' || call === undefined) continue;
    paired.add(call).add(index);
    open.delete(entry.callId);
  }
  const isOrphan = (index: number): boolean => {
    const kind = window[index]?.kind;
    return (kind === 'call' || kind === 'result') && !paired.has(index);
  };
  let isThoughtless = false;
  return window
    .map((entry, index) => ({ entry, index }))
    .toReversed()
    .filter(({ entry, index }) => {
      if (entry.kind === 'reasoning') return !isThoughtless;
      isThoughtless = isOrphan(index);
      return !isThoughtless;
    })
    .map(({ entry }) => entry)
    .toReversed();
};
