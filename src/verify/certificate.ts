import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { grouped } from '../core/ladder.js';
import { BACKSPACE, ESC } from './agents.js';
import { strokesIn, sortKeys, writesIn } from './keys.js';
import { knowsWindow, numbersIn, sizesBelow, tiersIn, wrongIn } from './numbers.js';
import type { Stage } from './stage.js';

// What several stories have in common: how a compaction ends, and what must stay as it is.

export const ENDED = /compaction by us: /;
const DONE_MS = 90_000;

/** Rejects with the sentence unless the condition holds. */
export const must = (isTrue: boolean, sentence: string): void => {
  if (!isTrue) throw new Error(sentence);
};

/** A log line without its time and level. */
export const brief = (line: string): string => line.replace(/^\S+ \w+ /, '');

/** The log line on the end of the compaction, which must have worked; `from` is a place in the log. */
export const compacted = async (
  { untilLog }: Stage,
  { from = 0, patienceMs = DONE_MS } = {},
): Promise<string> => {
  const line = brief(await untilLog(ENDED, from, patienceMs));
  must(line.includes(': verified'), line);
  return line;
};

/** A tool asks for permission. */
export const openDialog = async ({ mock, say, untilScreen, agent }: Stage): Promise<void> => {
  mock.control({ next: [{ command: 'touch approved', text: 'I make a file.' }] });
  await say('make a file');
  await untilScreen(agent.dialog);
};

/** Time in which nothing is typed and what the screen shows stays there; says how long, and what the footer gave as the reason. */
export const untouched = async (
  { untilFooter, footer, watch, terminal, log }: Stage,
  reason: RegExp,
  shows: RegExp,
  watchMs: number,
): Promise<string> => {
  await untilFooter(reason);
  await watch(watchMs);
  must(shows.test(terminal.screen()), `${shows} is not on the screen any more`);
  must(!/ typing /.test(log()), 'something was typed there');
  const words = reason.exec(footer())?.input.split('  ').at(-1)?.trim() ?? '';
  return `"${words}" for ${watchMs / 1000} s`;
};

/** What the footer says while a tool asks; what it asks where the agent tells. */
export const HELD_BY_DIALOG = /waiting: (?:a dialog is open|approve )/;

// What `ctxwrap verify` plays: one session, in which the window fills up, a dialog opens, a draft is written, it is compacted, and it ends.

export const SHORT_SUMMARY_MS = 2_000;
const NUMBER_MS = 8_000; // the footer draws a small change after five seconds at the latest
const WATCH_MS = 16_000; // longer than quiet, settled and countdown together
const COMPACTED_MS = 40_000;
const EXIT_MS = 15_000;
const OUTPUT_TOKENS = 20; // of each answer
const DRAFT = 'half a thought';

interface Step {
  readonly name: string;
  /** plays it, fails where it goes wrong, and gives what proves it */
  readonly play: (stage: Stage) => Promise<string>;
}

/** A turn, after which the footer has the server's number, and this tier. */
const fillTo = async (stage: Stage, input: number, tier?: string): Promise<string> => {
  const { turn, footer, terminal, agent } = stage;
  await turn(input);
  const told = { input, output: OUTPUT_TOKENS };
  const wrong = (): string | undefined => {
    const found = wrongIn(footer(), told, agent);
    if (found !== undefined || tier === undefined) return found;
    return new RegExp(` ${tier}\\b`).test(footer()) ? undefined : `does not say ${tier}`;
  };
  const server = `the model server told ${grouped(input)} of ${grouped(agent.windowTokens)}`;
  await terminal
    .until(() => wrong() === undefined, 'the number', NUMBER_MS)
    .catch(() => must(false, `${server}, and the footer ${wrong() ?? ''}`));
  return `footer ${numbersIn(footer())}${tier === undefined ? '' : ` ${tier}`}; ${server}`;
};

/** The tiers as the session itself has them, once it knows its window. */
const sizes = async ({ outside, agent }: Stage) => {
  const end = performance.now() + NUMBER_MS;
  let ps = await outside('ps', '--json');
  while (!knowsWindow(ps) && performance.now() < end) ps = await outside('ps', '--json');
  return sizesBelow(agent.windowTokens, tiersIn(ps));
};

