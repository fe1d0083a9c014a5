// A session with the demo agent, from its first turn through a compaction to the overview, and the pictures taken of it.
import type { PieceRow } from './cells.js';
import { withDemoSession, type DemoSession } from './demo-session.js';
import type { Picture } from './svg.js';

const [COLUMNS, ROWS] = [88, 34]; // as many rows as the overview fills
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOTKEY = '\x1d';
const CLEAR = '\x15';
const QUESTION = 'How full are you now?';

export const pictureNames = ['agent', 'footer', 'overview', 'detail', 'narrow'] as const;

type PictureName = (typeof pictureNames)[number];

/** The used tokens after each turn; `kilo` is the footer's form of it. */
interface Turn {
  readonly usedTokens: number;
  readonly kilo: string;
  readonly minutes: number;
}

const turnsOf = (...turns: readonly (readonly [number, number])[]): readonly Turn[] =>
  turns.map(([usedTokens, minutes]) => ({ usedTokens, minutes, kilo: `${Math.round(usedTokens / 1000)}k/` }));

// the agent says in its seventh answer that it is past auto
const climb = turnsOf(
  [31_400, 0],
  [31_400, 4],
  [58_200, 6],
  [96_300, 3],
  [124_000, 5],
  [151_200, 2],
  [169_300, 0],
);
const toHard = turnsOf([178_100, 0]);
const climbAgain = turnsOf([47_500, 5], [92_800, 7], [133_100, 4], [168_400, 0]);

const play = async (
  demo: DemoSession,
  turns: readonly Turn[],
  onTurn?: (turn: Turn) => Promise<void>,
  windowTokens = 200_000,
) => {
  for (const turn of turns) {
    await demo.turn(`${QUESTION}\r`);
    demo.record({ type: 'turn', usedTokens: turn.usedTokens, windowTokens, model: 'simulated' });
    await demo.untilFooter(turn.kilo);
    await onTurn?.(turn);
    await demo.pass(turn.minutes * MINUTE_MS);
  }
};

/** The user has been inactive for long enough, and the countdown has run for two seconds. */
const countDown = async (demo: DemoSession): Promise<void> => {
  await demo.pass(4 * SECOND_MS);
  await demo.untilFooter('compacting in 10 s');
  await demo.pass(2 * SECOND_MS);
  await demo.untilFooter('compacting in 8 s');
};

/** A key that pauses the countdown has been noticed, and the user has been inactive since then: it goes on where it was. */
const goOn = async ({ pass }: DemoSession, shows: (text: string) => Promise<void>): Promise<void> => {
  await shows('aiting: you just typed');
  await pass(4 * SECOND_MS);
};

const compact = async (demo: DemoSession): Promise<void> => {
  await countDown(demo);
  for (const seconds of ['6 s', '4 s', '2 s']) {
    await demo.pass(2 * SECOND_MS);
    await demo.untilFooter(`compacting in ${seconds}`);
  }
  await demo.pass(2 * SECOND_MS);
  await demo.untilLog(' activity compacting');
  demo.passNow(14 * SECOND_MS);
  // the agent's screen reports the compaction first, then its session file; without the wait the order would be random
  await demo.untilLog(' activity ready');
  demo.record({ type: 'compaction', preTokens: 178_100, postTokens: 13_961 });
  await demo.untilFooter('compacted 178k');
};

const footerTitle =
  'The footer before the first turn, at safe, warn, auto with its countdown, and hard, after a compaction, after the next turn, and in a window of a million with a limit of 300k';
const agentTitle =
  'The demo agent in a terminal; in the row below it the footer: 85%, 169k of 200k, auto, compacting in 8 s · Esc: not now';
const overviewTitle =
  'The overview at auto: how full the window is, what happens next, what fills it, the thresholds with their reasons, the use over 42 minutes, the last compaction';
const detailTitle =
  'The second page of the overview: where the number comes from, what the agent is doing, how the last compaction was proved';

/** The footer of another session, in a window of a million with a limit of one's own. */
const footerInTheMillion = async (): Promise<readonly PieceRow[]> => {
  let row: readonly PieceRow[] = [];
  await withDemoSession({ columns: COLUMNS, rows: ROWS, options: ['--auto', '300k'] }, async (demo) => {
    await demo.untilFooter('waiting for the first turn');
    await play(demo, turnsOf([31_400, 0], [259_000, 0]), undefined, 1_000_000);
    row = await demo.rows(ROWS - 1);
  });
  return row;
};

/** The pictures by their names, in the order in which they were taken. */
export const takePictures = async (): Promise<ReadonlyMap<PictureName, Picture>> => {
  const pictures = new Map<PictureName, Picture>();
  await withDemoSession({ columns: COLUMNS, rows: ROWS }, async (demo) => {
    const { window, rows } = demo;
    const footers: PieceRow[] = [];
    const keepFooter = async (): Promise<void> => {
      footers.push(...(await rows(ROWS - 1)));
    };
    const shows = (text: string): Promise<void> => window.until(text);
    const keepScreen = async (name: PictureName, title: string, first = 0): Promise<void> =>
      void pictures.set(name, { title, columns: window.emulator.terminal.cols, rows: await rows(first) });

    await demo.untilFooter('waiting for the first turn');
    await keepFooter();
    await play(demo, climb, async ({ kilo }) => {
      if (kilo === '124k/' || kilo === '151k/') await keepFooter();
    });
    await countDown(demo);
    await keepFooter();
    await keepScreen('agent', agentTitle, ROWS - 12);

    await play(demo, toHard);
    window.type('wait, what about');
    await demo.untilFooter('waiting: unsent text in the prompt');
    await keepFooter();
    window.type(CLEAR);
    await demo.untilFooter('waiting: you just typed');
    await compact(demo);
    await keepFooter();
    await demo.pass(6 * MINUTE_MS);
    await play(demo, climbAgain, async ({ kilo }) => {
      if (kilo === '48k/') await keepFooter();
    });
    footers.push(...(await footerInTheMillion()));
    pictures.set('footer', { title: footerTitle, columns: COLUMNS, rows: footers });

    await countDown(demo);
    window.type(HOTKEY);
    await shows('What fills it');
    await goOn(demo, shows);
    await shows('Compacts in 8 s');
    await keepScreen('overview', overviewTitle);
    window.type('d');
    await shows('Where the number comes from');
    await keepScreen('detail', detailTitle);
    await demo.pass(4 * SECOND_MS);
    await demo.untilLog('this page does not show the countdown');
    window.type('d');
    await shows('What fills it');
    await goOn(demo, shows);
    await shows('Compacts in 10 s'); // the other page did not show it
    window.resize(40, 10);
    await shows('1-8/');
    await keepScreen('narrow', 'The overview in 40 columns and 10 rows');
  });
  return pictures;
};
