import type { Call, Entry, Result } from '../core/conversation/conversation.js';
import type { Styled } from '../core/printable.js';
import type { Look } from '../core/look.js';
import { makeTheme, type Theme } from '../ui/theme.js';
import { timeText } from './context-text.js';

// A conversation for people, in `ctxwrap history show --before`: as plain text with marks of who says what, or as Markdown.

/** Who or what an entry is from, in a word, and the text that belongs to it. */
interface Shown {
  readonly who: string;
  /** beside the word */
  readonly label: string;
  readonly text: string;
  readonly tone: 'strong' | 'accent' | 'quiet' | 'failure';
  /** the text is verbatim, not prose */
  readonly isCode: boolean;
}

/** Lines without line ends. */
export const conversationText = (entries: readonly Entry[], look: Look): readonly Styled[] => {
  const theme = makeTheme(undefined, look);
  return shownEntries(entries).flatMap((shown, index) => [
    ...(index > 0 ? [''] : []),
    ...plainLines(shown, theme),
  ]);
};

const INDENT = '  ';

const plainLines = ({ who, label, text, tone }: Shown, theme: Theme): readonly Styled[] => [
  label === '' ? theme[tone](who) : [theme[tone](who), '  ', theme.quiet(label)],
  ...linesOf(text).map((line) => (line === '' ? '' : [INDENT, tone === 'quiet' ? theme.quiet(line) : line])),
];

export const conversationMarkdown = (entries: readonly Entry[]): readonly string[] =>
  shownEntries(entries).flatMap((shown) => markdownLines(shown));

const markdownLines = ({ who, label, text, isCode }: Shown): readonly string[] => {
  const name = `${who.charAt(0).toUpperCase()}${who.slice(1)}`;
  const heading = `## ${name}${label === '' ? '' : ` · ${label}`}`;
  const lines = linesOf(text);
  if (lines.length === 0) return [heading, ''];
  if (!isCode) return [heading, '', ...lines, ''];
  // a fence that is longer than any in the text
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return [heading, '', fence, ...lines, fence, ''];
};

const linesOf = (text: string): readonly string[] => {
  const lines = text.replaceAll('\t', '    ').split(/\r?\n/);
  while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop();
  return lines;
};

const shownEntries = (entries: readonly Entry[]): readonly Shown[] => {
  const calls = new Map<string, Call>();
  return entries.flatMap((entry) => {
    if (entry.kind === 'call') calls.set(entry.callId, entry);
    const shown = shownOf(entry, calls);
    const isNothing =
      !shown || (entry.kind !== 'call' && entry.kind !== 'result' && shown.text.trim() === '');
    return isNothing ? [] : [shown];
  });
};

const shownOf = (entry: Entry, calls: ReadonlyMap<string, Call>): Shown | undefined => {
  const at = entry.source.at === undefined ? '' : timeText(entry.source.at);
  switch (entry.kind) {
    case 'prompt':
      return { who: 'you', label: at, text: entry.text, tone: 'strong', isCode: false };
    case 'answer':
      return { who: 'agent', label: entry.model ?? '', text: entry.text, tone: 'accent', isCode: false };
    case 'reasoning':
      return { who: 'agent thinks', label: '', text: entry.text, tone: 'quiet', isCode: false };
    case 'context':
      return { who: 'context', label: '', text: entry.text, tone: 'quiet', isCode: true };
    case 'summary':
      return {
        who: 'summary',
        label: entry.isEncrypted ? 'encrypted' : 'of an earlier compaction',
        text: entry.text,
        tone: 'accent',
        isCode: false,
      };
    case 'notice':
      return { who: 'notice', label: '', text: entry.text, tone: 'quiet', isCode: true };
    case 'call':
      return { who: `tool ${entry.name}`, label: '', text: inputText(entry), tone: 'accent', isCode: true };
    case 'result':
      return resultOf(entry, calls.get(entry.callId));
    case 'compaction':
      return undefined;
  }
};

const resultOf = ({ name, output, isError }: Result, call: Call | undefined): Shown => ({
  who: isError ? 'error' : 'result',
  label: call?.name ?? name ?? '',
  text: output,
  tone: isError ? 'failure' : 'quiet',
  isCode: true,
});

/** The command or the text that the tool gets; else all of its arguments. */
const inputText = ({ commands, input }: Call): string => {
  if (typeof input !== 'string' && commands !== undefined) return commands.join('\n');
  if (typeof input === 'string') return input;
  return input === undefined ? '' : JSON.stringify(input, undefined, 2);
};