const FIRST_SHARE = 0.05;

const fills: readonly Step[] = [
  {
    name: 'fill 5 %',
    play: (stage) => fillTo(stage, Math.round(stage.agent.windowTokens * FIRST_SHARE)),
  },
  { name: 'fill below warn', play: async (stage) => fillTo(stage, (await sizes(stage)).safe) },
  { name: 'fill at warn', play: async (stage) => fillTo(stage, (await sizes(stage)).warn, 'warn') },
  { name: 'fill at auto', play: async (stage) => fillTo(stage, (await sizes(stage)).auto, 'auto') },
];

const dialog: Step = {
  name: 'dialog',
  play: async (stage) => {
    const { agent, terminal, activity, project } = stage;
    await openDialog(stage);
    try {
      const held = await untouched(stage, HELD_BY_DIALOG, agent.dialog, WATCH_MS);
      must(!existsSync(join(project, 'approved')), 'the tool was approved');
      return `${held}: no key typed, the tool not approved`;
    } finally {
      terminal.press(ESC);
      await terminal.until(() => !agent.dialog.test(terminal.screen()), 'the end of the dialog');
      await terminal.until(() => activity() === 'ready', 'activity ready after the dialog');
      // what ends with a call of a tool leaves Gemini nothing to summarise
      await stage.turn((await sizes(stage)).auto);
    }
  },
};

const draft: Step = {
  name: 'draft',
  play: async (stage) => {
    const { terminal } = stage;
    await terminal.type(DRAFT);
    try {
      const held = await untouched(stage, /holding: you have a draft/, new RegExp(DRAFT), WATCH_MS);
      return `${held}: no key typed, the draft intact`;
    } finally {
      await terminal.type(BACKSPACE.repeat(DRAFT.length));
    }
  },
};

const compaction: Step = {
  name: 'compaction',
  play: async (stage) => {
    const line = await compacted(stage, { patienceMs: COMPACTED_MS });
    must(stage.summaries() > 0, 'no summary was asked for');
    await stage.untilFooter(/compacted/);
    return `${line}; the model server took ${SHORT_SUMMARY_MS / 1000} s for the summary`;
  },
};

const exit: Step = {
  name: 'exit',
  play: async (stage) => {
    const { terminal, say, agent, cast, audit } = stage;
    await say(agent.exit);
    const end = await Promise.race([terminal.ended, pause(EXIT_MS)]);
    must(end !== undefined, `it has not ended ${EXIT_MS / 1000} s after ${agent.exit}`);
    must(end?.exitCode === 0, `it ended with status ${end?.exitCode}, signal ${end?.signal}`);
    must(terminal.isTidy(), 'something was left on in the terminal');
    const { ours, lost } = sortKeys(writesIn(cast()), terminal.pressed());
    must(lost === '', `keys of the user were lost: ${JSON.stringify(lost)}`);
    const [said, seen] = [JSON.stringify(strokesIn(audit())), JSON.stringify(ours)];
    must(said === seen, `the audit log tells of the keys ${said}, and the agent got ${seen}`);
    const times = Math.max(1, ours.length / agent.strokes.length);
    const known = Array.from({ length: Math.floor(times) }, () => agent.strokes).flat();
    must(ours.length === 0 || seen === JSON.stringify(known), `keys that nobody pressed: ${seen}`);
    const got = ours.length === 0 ? 'nothing' : `${ours.map(named).join(' and ')} alone`;
    return `status 0, the terminal as before; of ctxwrap's keys the agent got ${got}`;
  },
};

/** Keys as people read them. */
const named = (keys: string): string =>
  ({ '\r': 'Enter', '\t': 'Tab' })[keys] ?? `"${keys.replaceAll(/\x1b\[20[01]~/g, '').trim()}"`;

/** In the order in which they are played. */
export const steps: readonly Step[] = [...fills, dialog, draft, compaction, exit];
