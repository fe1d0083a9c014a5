import type { ScreenResult } from '../../src/agents/agent.js';
import { qwenScreen } from '../../src/agents/qwen/screen.js';
import { readScreens, seenAfter } from './drawn-screen.js';

/** One screen of Qwen Code, laid out as Qwen Code does it (docs/facts/qwen.md#percentage-on-the-screen). */
export interface QwenFrame {
  /** rows of the conversation, unchanged; the scrollbar covers their last column */
  readonly conversation?: readonly string[];
  /** rows between the conversation and the input */
  readonly live?: readonly string[];
  /** lines of a draft, the cursor behind the last; the placeholder where there is none */
  readonly draft?: readonly string[];
  /** a suggested prompt in the place of the placeholder */
  readonly suggestion?: string;
  readonly mode?: string;
  readonly label?: string;
  readonly footer?: readonly string[];
  readonly title?: string;
  readonly columns?: number;
}

export const PLACEHOLDER = '  Type your message or @path/to/file';
const HINT = '  Auto mode (shift + tab to cycle)';
export const grey = (text: string): string => `\x1b[38;2;108;112;134m${text}\x1b[39m`;

/** Text at the right end of the footer. */
export const atRight = (columns: number, left: string, text: string): string =>
  `  ${left}`.padEnd(columns - 2 - text.length) + text;

export const seenQwen = ({ columns = 100, ...frame }: QwenFrame) =>
  seenAfter(bytesOf(frame, columns), { columns, rows: 34 });

const bytesOf = (frame: QwenFrame, columns: number): string => {
  const { conversation = [], live = [], mode = '>', title = 'Qwen - app', label } = frame;
  const footer = [...(frame.footer ?? ['  ➜ app · qwen3-coder-plus']), HINT];
  const lines = frame.draft ?? [grey(frame.suggestion ?? PLACEHOLDER)];
  const barred = conversation.map((row) => `${row.padEnd(columns - 1)}│`);
  const input = lines.map((line, index) => `${index === 0 ? `${mode} ` : '  '}${line}`);
  const top = label ? `${'─'.repeat(columns - label.length - 4)} ${label} ──` : '─'.repeat(columns);
  const above = [...barred, '', ...live].slice(-(32 - lines.length - footer.length));
  const rows = [...above, top, ...input, '─'.repeat(columns), ...footer];
  const row = above.length + 1 + lines.length;
  const column = frame.draft ? 3 + (lines.at(-1) ?? '').length : 3;
  return [
    `\x1b]0;${title}\x07\x1b[?1049h`,
    rows.map((text, index) => `\x1b[${index + 1};1H${text}`).join(''),
    `\x1b[${row};${column}H`,
  ].join('');
};

/** The events of the reader for these frames, one after another. */
export const lookAt = (...shown: readonly QwenFrame[]): Promise<readonly ScreenResult[]> =>
  readScreens(qwenScreen, shown.map(seenQwen));
