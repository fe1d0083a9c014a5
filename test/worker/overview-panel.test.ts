// What the worker draws of the overview while the session goes on.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultValues } from '../../src/core/config/keys.js';
import { itemKey } from '../../src/core/conversation/conversation-evidence.js';
import { recapOf, type Given } from '../../src/core/conversation/recap.js';
import { initialOverviewState } from '../../src/core/overview-keys.js';
import { emptyHistory } from '../../src/core/report/history.js';
import type { SessionFlow } from '../../src/core/session-flow.js';
import type { OverviewDrawing, WantedOverview } from '../../src/session/thread-messages.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeInkLoader, type InkLoader } from '../../src/worker/ink-loader.js';
import { makePanel, type Panel, type PanelOptions } from '../../src/worker/overview-panel.js';
import { NOON, playCompaction } from '../support/compaction-play.js';
import { eventually } from '../support/eventually.js';

const items = ['Never push to main.', 'Always run the linter.', 'Keep the tests.'].map((text) => ({
  kind: 'constraint' as const,
  text,
  line: 0,
  isKept: false,
}));
const keys = items.map(itemKey);

let at: number;
let given: Map<string, Given>;
let isWaiting: boolean;
let drawings: OverviewDrawing[];
let ink: InkLoader;
let panel: Panel;
beforeEach(() => {
  [at, given, isWaiting, drawings] = [7, new Map(), false, []];
  let flow: SessionFlow | undefined;
  playCompaction({}, {}, ({ after }) => (flow = after)).tell({ type: 'alarm' });
  const receipt = { items, isUnreadable: false, commandsRun: 0, notUnderstood: [] };
  const tracker = {
    flow: () => ({ ...flow, record: emptyHistory, startedAt: NOON, now: NOON }),
    keptText: () => undefined,
    recallWay: () => 'with your next message',
    isRecallWaiting: () => isWaiting,
    lookAtRecap: () => undefined,
    recap: () => ({ at, recap: recapOf(receipt, given) }),
  };
  ink = makeInkLoader(
    nullLog,
    () => 0,
    () => undefined,
  );
  panel = makePanel({
    session: { agent: {}, env: { TERM: 'xterm', NO_COLOR: '1' }, log: nullLog, values: defaultValues },
    ink,
    tracker: () => tracker,
    onDrawn: (drawing: OverviewDrawing) => drawings.push(drawing),
    onClose: () => expect.fail('the overview cannot be drawn'),
  } as unknown as PanelOptions);
});
afterEach(() => {
  panel.close();
  ink.stop();
});

const wanted: WantedOverview = { ...initialOverviewState, size: { columns: 80, rows: 24 }, page: 'recap' };

const drawn = async (wish: Partial<WantedOverview> = {}): Promise<OverviewDrawing | undefined> => {
  const count = drawings.length;
  panel.show({ ...wanted, ...wish });
  await eventually(() => expect(drawings.length).toBeGreaterThan(count));
  return drawings.at(-1);
};
const marks = (drawing: OverviewDrawing | undefined): readonly string[] =>
  drawing?.rows
    .map((row) => row.replaceAll(/\x1b\[[\d;]*m/g, ''))
    .flatMap((row) => /(\[[x ]\]) +(\w+)/.exec(row)?.slice(1).join(' ') ?? []) ?? [];

it('a line that is given back while the recap is open keeps its mark, whether the user has chosen or not', async () => {
  expect((await drawn())?.recap?.chosen).toEqual(keys);
  given.set(keys[0] ?? '', 'sent');
  const first = await drawn();
  expect(marks(first)).toEqual(['[x] sent', '[x] forgotten', '[x] forgotten']);
  expect(first?.recap).toEqual({ at, keys, chosen: keys });
  const recap = { at, line: 1, chosen: keys.slice(1, 2) };
  given.set(keys[1] ?? '', 'sent');
  const chosen = await drawn({ recap });
  expect(marks(chosen)).toEqual(['[ ] sent', '[x] sent', '[ ] forgotten']);
});

it('a line that was left out when others were given back is not chosen at first again, but by another compaction', async () => {
  const recap = { at, line: 0, declined: keys.slice(0, 1) };
  expect((await drawn({ recap }))?.recap?.chosen).toEqual(keys.slice(1));
  at = 9;
  expect((await drawn({ recap }))?.recap?.chosen).toEqual(keys);
});

it('what is chosen at first is decided anew when the page opens again, and by another compaction', async () => {
  await drawn();
  given.set(keys[0] ?? '', 'sent');
  await drawn({ page: 'main' });
  expect((await drawn())?.recap?.chosen).toEqual(keys.slice(1));
  const recap = { at, line: 2, chosen: [] };
  expect((await drawn({ recap }))?.recap?.chosen).toEqual([]);
  [at, given] = [9, new Map()];
  const next = await drawn({ recap });
  expect(next?.recap).toEqual({ at: 9, keys, chosen: keys });
  expect(next?.rows.find((row) => row.includes('▶'))).toContain('Never push to main.');
});

it('the key that takes back is offered while something waits', async () => {
  const keysRow = (drawing: OverviewDrawing | undefined): string =>
    drawing?.rows.join('\n').replaceAll(/\x1b\[[\d;]*m/g, '') ?? '';
  expect(keysRow(await drawn())).not.toMatch(/x take back/);
  isWaiting = true;
  expect(keysRow(await drawn())).toMatch(/x take back/);
});
