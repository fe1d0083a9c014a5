import type { Source } from './requirement.js';

export const thresholds: Source = {
  prefix: 'S3',
  title: 'A ladder of three thresholds',
  about: 'Pull request 4345 of qwen-code: warn, auto and hard from shares of the window and fixed reserves.',
  count: 38,
  items: [
    {
      id: 'S3.01',
      asks: 'Three thresholds, warn, auto and hard, in place of one at 70 %.',
      verdict: 'works',
      shownBy: [['core/ladder.test.ts', 'of $window tokens is $warn/$auto/$hard']],
    },
    {
      id: 'S3.02',
      asks: 'Fixed reserves for the summary and between the tiers, and three failures in a row as the limit.',
      verdict: 'works',
      shownBy: [
        ['core/ladder.test.ts', 'of $window tokens is $warn/$auto/$hard'],
        ['core/compaction/bounds.test.ts', 'opens after three failures, whatever they were'],
      ],
    },
    {
      id: 'S3.03',
      asks: 'Each threshold is the larger one of a share of the window and the window less its reserve.',
      verdict: 'works',
      shownBy: [['core/ladder.test.ts', 'of $window tokens is $warn/$auto/$hard']],
    },
    {
      id: 'S3.04',
      asks: 'The exact values for windows from 32,000 to a million tokens.',
      verdict: 'works',
      shownBy: [['core/ladder.test.ts', 'of $window tokens is $warn/$auto/$hard']],
    },
    {
      id: 'S3.05',
      asks: 'The order and the distances that hold in all windows, and those that hold in large ones.',
      verdict: 'works',
      shownBy: [
        ['core/ladder.test.ts', 'keeps its order and its distances for every window up to two million'],
      ],
    },
    {
      id: 'S3.06',
      asks: 'Tiny windows break nothing, and a threshold belongs to the tier that it begins.',
      verdict: 'adapted',
      why: 'A window below 1,000 tokens is no window: then the tiers are in percent, not zero.',
      shownBy: [
        ['core/ladder.test.ts', 'of $usedTokens in 128 000 tokens is $tier'],
        ['core/ladder.test.ts', 'is 70/85/95 percent for a window of %s'],
      ],
    },
    {
      id: 'S3.07',
      asks: 'Why: large windows wasted 30 %, and a warning should come a few turns before.',
      verdict: 'works',
      shownBy: [
        ['core/ladder-sentences.test.ts', 'say in facts and figures why each boundary is where it is'],
      ],
    },
    {
      id: 'S3.08',
      asks: 'Warn only tells, auto compacts before the next message, hard compacts in any case before it.',
      verdict: 'adapted',
      why: 'Auto compacts when the agent rests, which is before the next message. At hard nothing that may wait is waited for, but no message of yours is held back unless you say so.',
      shownBy: [
        ['core/compaction/work.test.ts', 'nothing waits at hard'],
        [
          'core/compaction/bounds.test.ts',
          'neither an open breaker nor three attempts at auto hinder it, but three of its own are the end',
        ],
        ['core/enter-hold.test.ts', 'is held with a message in the prompt, and then the footer asks'],
      ],
    },
    {
      id: 'S3.09',
      asks: 'Ask for the summary without thinking and with at most 20,000 tokens.',
      verdict: 'adapted',
      why: 'The agent’s own compaction is the agent’s. A summariser of your own gets the limit, and what it thinks aloud is left out.',
      shownBy: [
        [
          'session-files/summary-server.test.ts',
          'is asked for a stream of at most 20 000 tokens, with the instructions apart from the conversation',
        ],
        ['session-files/summary-server.test.ts', 'that thinks aloud is not quoted'],
      ],
    },
    {
      id: 'S3.10',
      asks: 'A summary that reaches its limit was probably cut, and counts as a failure.',
      verdict: 'works',
      shownBy: [
        ['core/summary-text.test.ts', 'ends below the limit: one that reaches it has probably been cut'],
        ['core/compaction/outcomes.test.ts', 'as a failure when its record shows that the summary is %s'],
      ],
    },
    {
      id: 'S3.11',
      asks: 'After three failures in a row stop until a success; failures of the user’s own do not count.',
      verdict: 'adapted',
      why: 'A single attempt is let through every five minutes, so that a disturbance that has passed does not switch compacting off for good. A request of yours counts, too, since it is the same command.',
      shownBy: [
        ['core/compaction/bounds.test.ts', 'opens after three failures, whatever they were'],
        [
          'core/compaction/bounds.test.ts',
          'counts what the user asks of us, and not what they type into the agent',
        ],
        ['core/compaction/bounds.test.ts', 'closes when a compaction by the %s has worked'],
      ],
    },
    {
      id: 'S3.12',
      asks: 'Hard passes that stop without setting the count of failures back, and says so in the log.',
      verdict: 'works',
      shownBy: [
        [
          'core/compaction/bounds.test.ts',
          'neither an open breaker nor three attempts at auto hinder it, but three of its own are the end',
        ],
        [
          'core/compaction/policy-news.test.ts',
          'has one line for each attempt at hard that the open breaker would not have let through',
        ],
      ],
    },
    {
      id: 'S3.13',
      asks: 'Keep “forced” and “asked for by the user” apart, and no tool call without its result.',
      verdict: 'works',
      shownBy: [
        ['core/compaction/requests.test.ts', 'is refused while the breaker is open, unless it is forced'],
        [
          'core/strategies/strategies.test.ts',
          'never separates a tool call from its result, and keeps what stays in its order',
        ],
      ],
    },
    {
      id: 'S3.14',
      asks: 'An attempt that does nothing still tells the size, and the stop after three failures is logged.',
      verdict: 'works',
      shownBy: [
        [
          'core/compaction/policy-news.test.ts',
          'has one line when three failures open the breaker, with what was used',
        ],
        ['core/compaction/audit.test.ts', 'tells what was known, what was typed, and what came of it'],
      ],
    },
    {
      id: 'S3.15',
      asks: 'What the agent does when its window overflows stays the last safety net.',
      verdict: 'works',
      shownBy: [
        ['agents/refusal.test.ts', 'has a full window, which it says %s'],
        [
          'core/handoff-offer.test.ts',
          'or at once when the agent says that the conversation is too long to compact',
        ],
      ],
    },
    {
      id: 'S3.16',
      asks: 'One estimate for all: four characters a token, pictures a fixed amount, calls and results included.',
      verdict: 'adapted',
      why: 'Chinese, Japanese and Korean characters and emoji count one and a half tokens each, because they need more.',
      shownBy: [
        ['core/estimate.test.ts', '%j is %i tokens'],
        [
          'agents/gemini.test.ts',
          'grows by pictures that a tool gives, and not by commands, which the model never gets',
        ],
      ],
    },
    {
      id: 'S3.17',
      asks: 'Add an estimate of the next message to the last number, or estimate the history where there is none.',
      verdict: 'adapted',
      why: 'What came into the session file behind the last number is added. A message that is not sent yet is not: it may never be.',
      shownBy: [
        ['agents/claude.test.ts', 'has grown by $of'],
        [
          'core/fusion.test.ts',
          'estimated from text that came after the number is shown with ~ when it raises the tier',
        ],
      ],
    },
    {
      id: 'S3.18',
      asks: 'An estimate may only let things happen earlier, never skip them.',
      verdict: 'works',
      shownBy: [['core/fusion.test.ts', 'may only raise the tier, and is marked then']],
    },
    {
      id: 'S3.19',
      asks: 'A resumed session has a size before its first answer.',
      verdict: 'works',
      shownBy: [
        [
          'worker/follow-session.test.ts',
          'gives one reading for a resumed session and counts none of its old compactions',
        ],
        [
          'agents/gemini.test.ts',
          'reads the last answer of a resumed conversation, whose old summary is no new compaction',
        ],
      ],
    },
    {
      id: 'S3.20',
      asks: 'Compute the size once, and let every part use that.',
      verdict: 'works',
      shownBy: [['cli/boundaries.test.ts', 'no screen names a number that another contradicts']],
    },
    {
      id: 'S3.21',
      asks: 'A section of /context lists the thresholds, marks the one that was crossed, and colours the tier.',
      verdict: 'works',
      shownBy: [
        ['core/overview/report.test.ts', 'in the tier %s exactly one is marked, and none in safe'],
        ['ui/overview.test.ts', 'of the tier %s and one accent, and no others'],
      ],
    },
    {
      id: 'S3.22',
      asks: 'The same as text, with the reserve in the line of the effective window.',
      verdict: 'works',
      shownBy: [['cli/context-text.test.ts', 'is readable at a glance']],
    },
    {
      id: 'S3.23',
      asks: 'The tier comes from counted tokens, and from what every request sends besides where there are none.',
      verdict: 'adapted',
      why: 'Before the first answer nothing is known of what a request sends besides, so there is no number and no tier; a remembered or estimated one is marked.',
      shownBy: [
        ['core/context-report.test.ts', 'before the first answer holds no numbers at all'],
        ['core/session.test.ts', 'waits for the first turn before anything is known'],
      ],
    },
    {
      id: 'S3.24',
      asks: 'A tip for each tier, with its own pause and rank.',
      verdict: 'works',
      shownBy: [
        ['core/messages.test.ts', 'comes at warn after the fifth prompt, for five seconds'],
        ['core/messages.test.ts', 'comes at %d tokens at once where nothing is typed by itself'],
        ['core/messages.test.ts', 'is one in ten prompts at the most, whatever the tiers do'],
      ],
    },
    {
      id: 'S3.25',
      asks: 'In small windows auto and hard are one, and nothing is said of it.',
      verdict: 'adapted',
      why: 'Then the tier is auto, not hard, because there is nothing above it.',
      shownBy: [
        [
          'core/ladder.test.ts',
          'is never hard where hard is no higher than auto, unless the user has set it there',
        ],
        ['core/overview/report.test.ts', 'hold hard only where it is above auto'],
      ],
    },
    {
      id: 'S3.26',
      asks: 'A lasting hint in the footer is left for later, and would be hidden above auto.',
      verdict: 'different',
      why: 'The footer is what ctxwrap is for: it shows every tier, and above auto what is waited for.',
      shownBy: [
        ['core/session.test.ts', 'shows a reading with its percentage and tier'],
        ['core/compaction/texts.test.ts', '$is: $words'],
      ],
    },
    {
      id: 'S3.27',
      asks: 'A setting that is gone is told in one line and ignored, and prevents no start.',
      verdict: 'works',
      shownBy: [
        ['cli/config/config.test.ts', 'says what took the place of a setting of another program: %s'],
        ['cli/config/apply.test.ts', 'are none where nothing is wrong, and one line where something is'],
        [
          'cli/config/start.test.ts',
          'is never prevented by a wrong configuration, nor disturbed where it is not wrapped',
        ],
      ],
    },
    {
      id: 'S3.28',
      asks: 'In its interface, a count of failures takes the place of one flag.',
      verdict: 'not for a wrapper',
      why: 'That is the interface of another program. The published state of a session says whether its last compaction has worked.',
      shownBy: [['core/compaction/policy-news.test.ts', 'is told to other programs, from the first one on']],
    },
    {
      id: 'S3.29',
      asks: 'No variable of the environment and no switch for any of it.',
      verdict: 'different',
      why: 'Who wraps an agent must be able to have nothing done: there are `mode: off`, options and variables for everything.',
      shownBy: [
        [
          'core/config/every-key.test.ts',
          'comes from an option before the environment, the project and the user, and remembers them',
        ],
        ['e2e/footer.test.ts', 'passes every byte as it is, both ways, with %j'],
      ],
    },
    {
      id: 'S3.30',
      asks: 'One exported type for the thresholds, which the display uses, too.',
      verdict: 'works',
      shownBy: [
        ['cli/library.test.ts', 'has the ladder of a window, before the agent compacts by itself'],
        ['cli/boundaries.test.ts', 'no screen names a number that another contradicts'],
      ],
    },
    {
      id: 'S3.31',
      asks: 'Unit tests of the ladder, the breaker, the guard for cut summaries, the estimates, hard, and the display.',
      verdict: 'works',
      shownBy: [
        ['core/ladder.test.ts', 'keeps its order and its distances for every window up to two million'],
        [
          'core/compaction/any-story.test.ts',
          'fewer than three attempts have failed one after the other, or the last was five minutes ago, or it is hard',
        ],
      ],
    },
    {
      id: 'S3.32',
      asks: 'Try it end to end in a terminal, in fresh and in long sessions.',
      verdict: 'works',
      shownBy: [
        [
          'e2e/compact.test.ts',
          'is compacted after a countdown, without the user, and the footer says from how much to how much',
        ],
        ['replay/truth.test.ts', '$name is what a replay gives, however its output is cut'],
      ],
    },
    {
      id: 'S3.33',
      asks: 'What reviewers proposed and the authors declined, such as to show the breaker.',
      verdict: 'record of history',
      why: 'They are decisions about other code. The breaker is shown here, because you have to know why nothing is typed.',
      shownBy: [['core/compaction/texts.test.ts', 'the breaker, and the end of all attempts']],
    },
    {
      id: 'S3.34',
      asks: 'Left open: an outcome without words, a history that is not counted, how hard to break with the past.',
      verdict: 'works',
      shownBy: [
        ['core/compaction/texts.test.ts', '$kind'],
        [
          'core/compaction/texts.test.ts',
          'give the reason for a failure, and say only once that it failed: %s',
        ],
      ],
    },
    {
      id: 'S3.35',
      asks: 'To follow: a limit for attempts at hard, summaries without drafts of thought, a switch to turn it off, output counted.',
      verdict: 'works',
      shownBy: [
        [
          'core/compaction/bounds.test.ts',
          'neither an open breaker nor three attempts at auto hinder it, but three of its own are the end',
        ],
        ['core/summary-text.test.ts', 'begins behind its analysis %s'],
        ['cli/own-compaction.test.ts', 'counts for the tier and not for the percentage'],
      ],
    },
    {
      id: 'S3.36',
      asks: 'A change that grew through twelve reviews should have been several small ones.',
      verdict: 'record of history',
      why: 'It is about how people work together; what a test can hold small here are files and functions.',
      shownBy: [['architecture.test.ts', 'hold functions that are short enough to be understood at once']],
    },
    {
      id: 'S3.37',
      asks: 'Risks: worse summaries without thinking, cut summaries, limits that providers read otherwise, estimates that are low.',
      verdict: 'adapted',
      why: 'The first is not ours, since the agent makes its own summaries; cut ones and other limits are handled, and an estimate alone starts nothing.',
      shownBy: [
        ['session-files/summary-server.test.ts', 'that does not take max_tokens is asked without it'],
        ['core/compaction/gate.test.ts', 'by an estimate, nor in a window that is only assumed'],
      ],
    },
    {
      id: 'S3.38',
      asks: 'A trigger by the memory of the process was removed before and stays away.',
      verdict: 'not for a wrapper',
      why: 'The agent’s memory is the agent’s. Our own is bounded, however large a session is.',
      shownBy: [['session-files/read-session-file.test.ts', 'is read in memory that does not grow with it']],
    },
  ],
};
