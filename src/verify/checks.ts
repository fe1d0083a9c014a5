import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { groupDigits } from '../core/ladder.js';
import { scaledWait } from '../core/time-scale.js';
import { BACKSPACE, ESC } from './agents.js';
import { strokesIn, attributeKeys, writesIn } from './keys.js';
import { knowsWindow, footerNumbers, fillSizes, tiersIn, footerMismatch } from './numbers.js';
import type { TrialSession } from './trial.js';

// Helpers of several checks: the end of a compaction, and what must stay unchanged.

export const ENDED = /compaction by us: /;
const DONE_MS = 90_000;

/** Throws the sentence as an error unless the condition holds. */
export const assertThat = (isTrue: boolean, sentence: string): void => {
  if (!isTrue) throw new Error(sentence);
};

/** A log line without its time and level. */
export const logMessage = (line: string): string => line.replace(/^\S+ \w+ /, '');

/** Waits for the log line of the compaction's end, and fails unless it was verified; `from` is an offset in the log. */
export const untilCompacted = async (
  { untilLog }: TrialSession,
  { from = 0, patienceMs = DONE_MS } = {},
): Promise<string> => {
  const line = logMessage(await untilLog(ENDED, from, patienceMs));
  assertThat(line.includes(': verified'), line);
  return line;
};

/** Makes a tool ask for permission. */
export const openDialog = async ({ mock, submit, untilScreen, agent }: TrialSession): Promise<void> => {
  mock.configure({ next: [{ command: 'touch approved', text: 'I make a file.' }] });
  await submit('make a file');
  await untilScreen(agent.dialog);
};

/** Waits in a state in which nothing may be typed and the screen must keep showing `shows`; returns how long, and the footer's reason. */
export const staysUntouched = async (
  { untilFooter, footer, waitFor, terminal, log }: TrialSession,
  reason: RegExp,
  shows: RegExp,
  watchMs: number,
): Promise<string> => {
  await untilFooter(reason);
  await waitFor(watchMs);
  assertThat(shows.test(terminal.screen()), `${shows} is no longer on the screen`);
  assertThat(!/ typing /.test(log()), 'something was typed there');
  const parts = footer().split('  ');
  const words = parts.find((part) => reason.test(part))?.trim() ?? '';
  return `"${words}" for ${watchMs / 1000} s`;
};

/** The footer while a tool asks for permission, with or without the agent's question. */
export const HELD_BY_DIALOG = /waiting: (?:a dialog is open|approve )/;

// The checks of `ctxwrap verify`, in one session: the window fills up, a dialog opens, a draft is typed, a compaction runs, and the session
// ends.

export const SHORT_SUMMARY_MS = scaledWait(2_000);
const NUMBER_MS = 8_000; // the footer draws a small change after at most five seconds
const WATCH_MS = scaledWait(16_000); // longer than quiet, settled and countdown together
const COMPACTED_MS = 40_000;
const EXIT_MS = 15_000;
const OUTPUT_TOKENS = 20; // of each answer
const DRAFT = 'half a thought';

interface Check {
  readonly name: string;
  /** runs the check, throws where it fails, and returns the evidence */
  readonly run: (trial: TrialSession) => Promise<string>;
}

/** Plays a turn, after which the footer must show the server's number, and this tier. */
const fillTo = async (trial: TrialSession, input: number, tier?: string): Promise<string> => {
  const { turn, footer, terminal, agent } = trial;
  await turn(input);
  const usage = { input, output: OUTPUT_TOKENS };
  const wrong = (): string | undefined => {
    const found = footerMismatch(footer(), usage, agent);
    if (found !== undefined || tier === undefined) return found;
    return new RegExp(` ${tier}\\b`).test(footer()) ? undefined : `does not say ${tier}`;
  };
  const server = `the model server reported ${groupDigits(input)} of ${groupDigits(agent.windowTokens)}`;
  await terminal
    .until(() => wrong() === undefined, 'the number', NUMBER_MS)
    .catch(() => assertThat(false, `${server}, and the footer ${wrong() ?? ''}`));
  return `footer ${footerNumbers(footer())}${tier === undefined ? '' : ` ${tier}`}; ${server}`;
};

