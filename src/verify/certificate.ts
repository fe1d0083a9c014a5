// What `ctxwrap verify` plays: one session, in which the window fills up, a dialog opens, a draft is written, it is compacted, and it ends.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { grouped } from '../core/rung.js';
import { BACKSPACE, ESC } from './agents/agent.js';
import { strokesIn } from './audited-keys.js';
import { numbersIn, wrongIn } from './footer-number.js';
import { sortKeys, writesIn } from './recorded-keys.js';
import { must } from './scenario.js';
import { knowsWindow, sizesBelow, tiersIn } from './sizes.js';
import type { Stage } from './stage.js';
import { compacted, HELD_BY_DIALOG, openDialog, untouched } from './steps.js';

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
