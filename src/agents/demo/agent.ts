import type { JsonRecord } from '../../core/json.js';
import type { Millis, Activity, ActivityReport, ScreenView } from '../../core/reading.js';
import {
  type FilePort,
  type Located,
  type ChildPlace,
  makeScreenReader,
  type AgentScreen,
  type ScreenReading,
  type ScreenEvidence,
  type Agent,
} from '../agent.js';
import { uuidInPath } from '../files.js';
import { demoLaunch } from './launch.js';
import { demoReader, demoSession } from './session.js';
import { watchCommand, type CommandWatch, type CompressResult, itemsAbove } from '../compress.js';

// The demo agent writes its session file to a path from the wrapper, which is named after the session's id.

const LOG_VARIABLE = 'CTXWRAP_DEMO_LOG';

export const locateDemo = async (port: FilePort, { env }: ChildPlace): Promise<Located | undefined> => {
  const path = env[LOG_VARIABLE];
  if (!path || !(await port.entry(path))) return undefined;
  return { sessionId: uuidInPath(path) ?? 'demo', path, certain: true };
};

const isDemoRecord = ({ type, at, sessionId, payload }: JsonRecord): boolean =>
  (type === 'turn' || type === 'compaction') &&
  typeof at === 'number' &&
  sessionId === undefined &&
  payload === undefined;

// What the demo agent shows: a title that shows whether it works, and a box at the end, around the row with the cursor.

/** The prompt box on the screen. */
interface Box {
  readonly top: number;
  readonly text: string;
}

const TITLE_IDLE = '✳ demo';
const TITLE_BUSY = /^[⠂⠐] demo$/;
const TOP = /^╭─{6,}╮$/;
const BOTTOM = /^╰─{6,}╯$/;
const INPUT = /^│ > (.*?) *│$/;
const DIALOG = /^ {2}Enter to choose · Esc to deny$/;
const WORKING = /^[\u2800-\u28ff] (.+)… \(\d+s · esc to interrupt\)$/;
const COMPACTING = 'Compacting conversation';
const USER = /^> (?=\S)/;
const SAID = /^(?:[●✓✗]| {2}└) /;
const MORE = /^ {2}\S/;

export const demoScreen: AgentScreen = {
  recognises: ({ signals: { title = '' } }) => title === TITLE_IDLE || TITLE_BUSY.test(title),
  reader: () => makeScreenReader<CommandWatch>({ kind: 'none' }, readScreen),
  prompt: ({ screen }) => {
    const box = findBox(screen);
    return box && !isDialog(screen) ? { text: box.text } : undefined;
  },
};

const readScreen = (state: CommandWatch, seen: ScreenEvidence, now: Millis): ScreenReading<CommandWatch> => {
  const { screen } = seen;
  const box = findBox(screen);
  const work = box && workAbove(screen, box.top);
  const context = {
    columns: screen.columns,
    draft: box?.text,
    isRunning: work === COMPACTING,
    isCovered: false,
    items: itemsAbove(box?.top ?? 0, { rowText: screen.text, begin: beginOf, more: MORE }),
    words,
  };
  const { watch, facts } = watchCommand(state, context, now);
  return { state: watch, activity: activityOf(seen, box, work), facts };
};

const activityOf = (
  { screen, signals }: ScreenEvidence,
  box: Box | undefined,
  work: string | undefined,
): ActivityReport => {
  const is = (activity: Activity, ...witnesses: readonly string[]): ActivityReport => ({
    activity,
    witnesses,
  });
  if (isDialog(screen)) return is('dialog', 'asks for permission');
  if (work === COMPACTING) return is('compacting', 'spinner');
  if (work !== undefined) return is('busy', 'spinner');
  if (!box || signals.title !== TITLE_IDLE) return is('unknown');
  if (box.text !== '') return is('draft', 'text in the box');
  return is('ready', `title ${TITLE_IDLE}`, 'empty prompt row');
};

const findBox = ({ cursorRow, text }: ScreenView): Box | undefined => {
  const input = INPUT.exec(text(cursorRow));
  if (!input || !TOP.test(text(cursorRow - 1)) || !BOTTOM.test(text(cursorRow + 1))) return undefined;
  return { top: cursorRow - 1, text: input[1] ?? '' };
};

// The dialog's last row is the last row drawn.
const isDialog = ({ rows, text }: ScreenView): boolean => {
  let last = rows - 1;
  while (last >= 0 && text(last) === '') last -= 1;
  return DIALOG.test(text(last));
};

const workAbove = ({ text }: ScreenView, top: number): string | undefined =>
  [top - 1, top - 2].map((row) => WORKING.exec(text(row))?.[1]).find((work) => work !== undefined);

const beginOf = (row: string): string | undefined =>
  USER.test(row) || SAID.test(row) ? row.trimStart() : undefined;

const words = (text: string): CompressResult | undefined => {
  if (/^Compacted \d+k → \d+k$/.test(text)) return { boundary: { initiator: 'user', source: 'screen' } };
  if (text === 'Nothing to compact.') return { result: { kind: 'noop', text } };
  if (text === 'interrupted') return { result: { kind: 'interrupted', by: 'the user' } };
  if (!text.startsWith('Compaction failed: ')) return undefined;
  return { result: { kind: 'failed', failure: 'error', text } };
};

/** The embedded agent simulator; it compacts only on request. */
export const demo: Agent = {
  ...demoLaunch,
  nativeTrigger: () => undefined,
  log: { locate: locateDemo, reader: demoReader, recognises: isDemoRecord, conversation: demoSession },
  screen: demoScreen,
};
