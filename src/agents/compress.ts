import type { Boundary, CompactResult, Fact } from '../core/event.js';
import type { Millis, Activity, ActivityReport, Place } from '../core/reading.js';
import type { Refusal } from './shown-text.js';

// How a `/compress` ends on the screen, in Gemini CLI and in its fork Qwen Code (docs/facts/gemini.md#compaction,
// docs/facts/qwen.md#compaction). A model can write the same words, so only text under the command's own row counts, and only if it was not
// there before.

/** Where the command is: in the prompt, running, or nowhere. */
export type CommandWatch =
  | { readonly kind: 'none' }
  /** it is in the prompt, or was on the last screen; with the conversation that was above it */
  | { readonly kind: 'typed'; readonly columns: number; readonly above: readonly ConversationItem[] }
  | { readonly kind: 'running' };

/** An item of the conversation on the screen, its wrapped rows joined. */
export interface ConversationItem {
  readonly row: number;
  /** including its glyph; `> ` before the user's messages */
  readonly text: string;
}

/** What one screen shows of the command. */
export interface CommandScreen {
  readonly columns: number;
  /** the text in the prompt; undefined without a prompt */
  readonly draft: string | undefined;
  /** a compaction is visibly in progress */
  readonly isRunning: boolean;
  /** the rows where a compaction would be visible are covered */
  readonly isCovered: boolean;
  /** the conversation, oldest item first */
  readonly items: readonly ConversationItem[];
  /** the result of a compaction that an item reports, given without its glyph */
  readonly words: (text: string) => CompressResult | undefined;
}

/** How a compaction ended, in the agent's own words. */
export type CompressResult =
  | { readonly boundary: Omit<Boundary, 'at'> }
  /** nothing was changed */
  | { readonly result: CompactResult };

export interface WatchResult {
  readonly watch: CommandWatch;
  readonly facts: readonly Fact[];
}

const COMMAND = /^> \/(?:compress|compact|summarize)(?: |$)/;
const USER = /^[>!] /;
const DRAFT = /^\/(?:compress|compact|summarize)(?:\s|$)/;
const NONE: CommandWatch = { kind: 'none' };

/** The state of the command after one more screen. */
export const watchCommand = (before: CommandWatch, context: CommandScreen, at: Millis): WatchResult => {
  const { draft, isRunning, isCovered, items, columns } = context;
  if (isRunning) return { watch: { kind: 'running' }, facts: [] };
  if (draft === undefined || isCovered) return { watch: before, facts: [] };
  if (before.kind === 'running') return afterRun(before, context, at);
  if (DRAFT.test(draft)) return { watch: before.kind === 'typed' ? before : afterDraft(context), facts: [] };
  if (before.kind === 'none' || before.columns !== columns) return { watch: NONE, facts: [] };
  if (isSame(before.above, items)) return { watch: before, facts: [] };
  if (COMMAND.test(items.at(-1)?.text ?? '')) return { watch: before, facts: [] }; // sent, but no answer yet
  const isAnswered = COMMAND.test(items.at(-2)?.text ?? '');
  return { watch: NONE, facts: isAnswered ? factsOf(wordsIn(items.at(-1), context), at) : [] };
};

const afterRun = (before: CommandWatch, context: CommandScreen, at: Millis): WatchResult => {
  const words = endOf(context);
  const isOpen = !words && COMMAND.test(context.items.at(-1)?.text ?? ''); // its end is not painted yet
  return { watch: isOpen ? before : afterDraft(context), facts: factsOf(words, at) };
};

const afterDraft = ({ draft = '', columns, items }: CommandScreen): CommandWatch =>
  DRAFT.test(draft) ? { kind: 'typed', columns, above: items } : NONE;

// A list of commands that opens below moves the conversation; its end stays the same. Where it has not moved, it may only have grown.
const isSame = (before: readonly ConversationItem[], after: readonly ConversationItem[]): boolean => {
  const [first] = before;
  if (!first) return after.length === 0;
  const isInPlace = first.row === after[0]?.row && first.text === after[0]?.text;
  if (isInPlace && before.length !== after.length) return false;
  const shared = Math.min(before.length, after.length);
  const end = after.slice(after.length - shared);
  return before.slice(before.length - shared).every(({ text }, index) => text === end[index]?.text);
};

