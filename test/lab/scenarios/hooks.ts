// Agents that call ctxwrap: from the user's hooks, and before they compact by themselves.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookText } from '../../../src/cli/hooks.js';
import { logMessage, untilCompacted, assertThat } from '../../../src/verify/checks.js';
import { fill } from './steps.js';
import { ENTER } from '../agents/agent.js';
import { QUICK_SUMMARY_MS, type Scenario, type LabSession } from './scenario.js';

const BEFORE = '.local/state/ctxwrap/before-compaction.json';

/** As `ctxwrap hook` prints it, for the ctxwrap under test. */
const fragment = (agent: string, program: string): string =>
  hookText(agent).replaceAll(/ctxwrap (?=compact|context)/g, `${program} `);

const fromHook: Scenario = {
  name: 'asked by a hook',
  expects:
    'the end of a turn calls ctxwrap, as `ctxwrap hook` says: compacts though ctxwrap itself only shows, with the numbers noted before where there is a hook for that',
  isFor: ({ name }) => name === 'claude' || name === 'codex',
  options: ['--mode', 'warn'],
  files: (program, { name }): Readonly<Record<string, string>> =>
    name === 'claude'
      ? { '.claude/settings.json': fragment('claude', program) }
      : { '.codex/config.toml': fragment('codex', program) },
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (session) => {
    const { agent, home } = session;
    await fill(session);
    const line = await untilCompacted(session);
    if (agent.name !== 'claude') return line;
    const noted: unknown = JSON.parse(readFileSync(join(home, BEFORE), 'utf8'));
    const used = (noted as { reading?: { usedTokens?: number } }).reading?.usedTokens ?? 0;
    assertThat(used > 50_000, `noted before: ${used}`);
    return `${used} tokens noted before; ${line}`;
  },
};

const HELD_HARD = 175_000;
const LOOK_MS = 2_000; // time for the user to look: a dialog ignores keys in its first moment
const ABOVE_OWN = 168_500; // Claude compacts by itself at 167,000

const approve = async ({
  waitFor,
  mock,
  submit,
  untilScreen,
  untilRequest,
  terminal,
  agent,
}: LabSession): Promise<void> => {
  mock.configure({
    next: [{ command: 'touch made', text: 'I make a file.' }],
    turn: { usedTokens: 170_000, text: 'made it' },
  });
  await submit('make a file');
  await untilScreen(agent.dialog);
  await waitFor(LOOK_MS);
  terminal.press(ENTER);
  await untilScreen(/made it/);
  await untilRequest(({ said, end }) => said.includes('make a file') && end === 'answered', 'the turn');
};

const heldBack: Scenario = {
  name: 'held back',
  expects:
    'with hold.native: its own compaction does not come below hard, however often it is tried, at the start of a turn or after a tool; at hard it does',
  isFor: ({ name }) => name === 'claude',
  options: ['--mode', 'warn', '--warn', '150k', '--auto', '171k', '--hard', String(HELD_HARD)],
  files: () => ({ '.config/ctxwrap/config.jsonc': '{ "hold.native": true }' }),
  summaryMs: QUICK_SUMMARY_MS,
  typed: 0,
  play: async (session) => {
    const { turn, submit, mock, summaryCount, untilLog, untilFooter, log, waitFor } = session;
    await fill(session, ABOVE_OWN);
    for (let more = 1; more <= 5; more += 1) await turn(ABOVE_OWN + more * 100); // more failures than Claude's own limit
    await approve(session);
    assertThat(summaryCount() === 0, `${summaryCount()} summaries were asked for below hard`);
    assertThat(!/compaction by/.test(log()), 'a compaction was told that was held back');
    const tries = log().split('activity compacting').length - 1;
    assertThat(tries > 0, 'it never tried');
    await turn(HELD_HARD + 500);
    await untilFooter(/hard/);
    await waitFor(LOOK_MS); // the hook's output is written a moment later
    mock.configure({ turn: { usedTokens: 12_000, text: 'heard it' } });
    await submit('one more');
    const line = logMessage(await untilLog(/compaction by the (?:agent|user): verified/));
    assertThat(summaryCount() === 1, `${summaryCount()} summaries were asked for`);
    return `none of its own in 6 turns from ${ABOVE_OWN}, ${tries} tries seen; then at hard: ${line}`;
  },
};

export const hooks: readonly Scenario[] = [fromHook, heldBack];
