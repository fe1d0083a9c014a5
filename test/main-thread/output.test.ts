// The child's output reaches the terminal, whatever part of the wrapper fails.
import { beforeEach, describe, expect, it } from 'vitest';
import { titleSigns } from '../../src/agents/claude/launch.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeAgentStateProxy } from '../../src/terminal/agent-state-proxy.js';
import { REGION_OFF } from '../../src/terminal/footer-room.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { quirksFromEnv } from '../../src/terminal/filter/quirks.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { makeBusyMeter, makeOutput } from '../../src/main-thread/output.js';
import { makeCounters } from '../../src/session/thread-messages.js';
import type { TerminalSession } from '../../src/main-thread/terminal-session.js';
import { switchToPassthrough } from '../../src/main-thread/route.js';

let written: string;
let said: string[];
beforeEach(() => {
  written = '';
  said = [];
});

const broken = (): never => {
  throw new Error('broken');
};

/** The members of a terminal session that the output needs. */
const stageWith = (more: object = {}): TerminalSession =>
  ({
    session: { log: { ...nullLog, error: (message: string) => said.push(message.split('\n')[0] ?? '') } },
    tty: {
      write: (bytes: Uint8Array | string) => (written += Buffer.from(bytes).toString()),
      pending: () => 0,
      size: () => ({ columns: 80, rows: 24 }),
    },
    filter: makeStreamFilter(makeGrid(80, 23, 24, quirksFromEnv({}))),
    screen: { feed: () => undefined },
    counters: makeCounters(),
    worker: { post: () => undefined },
    isPassthrough: false,
    ...more,
  }) as unknown as TerminalSession;

interface OutputListener {
  readonly onOutput: () => void;
  readonly onFailure: () => void;
}

const play = (terminal: TerminalSession, more: Partial<OutputListener> = {}): void => {
  const { onOutput, onFailure }: OutputListener = {
    onOutput: () => undefined,
    onFailure: () => switchToPassthrough(terminal, { stop: () => undefined }),
    ...more,
  };
  const output = makeOutput(terminal, ({ type }) => {
    if (type === 'output-written') onOutput();
    if (type === 'failure') onFailure();
  });
  const write = (text: string): void => output.fromChild(Buffer.from(text), () => false);
  output.hold();
  for (const text of ['<one>', '<two>']) write(text);
  output.release();
  write('<three>');
};

describe('the bytes of the child', () => {
  it('are written before anything looks at them', () => {
    const seen: string[] = [];
    play(stageWith({ screen: { feed: () => seen.push(written) } }), { onOutput: () => seen.push(written) });
    expect(seen).toEqual([
      '<one>',
      '<one>',
      '<one><two>',
      '<one><two>',
      '<one><two><three>',
      '<one><two><three>',
    ]);
  });

  it.each([
    ['the screen model', { screen: { feed: broken } }, {}],
    ['what follows the output', {}, { onOutput: broken }],
    [
      'what reads the screen, at its end too',
      { screen: { feed: broken }, tracker: { stopReadingScreen: broken } },
      {},
    ],
  ])('go on, once each and in order, when %s fails', (_, parts, listener) => {
    const terminal = stageWith(parts);
    play(terminal, listener);
    expect(written.match(/<\w+>/g)).toEqual(['<one>', '<two>', '<three>']);
    expect(terminal.isPassthrough).toBe(true);
    expect(said.filter((line) => line === 'going on as a plain passthrough')).toHaveLength(1);
    expect(said.length).toBeLessThan(4);
  });

  it('go on when the footer cannot be stopped', () => {
    const terminal = stageWith({ screen: { feed: broken } });
    play(terminal, { onFailure: () => switchToPassthrough(terminal, { stop: broken }) });
    expect(written.match(/<\w+>/g)).toEqual(['<one>', '<two>', '<three>']);
  });
});

describe('a change of the terminal’s size', () => {
  it('is looked for before the first output, because signals may have come before', () => {
    const output = makeOutput(stageWith(), () => undefined);
    const checked: string[] = [];
    output.fromChild(Buffer.from('first'), () => checked.push('first') < 0);
    expect(checked).toEqual(['first']);
    expect(written).toBe('first');
  });

  it('is looked for where ctxwrap was busy since the last output, and left to the signal where it has slept', () => {
    let [now, idle] = [1_000, 900];
    const isBusy = makeBusyMeter(
      () => now,
      () => idle,
    );
    const after = (busyMs: number, idleMs: number): boolean => {
      now += busyMs + idleMs;
      idle += idleMs;
      return isBusy();
    };
    expect([isBusy(), after(0.1, 0), after(0.2, 80), after(30, 50), after(6, 0), after(1, 5_000)]).toEqual([
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
  });
});

const FAULT = '\x1b[43G';

/** A filter that fails where the child moves its cursor to column 43. */
const filterWithFault = () => {
  const grid = makeGrid(80, 23, 24, quirksFromEnv({}));
  let { column } = grid;
  const set = (next: number): void => {
    if (next === 42) broken();
    column = next;
  };
  Object.defineProperty(grid, 'column', { get: () => column, set });
  return makeStreamFilter(grid);
};

const pieces = [
  '<a>',
  '\x1b]7501;?\x07',
  '<b>',
  '\x1b]7501;state=busy\x07',
  '<c>',
  '\x1b]0;<name>\x07',
  '<d>',
];

describe.each([
  ['passes on', false],
  ['shows states in titles', true],
])(
  'a read with titles and agent states on which the filter fails, of a wrapper that %s',
  (_, isEmulating) => {
    it.each(pieces.map((_piece, at) => at))(
      'is written once and in order, with the fault at place %i',
      (at) => {
        const stateProxy = makeAgentStateProxy(filterWithFault(), titleSigns({}));
        const terminal = stageWith({ filter: stateProxy.filter, stateProxy });
        const { fromChild } = makeOutput(terminal, ({ type }) => {
          if (type === 'failure') switchToPassthrough(terminal, { stop: () => undefined });
        });
        const write = (text: string): void => fromChild(Buffer.from(text), () => false);
        if (isEmulating) {
          write('\x1b]7501;?\x07');
          stateProxy.takeDueAnswer('giveUp');
        }
        write(pieces.toSpliced(at, 0, FAULT).join(''));
        expect(terminal.isPassthrough).toBe(true);
        const seen = (text: string): readonly string[] => text.match(/<\w+>|\x1b\[43G/g) ?? [];
        expect(seen(written)).toEqual(pieces.toSpliced(at, 0, FAULT).flatMap(seen));
      },
    );
  },
);

it('a sequence that is not whole where the filter fails is not cut by those that remove the footer', () => {
  const terminal = stageWith({ filter: filterWithFault() });
  const { fromChild } = makeOutput(terminal, ({ type }) => {
    if (type === 'failure') switchToPassthrough(terminal, { stop: () => undefined });
  });
  for (const text of [`<a>${FAULT}<b>\x1b[3`, '1m<c>']) fromChild(Buffer.from(text), () => false);
  expect(written).toContain(REGION_OFF);
  expect(written).toMatch(/<a>\x1b\[43G<b>\x1b\[31m<c>$/);
});