/**
 * The answer to the last command on the screen, after a compaction was seen. If the command's row has scrolled away, the answer is the
 * newest item, or the one before the user's next message.
 */
const endOf = (context: CommandScreen): CompressResult | undefined => {
  const { items } = context;
  const resultIn = (item: ConversationItem | undefined): CompressResult | undefined => wordsIn(item, context);
  const from = items.findLastIndex(({ text }) => COMMAND.test(text));
  const rest = items.slice(from + 1);
  const next = rest.findIndex(({ text }) => USER.test(text));
  const answers = rest.slice(0, next < 0 ? rest.length : next);
  if (from < 0) return resultIn(items.at(-1)) ?? (next < 0 ? undefined : resultIn(answers.at(-1)));
  // a second command while the first one ran
  const own = answers.filter(({ text }) => !ALREADY.test(text));
  return own.map(resultIn).find((words) => words !== undefined);
};

const GLYPH = /^[^\p{L}]{1,6}(?=\p{L})/u;
const COMPACTED = /^Chat history compressed from ~?(\d+) to ~?(\d+) tokens\.$/;
const ALREADY = /Already compressing, wait for previous request to complete$/;

const wordsIn = (item: ConversationItem | undefined, { words }: CommandScreen): CompressResult | undefined =>
  item && words(item.text.replace(GLYPH, ''));

/** The phrases that Gemini and Qwen use. */
export const parseCompressResult = (text: string): CompressResult | undefined => {
  const done = COMPACTED.exec(text);
  if (done)
    return {
      boundary: {
        initiator: 'user',
        preTokens: Number(done[1]),
        saidTokens: Number(done[2]),
        source: 'screen',
      },
    };
  const result = failureIn(text);
  return result && { result };
};

const RESULTS: readonly (readonly [RegExp, (text: string) => CompactResult])[] = [
  [/^Nothing to compress\.$/, (text) => ({ kind: 'noop', text })],
  [/^Compression was not beneficial for this history size\.$/, (text) => ({ kind: 'noop', text })],
  [
    /^Chat history compression did not reduce size\./,
    (text) => ({ kind: 'failed', failure: 'inflated', text }),
  ],
  [
    /^(?:Could not compress chat history|Chat history compression failed|Failed to compress).* (?:empty summary|summary was empty)\.$/,
    (text) => ({ kind: 'failed', failure: 'empty', text }),
  ],
  [
    /^Could not compress chat history .* truncated\.$/,
    (text) => ({ kind: 'failed', failure: 'truncated', text }),
  ],
  [
    /^(?:Could not compress chat history |Failed to compress chat history[.:])/,
    (text) => ({ kind: 'failed', failure: 'error', text }),
  ],
  [ALREADY, (text) => ({ kind: 'failed', failure: 'error', text })],
  [/^(?:Request|Command) cancelled\.$/, () => ({ kind: 'interrupted', by: 'the user' })],
];

const LONGEST = 160; // characters of a server error, which may be a page of JSON

/** The result of an unsuccessful compaction in this text; undefined when it reports none. */
export const failureIn = (words: string): CompactResult | undefined => {
  const text = words.length > LONGEST ? `${words.slice(0, LONGEST)}…` : words;
  return RESULTS.find(([pattern]) => pattern.test(words))?.[1](text);
};

const NEWS_MS = 60_000;

/** An old record read now belongs to a compaction of another run. */
export const isRecent = (writtenAt: Millis, now: Millis): boolean => now - writtenAt < NEWS_MS;

const factsOf = (words: CompressResult | undefined, at: Millis): readonly Fact[] => {
  if (!words) return [];
  return 'result' in words
    ? [{ type: 'compact-result', result: words.result }]
    : [{ type: 'boundary', boundary: { ...words.boundary, at } }];
};

// What the screens of Gemini and Qwen have in common: an input with a mode, status rows above it, and a title. Any sign against an idle
// prompt wins.

/** The input on the screen. */
export interface Composer {
  readonly top: number;
  readonly bottom: number;
  /** the character before the input: `>`, `*` in YOLO mode, `!` for a shell command; empty for a search */
  readonly mode: string;
  /** the rows of the input without frame and prefix, trailing spaces removed */
  readonly rows: readonly string[];
  /** the cursor is on the first cell of the input */
  readonly atStart: boolean;
}

