import type { Activity } from '../../src/core/reading.js';
import type { Fact } from '../../src/core/event.js';
import { codexScreen } from '../../src/agents/codex/screen.js';
import { seenAfter } from './drawn-screen.js';

/** One screen of Codex, drawn in the styles it uses (docs/facts/codex.md#percentage-on-the-screen, #state-reports). */
export interface CodexFrame {
  /** rows of the conversation, unchanged: with escape sequences for their styles */
  readonly conversation?: readonly string[];
  /** rows between the conversation and the composer: a task, queued messages */
  readonly live?: readonly string[];
  /** lines of a draft; the cursor is behind the last one. Codex's placeholder where there is none */
  readonly draft?: readonly string[];
  readonly glyph?: string;
  /** of the cursor, from 0, where it is not behind the draft */
  readonly column?: number;
  /** items of the status line */
  readonly items?: readonly string[];
  readonly hints?: string;
  /** of OSC 7501; none for old versions */
  readonly state?: string;
  readonly title?: string;
  readonly columns?: number;
  readonly rows?: number;
}

const PLACEHOLDER = '\x1b[2mAsk Codex to do anything\x1b[22m';
const HINTS = '  \x1b[1m←\x1b[22m for agents · \x1b[1m?\x1b[22m for shortcuts';

export const bold = (text: string): string => `\x1b[1m${text}\x1b[22m`;
export const dim = (text: string): string => `\x1b[2m${text}\x1b[22m`;

/** The row of a running task. */
export const task = (name: string): string =>
  `• ${dim(name)} \x1b[2m(3s • \x1b[1mesc\x1b[22m\x1b[2m to interrupt)\x1b[22m`;
export const compacting = [task('Compacting context'), dim('  └ Making room to continue.')];
export const compacted = [`${dim('• ')}Context compacted · 3s`, '', dim('  Worked for 3s • 07:58')];
export const failed = (text: string): string => `\x1b[31m■ ${text}\x1b[39m`;
export const ranOut = failed("Codex ran out of room in the model's context window. Start a new thread.");

export const seenFrame = ({ columns = 120, rows = 40, ...frame }: CodexFrame) =>
  seenAfter(bytesOf(frame, columns, rows), { columns, rows });

const bytesOf = (frame: CodexFrame, columns: number, rows: number): string => {
  const { draft, glyph = '›', items = [], hints = draft ? '' : HINTS, state, title } = frame;
  const composer = (draft ?? [PLACEHOLDER]).map((line, index) =>
    index === 0 ? `${bold(glyph)} ${line}` : `  ${line}`,
  );
  const footer = [...wrapped(items.join(' · '), columns), hints];
  const above = [...(frame.conversation ?? []), '', ...(frame.live ?? []), '', ''];
  const top = rows - footer.length - 1 - composer.length;
  const shown = above.slice(-top);
  const blank = Array.from({ length: top - shown.length }, () => '');
  const all = [...blank, ...shown, ...composer, '', ...footer];
  const cursorRow = top + composer.length;
  const cursorColumn = 1 + (frame.column ?? 2 + (draft?.at(-1) ?? '').length);
  return [
    state === undefined ? '' : `\x1b]7501;state=${state}:app=codex\x1b\\`,
    title === undefined ? '' : `\x1b]0;${title}\x07`,
    '\x1b[?1049h\x1b[?7l',
    all.map((text, index) => `\x1b[${index + 1};1H${text}\x1b[0m`).join(''),
    `\x1b[${cursorRow};${cursorColumn}H`,
  ].join('');
};

/** Between any two words, also within one item. */
const wrapped = (line: string, columns: number): readonly string[] => {
  const lines: string[] = [];
  for (const word of line.split(' ').filter(Boolean)) {
    const longer = `${lines.at(-1) ?? ' '} ${word}`;
    if (lines.length > 0 && longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(`  ${word}`);
  }
  return lines.map((text) => `\x1b[38;5;216m${text}\x1b[39m`);
};

export interface Said {
  readonly activity: Activity;
  /** used percent; undefined where no reading was given */
  readonly percent?: number;
  /** without what is in view */
  readonly facts: readonly Fact[];
}

/** The events of one reader for these screens, one after another. */
export const readFrames = async (...frames: readonly CodexFrame[]): Promise<readonly Said[]> => {
  const said: Said[] = [];
  let read = codexScreen.reader({});
  for (const frame of frames) {
    const step = read(await seenFrame(frame), 0);
    read = step.next;
    const found = step.facts.find((fact) => fact.type === 'reading');
    const percent = found?.reading.usedPercent;
    const facts = step.facts.filter(({ type }) => type !== 'view');
    said.push({ activity: step.activity.activity, facts, ...(percent === undefined ? {} : { percent }) });
  }
  return said;
};