/** The tiers of the running session, once it knows its window. */
const sizes = async ({ runCtxwrap, agent }: TrialSession) => {
  const end = performance.now() + NUMBER_MS;
  let ps = await runCtxwrap('ps', '--json');
  while (!knowsWindow(ps) && performance.now() < end) ps = await runCtxwrap('ps', '--json');
  return fillSizes(agent.windowTokens, tiersIn(ps));
};

const FIRST_SHARE = 0.05;

const fills: readonly Check[] = [
  {
    name: 'fill 5 %',
    run: (trial) => fillTo(trial, Math.round(trial.agent.windowTokens * FIRST_SHARE)),
  },
  { name: 'fill below warn', run: async (trial) => fillTo(trial, (await sizes(trial)).safe) },
  { name: 'fill at warn', run: async (trial) => fillTo(trial, (await sizes(trial)).warn, 'warn') },
  { name: 'fill at auto', run: async (trial) => fillTo(trial, (await sizes(trial)).auto, 'auto') },
];

const dialog: Check = {
  name: 'dialog',
  run: async (trial) => {
    const { agent, terminal, activity, project } = trial;
    await openDialog(trial);
    try {
      const held = await staysUntouched(trial, HELD_BY_DIALOG, agent.dialog, WATCH_MS);
      assertThat(!existsSync(join(project, 'approved')), 'the tool was approved');
      return `${held}: no key typed, the tool not approved`;
    } finally {
      terminal.press(ESC);
      await terminal.until(() => !agent.dialog.test(terminal.screen()), 'the end of the dialog');
      await terminal.until(() => activity() === 'ready', 'activity ready after the dialog');
      // Gemini has nothing to summarise when the conversation ends with a tool call
      await trial.turn((await sizes(trial)).auto);
    }
  },
};

const draft: Check = {
  name: 'draft',
  run: async (trial) => {
    const { terminal } = trial;
    await terminal.type(DRAFT);
    try {
      const held = await staysUntouched(
        trial,
        /waiting: unsent text in the prompt/,
        new RegExp(DRAFT),
        WATCH_MS,
      );
      return `${held}: no key typed, the draft intact`;
    } finally {
      await terminal.type(BACKSPACE.repeat(DRAFT.length));
    }
  },
};

const compaction: Check = {
  name: 'compaction',
  run: async (trial) => {
    const line = await untilCompacted(trial, { patienceMs: COMPACTED_MS });
    assertThat(trial.summaryCount() > 0, 'no summary was asked for');
    await trial.untilFooter(/compacted/);
    return `${line}; the model server took ${SHORT_SUMMARY_MS / 1000} s for the summary`;
  },
};

const exit: Check = {
  name: 'exit',
  run: async (trial) => {
    const { terminal, submit, agent, cast, audit } = trial;
    await submit(agent.exit);
    const end = await Promise.race([terminal.ended, pause(EXIT_MS)]);
    assertThat(end !== undefined, `it has not ended ${EXIT_MS / 1000} s after ${agent.exit}`);
    assertThat(end?.exitCode === 0, `it ended with status ${end?.exitCode}, signal ${end?.signal}`);
    assertThat(terminal.isTidy(), 'a terminal mode was left on');
    const { ours, lost } = attributeKeys(writesIn(cast()), terminal.pressed());
    assertThat(lost === '', `keys of the user were lost: ${JSON.stringify(lost)}`);
    const [audited, seen] = [JSON.stringify(strokesIn(audit())), JSON.stringify(ours)];
    assertThat(audited === seen, `the audit log lists the keys ${audited}, and the agent got ${seen}`);
    const times = Math.max(1, ours.length / agent.strokes.length);
    const known = Array.from({ length: Math.floor(times) }, () => agent.strokes).flat();
    assertThat(ours.length === 0 || seen === JSON.stringify(known), `keys that nobody pressed: ${seen}`);
    const got = ours.length === 0 ? 'nothing' : `${ours.map(keyName).join(' and ')} alone`;
    return `status 0, the terminal as before; of ctxwrap's keys the agent got ${got}`;
  },
};

/** Keys in a readable form. */
const keyName = (keys: string): string =>
  ({ '\r': 'Enter', '\t': 'Tab' })[keys] ?? `"${keys.replaceAll(/\x1b\[20[01]~/g, '').trim()}"`;

/** In the order in which they are run. */
export const checks: readonly Check[] = [...fills, dialog, draft, compaction, exit];
