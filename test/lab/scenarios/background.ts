// What goes on in the background of an agent at rest, and agents whose screen has another form.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { assertThat, staysUntouched, untilCompacted } from '../../../src/verify/checks.js';
import { definitionOf, type LabAgent } from '../agents/agent.js';
import { FULL, LITTLE, QUICK_SUMMARY_MS, WATCH_MS, type LabSession, type Scenario } from './scenario.js';
import { fill } from './steps.js';

const isClaude = (agent: LabAgent): boolean => definitionOf(agent)?.name === 'claude';

const BEATS = 'beats.txt';
const BEAT_MS = 3_000;

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

/** The file that gets the output of Claude's background commands, by its name in the conversation. */
const outputIn = (mock: LabSession['mock']): string =>
  /(\/[^"\\\s]+\/tasks\/\w+\.output)/.exec(mock.lastTurn())?.[1] ?? '';

const shell: Scenario = {
  name: 'background shell',
  expects:
    'a shell runs in the background while the window is full: compacted, and the shell and its output go on',
  isFor: isClaude,
  isUnasked: true,
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (session) => {
    const { mock, project, turn, waitFor, terminal } = session;
    const command = `while :; do echo beat; date >> ${BEATS}; sleep 1; done`;
    const input = { command, description: 'Serve', run_in_background: true };
    mock.configure({ next: [{ text: 'I start it.', tool: { name: 'Bash', input } }] });
    await turn(LITTLE);
    const output = outputIn(mock);
    assertThat(output !== '', 'the conversation names no file for the output of the shell');
    await turn(LITTLE + 1_000);
    await turn(FULL);
    const line = await untilCompacted(session);
    const paths = [join(project, BEATS), output];
    const before = paths.map(sizeOf);
    await waitFor(BEAT_MS);
    const after = paths.map(sizeOf);
    assertThat(
      after.every((size, index) => size > (before[index] ?? 0)),
      `the shell has stopped: ${paths.join(', ')} have ${before.join(', ')}, then ${after.join(', ')} bytes`,
    );
    assertThat(/1 shell/.test(terminal.screen()), 'the screen does not name the shell any more');
    return `${line}; the shell still writes to its file and to its output`;
  },
};

const AGENT_MS = WATCH_MS + 15_000;
const HELD = /waiting: a background agent is running/;
const SHOWN = /Waiting for 1 background agent/;

const agent: Scenario = {
  name: 'background agent',
  expects:
    'an agent runs in the background while the window is full: no key until it is over, then compacted',
  isFor: isClaude,
  isUnasked: true,
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (session) => {
    const { mock, turn, submit, untilScreen } = session;
    await turn(LITTLE);
    await turn(LITTLE + 1_000);
    const input = {
      description: 'Look around',
      prompt: 'look around',
      subagent_type: 'general-purpose',
      run_in_background: true,
    };
    mock.configure({
      turn: { usedTokens: FULL, text: 'it has been started' },
      next: [
        { text: 'I start it.', tool: { name: 'Agent', input } },
        { text: 'I looked around', waitMs: AGENT_MS },
      ],
    });
    await submit('start an agent');
    await untilScreen(/it has been started/);
    const held = await staysUntouched(session, HELD, SHOWN, WATCH_MS);
    return `${held}; ${await untilCompacted(session)}`;
  },
};

const flat: Scenario = {
  name: 'ax-screen-reader idle',
  expects: 'idle with a full window, on the flat screen for screen readers: compacted',
  isFor: isClaude,
  files: () => ({ '.claude/settings.json': JSON.stringify({ axScreenReader: true }) }),
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (session) => {
    await fill(session);
    assertThat(session.terminal.screen().includes('[Screen Reader Mode: on'), 'the screen is not flat');
    return untilCompacted(session);
  },
};

export const background: readonly Scenario[] = [shell, agent, flat];
