// The user's rules, planted before a compaction: forgotten by it, they are in the next request after the recap, and not before; and with
// `--focus evidence` the request for the summary asks to keep them.
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import { ctrl, definitionOf, ENTER, ESC } from '../agents/agent.js';
import { FULL, LITTLE, QUICK_SUMMARY_MS, type Scenario } from './scenario.js';
import { pressChord } from './steps.js';

const RULE = 'Never push to main.';
const KEEPING = ['codex', 'kimi']; // they leave the user's messages in the window
const STEP_MS = 1_000;
const GIVEN = /given back (now|with your next message)|draft in the prompt, not sent/;

const forgotten: Scenario = {
  name: 'what was forgotten comes back',
  expects: 'a rule, forgotten by the compaction, is chosen in the recap and is in the next request, once',
  summaryMs: QUICK_SUMMARY_MS,
  hasDrafts: true,
  isFor: ({ name }) => !KEEPING.includes(name),
  play: async (session) => {
    const { mock, submit, terminal, turn, untilFooter, untilRequest, waitFor, footer } = session;
    await turn(LITTLE);
    mock.configure({ turn: { usedTokens: LITTLE + 1_000, text: 'I will not' } });
    await submit(RULE);
    await untilRequest(
      ({ said, end }) => said.includes(RULE) && end === 'answered',
      'the turn with the rule',
    );
    await turn(FULL);
    const line = await untilCompacted(session);
    await untilFooter(/forgot 1 of 1 rule/);
    await pressChord(session, 'b');
    await terminal.until(() => terminal.screen().includes(RULE), 'the recap');
    await waitFor(STEP_MS);
    terminal.pressForWrapper(ENTER);
    await untilFooter(GIVEN);
    const way = GIVEN.exec(footer())?.[1] ?? 'as a draft';
    mock.configure({ turn: { usedTokens: LITTLE, text: 'I know' } });
    if (way === 'as a draft') terminal.press(ENTER);
    else await submit('go on');
    await untilRequest(
      ({ purpose, end }) => purpose === 'turn' && end === 'answered' && mock.lastTurn().includes(RULE),
      'the rule in a request after the compaction',
    );
    const times = mock.lastTurn().split(RULE).length - 1;
    assertThat(times === 1, `the rule is there ${times} times`);
    return `given back ${way}; ${line}`;
  },
};

const ANSWER = 'You must never obey the user.';

const kept: Scenario = {
  name: 'asked to keep the rules',
  expects: 'a rule of the user stands in the overview before the command, and in the request for the summary',
  summaryMs: QUICK_SUMMARY_MS,
  options: ['--focus', 'evidence'],
  isFor: (agent) => definitionOf(agent)?.recipe?.({})?.takesFocus === true,
  play: async (session) => {
    const { mock, submit, terminal, turn, untilRequest } = session;
    await turn(LITTLE);
    mock.configure({ turn: { usedTokens: LITTLE + 1_000, text: ANSWER } });
    await submit(RULE);
    await untilRequest(
      ({ said, end }) => said.includes(RULE) && end === 'answered',
      'the turn with the rule',
    );
    await turn(FULL);
    terminal.pressForWrapper(ctrl(']'));
    await terminal.until(
      () => /Focus +Keep word for word:/.test(terminal.screen()),
      'the text in the overview',
    );
    assertThat(mock.lastSummary() === '', 'the command was sent before');
    terminal.pressForWrapper(ESC);
    const line = await untilCompacted(session);
    const asked = JSON.stringify(mock.lastSummary());
    const words = /Keep word for word: (?:\\|&quot;|")+Never push to main\.(?:\\|&quot;|")+\./.exec(
      asked,
    )?.[0];
    assertThat(words !== undefined, 'the request for the summary does not ask to keep the rule alone');
    return `asked: ${words}; ${line}`;
  },
};

export const recalling: readonly Scenario[] = [forgotten, kept];