/** Typed text goes to the shell, to a search, moves a cursor, or becomes a message. */
export type InputKind = 'shell' | 'search' | 'vim-normal' | 'message';

export const inputPlaces = {
  shell: 'shell mode',
  search: 'the history search',
  'vim-normal': "vim's normal mode",
} as const satisfies Readonly<Record<Exclude<InputKind, 'message'>, Place>>;

export type TitleState = 'ready' | 'working' | 'action' | 'approval' | 'plain' | 'cleared';

/** The rows between the conversation and the input. */
export interface LiveRows {
  readonly compacting: boolean;
  readonly spinning: boolean;
  readonly asking: boolean;
}

export type ReportActivity = (activity: Activity, ...more: readonly string[]) => ActivityReport;

/** What surrounds the input. */
export interface ScreenParts {
  readonly title: TitleState;
  readonly live: LiveRows;
  readonly composer: Composer | undefined;
  /** something else has visibly replaced the input */
  readonly isDialog: () => boolean;
}

/**
 * The report from title and live rows or, where these leave it open, from the input. Its first piece of evidence is the title, if the
 * title shows a state.
 */
export const reportActivity = (
  { title, live, composer, isDialog }: ScreenParts,
  atInput: (composer: Composer, is: ReportActivity) => ActivityReport,
): ActivityReport => {
  const byTitle = title === 'plain' ? [] : [`title ${title}`];
  const is: ReportActivity = (activity, ...more) => ({ activity, witnesses: [...byTitle, ...more] });
  if (title === 'cleared') return is('unknown'); // both leave it like this at exit
  if (title === 'action' || title === 'approval' || live.asking)
    return is('dialog', ...(live.asking ? ['waits for confirmation'] : []));
  if (live.compacting) return is('compacting', 'compressing chat history');
  if (title === 'working' || live.spinning) return is('busy', ...(live.spinning ? ['spinner'] : []));
  if (composer) return atInput(composer, is);
  return isDialog() ? is('dialog', 'a box instead of the input') : is('unknown');
};

/** How full the window is: from a refusal, else from the footer's percentage. */
export const readFill = (
  refusal: Refusal | undefined,
  usedPercent: number | undefined,
  at: Millis,
): readonly Fact[] => {
  const number =
    refusal ?? (usedPercent === undefined ? undefined : { usedPercent, basis: 'window' as const });
  return number ? [{ type: 'reading', reading: { ...number, source: 'screen', at } }] : [];
};

/** The rows of a conversation as shown, and how to tell items from their wrapped rows. */
export interface ConversationRows {
  readonly rowText: (row: number) => string;
  /** the first row of an item with its glyph; undefined for any other row */
  readonly begin: (text: string) => string | undefined;
  /** of the row directly below; after an empty row something else may begin */
  readonly more: RegExp;
}

/** All items of the conversation above the row, oldest first. */
export const itemsAbove = (
  below: number,
  { rowText, begin, more }: ConversationRows,
): readonly ConversationItem[] => {
  const items: ConversationItem[] = [];
  let end = 0; // the row after the newest item
  for (let row = 0; row < below; row += 1) {
    const text = rowText(row);
    const begun = begin(text);
    const last = items.at(-1);
    if (begun !== undefined) items.push({ row, text: begun });
    else if (last && row === end && more.test(text))
      items[items.length - 1] = { ...last, text: `${last.text} ${text.trim()}` };
    else continue;
    end = row + 1;
  }
  return items;
};

/**
 * The text behind the rows of a word-wrapped prompt. A word that would have fitted into the row before was moved down by a newline; a row
 * that is completely full may be cut inside a word.
 */
export const joinWrappedRows = (rows: readonly string[], columns: number): string =>
  rows.slice(1).reduce((text, row, index) => {
    const before = rows[index] ?? '';
    return `${text}${breakBetween(before, row, columns)}${row}`;
  }, rows[0] ?? '');

const breakBetween = (before: string, after: string, columns: number): '' | ' ' | '\n' => {
  const [word = ''] = after.split(' ', 1);
  if (word === '' || before === '') return '\n';
  if (before.length >= columns) return '';
  return before.length + 1 + word.length > columns ? ' ' : '\n';
};
