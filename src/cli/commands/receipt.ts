import { evidenceKinds, notUnderstoodText } from '../../core/conversation/conversation-evidence.js';
import {
  beforeCounts,
  beforeText,
  keptCounts,
  keptText,
  nounOf,
  type Receipt,
  type ReceiptItem,
} from '../../core/conversation/receipt.js';
import { jsonText, stripControls, type Styled } from '../../core/printable.js';
import { readLook } from '../../ui/look.js';
import { wrapText } from '../../ui/text.js';
import { makeTheme, type Theme } from '../../ui/theme.js';
import { readReceipt } from '../../session-files/read-receipt.js';
import { sizesText } from '../history-text.js';
import * as messages from '../messages.js';
import { print, printLines } from '../print.js';
import type { ReceiptRequest } from '../define/receipt.js';
import type { Outcome } from '../session.js';
import { widthOfOutput } from '../text.js';
import { findCompaction, type OneCompaction } from './history-show.js';

/** `ctxwrap receipt SESSION#N`: what a compaction has kept of what was in the window before it, and what it has lost. */
export const receipt = async (request: ReceiptRequest): Promise<Outcome> => {
  const { env, stdout } = process;
  const found = await findCompaction(request, 'receipt');
  const { agent } = found.source;
  if (!agent.log?.conversation) throw messages.unreadConversation(agent.name);
  const read = await readReceipt(found.source, { line: found.compaction.line });
  if (!read) throw messages.noReceipt(request.target);
  if (request.json) await print(jsonText(reportOf(found, read.receipt), 2));
  else {
    const { theme } = request.options.values;
    const look = readLook({ env, isTTY: stdout.isTTY, columns: widthOfOutput(), theme });
    const lines = textOf(found, read.receipt, {
      isFull: request.full,
      columns: look.columns,
      theme: makeTheme(undefined, look),
    });
    await printLines(lines);
  }
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

/** The schema of `--json`, documented in docs/receipt.md. */
const reportOf = ({ session, compaction }: OneCompaction, read: Receipt): object => ({
  schema: 'ctxwrap.receipt/1',
  runtime: session.runtime,
  session_id: session.sessionId ?? null,
  number: compaction.number,
  pre_tokens: compaction.preTokens ?? null,
  post_tokens: compaction.postTokens ?? null,
  fixed_tokens: compaction.fixedTokens ?? null,
  summary_readable: !read.isUnreadable,
  counts: keptCounts(read),
  not_understood: read.notUnderstood,
  before: beforeCounts(read),
  commands_run: read.commandsRun,
  items: read.items.map(({ kind, text, line, isKept, hasFailed }) => ({
    kind,
    text,
    line: line + 1,
    kept: isKept || !read.isUnreadable ? isKept : null,
    ...(kind === 'command' ? { failed: hasFailed === true } : {}),
  })),
});

interface TextView {
  /** also what was kept */
  readonly isFull: boolean;
  readonly columns: number;
  readonly theme: Theme;
}

const textOf = (found: OneCompaction, read: Receipt, view: TextView): readonly Styled[] => {
  const { theme } = view;
  return [
    theme.strong(headOf(found)),
    ...resultOf(read).flatMap((line) => wrapText(line, view.columns)),
    ...evidenceKinds.flatMap((kind) =>
      sectionOf(
        read.items.filter((item) => item.kind === kind && (view.isFull || !item.isKept)),
        read.isUnreadable ? 'unknown' : 'lost',
        view,
      ),
    ),
    ...othersOf(read, view),
  ];
};

const resultOf = (read: Receipt): readonly string[] => {
  const rest = notUnderstoodText(read.notUnderstood);
  if (read.items.length === 0 && rest === undefined)
    return ['Nothing in the conversation before it counts as evidence.'];
  const unread = rest === undefined ? [] : [stripControls(rest)];
  if (read.items.length === 0) return unread;
  if (read.isUnreadable) return [`summary encrypted · ${beforeText(read) ?? ''}`, ...unread];
  return [`kept ${keptText(keptCounts(read))}`, ...unread];
};

/** Searches and readings are most of what runs: why so few are listed. */
const othersOf = ({ items, commandsRun }: Receipt, { columns }: TextView): readonly Styled[] =>
  commandsRun <= items.filter(({ kind }) => kind === 'command').length
    ? []
    : [
        '',
        ...wrapText(
          `${commandsRun} ${nounOf('command', commandsRun)} ran. Counted are the last test, build, check, migration and deployment by each program, and what failed.`,
          columns,
        ),
      ];

const headOf = ({ session, compaction }: OneCompaction): string =>
  `${session.runtime}  compaction ${compaction.number}  ${sizesText(compaction)}`;

const INDENT = 2;

const sectionOf = (
  items: readonly ReceiptItem[],
  /** what is said of items that are not found */
  fate: 'lost' | 'unknown',
  { isFull, columns, theme }: TextView,
): readonly Styled[] => {
  const [first] = items;
  if (!first) return [];
  const lost = items.filter(({ isKept }) => !isKept).length;
  const title = isFull
    ? `${items.length} ${nounOf(first.kind, items.length)}, ${lost} ${fate}`
    : `${lost} ${nounOf(first.kind, lost)} ${fate}`;
  return [
    '',
    theme.accent(title),
    ...items.flatMap(({ text, isKept, hasFailed }) =>
      wrapText(stripControls(hasFailed ? `${text} (failed)` : text), columns - INDENT - 2).map(
        (line, index) => {
          const mark = index > 0 ? '  ' : isKept ? '✓ ' : !isFull ? '  ' : fate === 'lost' ? '✗ ' : '? ';
          return [mark, isKept ? theme.quiet(line) : line];
        },
      ),
    ),
  ];
};
