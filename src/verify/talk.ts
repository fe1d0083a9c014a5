// The user talks with the agent, and the model answers what it is told to.
import { setTimeout as pause } from 'node:timers/promises';
import { ENTER } from './agents/agent.js';
import type { Asked, Mock } from './mock/server.js';
import type { Traces } from './traces.js';
import type { Waits } from './waits.js';
import type { UserWindow } from './window.js';

export interface Talk {
  /** types a message as a person does, and sends it when it stands on the screen */
  readonly say: (text: string) => Promise<void>;
  /** a whole turn, after which the model says that so many tokens are used */
  readonly turn: (usedTokens: number) => Promise<void>;
}

const SUBMIT_MS = 150; // a person does not press Enter in the same moment as the last letter
const LIST_MS = 500; // and looks at the list of commands first: Gemini takes an entry of an older one

export const makeTalk = (
  terminal: UserWindow,
  mock: Mock,
  { activity, untilAsked }: Pick<Traces, 'activity'> & Pick<Waits, 'untilAsked'>,
): Talk => {
  const say = async (text: string): Promise<void> => {
    await terminal.type(text);
    await terminal.until(() => terminal.screen().includes(text), `${text} in the prompt`);
    await pause(text.startsWith('/') ? LIST_MS : SUBMIT_MS);
    terminal.press(ENTER);
  };
  let turns = 0;
  return {
    say,
    turn: async (usedTokens) => {
      turns += 1;
      const [question, answer] = [`my number ${turns}`, `heard ${turns} of you`];
      mock.control({ turn: { usedTokens, text: answer } });
      await say(question);
      const isAnswered = ({ said, purpose, end }: Asked): boolean =>
        purpose === 'turn' && said.includes(question) && end === 'answered';
      await untilAsked(isAnswered, `an answer to "${question}"`);
      await terminal.until(() => terminal.screen().includes(answer), `"${answer}" on the screen`);
      await terminal.until(() => activity() === 'ready', 'activity ready in the log after the turn');
    },
  };
};
