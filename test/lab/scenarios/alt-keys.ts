// Keys with Alt: the terminal sends ESC and the key in one write; an agent that receives them separately reads Esc and a key.
import { setTimeout as pause } from 'node:timers/promises';
import { ENTER, ESC } from '../agents/agent.js';
import { startLongTurn } from './long-turn.js';
import { assertThat } from '../../../src/verify/checks.js';
import type { Scenario, LabSession } from './scenario.js';

const KEY_MS = 300; // the user looks at the result before the next key

const ALT_ENTER = ESC + ENTER;
const ALT_B = `${ESC}b`;
const [UPPER, LOWER] = ['meadow', 'harbour'];

/** The row holds this word, and otherwise only what an agent draws around its prompt. */
const isAlone = (word: string, row = ''): boolean => new RegExp(String.raw`^\W*${word}\W*$`).test(row);

const turnsAsked = ({ mock }: LabSession): number =>
  mock.requests().filter(({ purpose }) => purpose === 'turn').length;

const enter: Scenario = {
  name: 'Alt+Enter',
  expects:
    'Alt+Enter between two words makes a new line and sends nothing; Enter then sends both lines as one message',
  typed: 0,
  play: async (session) => {
    const { terminal, untilScreen, untilRequest } = session;
    await terminal.type(UPPER);
    await untilScreen(new RegExp(UPPER));
    await pause(KEY_MS);
    terminal.press(ALT_ENTER);
    await pause(KEY_MS);
    await terminal.type(LOWER);
    const areBoth = (): boolean =>
      terminal.rows().some((row, index, rows) => isAlone(UPPER, row) && isAlone(LOWER, rows[index + 1]));
    await terminal.until(() => areBoth() || turnsAsked(session) > 0, 'the two words on two rows');
    assertThat(turnsAsked(session) === 0, 'Alt+Enter has sent the first word');
    await pause(KEY_MS);
    terminal.press(ENTER);
    const isWhole = new RegExp(`${UPPER}\n *${LOWER}`);
    await untilRequest(
      ({ said, purpose }) => purpose === 'turn' && isWhole.test(said),
      'both lines in one message',
    );
    assertThat(turnsAsked(session) === 1, 'more than one message was sent');
    return 'two rows in the prompt, sent as one message of two lines';
  },
};

const PIECE_MS = 150;
const TIMES = 8;

const letter: Scenario = {
  name: 'Alt+b while it works',
  expects:
    'Alt+b again and again during a turn: the turn is not interrupted, and no letter is left in the prompt',
  typed: 0,
  play: async (session) => {
    const { terminal, untilScreen, activity } = session;
    const ending = await startLongTurn(session, PIECE_MS);
    await untilScreen(/\b0\. \w+/);
    for (let time = 1; time <= TIMES; time += 1) {
      assertThat(ending() === undefined, `before key ${time} the turn was over: ${ending()}`);
      terminal.press(ALT_B);
      await pause(KEY_MS);
    }
    await terminal.until(() => ending() !== undefined, 'the end of the turn');
    assertThat(ending() === 'answered', `the turn ended early: ${ending()}`);
    await terminal.until(() => activity() === 'ready', 'the agent at rest, with nothing in its prompt');
    return `pressed ${TIMES} times, and the turn went on to its end`;
  },
};

export const altKeys: readonly Scenario[] = [enter, letter];
