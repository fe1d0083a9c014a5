// Runs one scenario with one agent, once, and checks the result. Runs in a sandbox without a network.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Size } from '../../src/terminal/tty.js';
import { assertThat } from '../../src/verify/checks.js';
import { attributeKeys, strokesIn, writesIn } from '../../src/verify/keys.js';
import { openTrial, type TrialOptions } from '../../src/verify/trial.js';
import { withBackground, withoutAsking, type LabAgent } from './agents/agent.js';
import { BOUNDS, SUMMARY_MS, type Scenario, type LabSession } from './scenarios/scenario.js';

const PATIENCE_MS = 180_000; // on a busy machine an agent of 180 MB takes more than a minute to start
const LOOK_MS = 1_000; // a short wait after the start: Gemini loses keys that are pressed in its first moment

export interface Verdict {
  readonly isGood: boolean;
  /** the evidence, or the error */
  readonly evidence: string;
}

export interface PlayOptions extends Pick<
  TrialOptions<LabAgent>,
  'agent' | 'version' | 'commands' | 'ctxwrap' | 'folder'
> {
  readonly scenario: Scenario;
  /** of ctxwrap, beside those of the scenario */
  readonly options?: readonly string[];
}

export const play = async (given: PlayOptions): Promise<Verdict> => {
  const { scenario, folder } = given;
  const asking = scenario.isUnasked ? withoutAsking(given.agent) : given.agent;
  const placed = scenario.isInBackground ? withBackground(asking) : asking;
  const agent = scenario.adapt?.(placed) ?? placed;
  const { isVim = false, hearsState = false, summaryMs = SUMMARY_MS } = scenario;
  const bounds = Object.entries(BOUNDS).flatMap(([tier, tokens]) => [`--${tier}`, String(tokens)]);
  const options = [
    ...(scenario.hasUsualBounds ? [] : bounds),
    ...(scenario.options ?? []),
    ...(given.options ?? []),
  ];
  const files = scenario.files?.(given.ctxwrap.join(' '), agent);
  const recording = scenario.recordedSize && makeRecording(scenario.recordedSize);
  const session = await openTrial({
    ...given,
    agent,
    options,
    isVim,
    understandsState: hearsState,
    summaryMs,
    patienceMs: PATIENCE_MS,
    files,
    size: scenario.recordedSize,
    isLight: scenario.isLight,
    onOutput: recording?.add,
  });
  let verdict: Verdict;
  try {
    await session.untilScreen(agent.ready);
    await session.waitFor(LOOK_MS);
    await session.untilScreen(agent.ready);
    const evidence = await scenario.play(session);
    verdict = { isGood: true, evidence };
  } catch (error) {
    verdict = { isGood: false, evidence: error instanceof Error ? error.message : String(error) };
  }
  await session.end();
  if (recording) writeFileSync(join(folder, 'terminal.cast'), recording.text());
  const { copies } = agent;
  const homes = copies === undefined ? [] : [session.home, `${session.home}-aside`];
  for (const home of homes) rmSync(join(home, copies ?? ''), { recursive: true, force: true });
  const judged = withKeys(verdict, session, scenario);
  writeFileSync(join(folder, 'verdict.json'), JSON.stringify(judged, undefined, 1));
  writeFileSync(join(folder, 'last-turn.json'), session.mock.lastTurn());
  return judged;
};

/** The user's terminal as asciicast v2: the agent with all that ctxwrap draws, which `--record` leaves out. */
const makeRecording = ({ columns, rows }: Size) => {
  const began = performance.now();
  const decoder = new TextDecoder();
  const lines = [JSON.stringify({ version: 2, width: columns, height: rows })];
  return {
    add: (bytes: Uint8Array): void => {
      const seconds = Math.round(performance.now() - began) / 1000;
      lines.push(JSON.stringify([seconds, 'o', decoder.decode(bytes, { stream: true })]));
    },
    text: (): string => `${lines.join('\n')}\n`,
  };
};

/** As the audit log tells of it: the words of the user's behind the command are not in it. */
const withoutWords = (keys: string): string =>
  keys.replace(
    /^(\/\S+) (Keep word for word: .*)$/,
    (_, command: string, words: string) =>
      `${command} with ${[...words].length} characters of the conversation`,
  );

/** Checks the keys in the recording, too, even if the scenario has passed so far. */
const withKeys = (
  verdict: Verdict,
  session: LabSession,
  { typed, strokes, hasDrafts = false }: Scenario,
): Verdict => {
  try {
    const { ours: all, runs, lost } = attributeKeys(writesIn(session.cast()), session.terminal.pressed());
    const ours = all.filter((keys) => !(hasDrafts && keys.includes('\n')));
    if (verdict.isGood) {
      assertThat(lost === '', `keys of the user were lost: ${JSON.stringify(lost)}`);
      const { agent } = session;
      const command = strokes?.(agent) ?? agent.strokes;
      const expected = Array.from({ length: typed ?? 0 }, () => command).flat();
      assertThat(
        typed === undefined || JSON.stringify(ours) === JSON.stringify(expected),
        `keys that nobody pressed: ${JSON.stringify(ours)}`,
      );
      assertThat(
        typed === undefined || runs === typed,
        'a key of the user came between the command and its Enter',
      );
      const audited = strokesIn(session.audit());
      assertThat(
        JSON.stringify(audited) === JSON.stringify(ours.map(withoutWords)),
        `the audit log tells of ${JSON.stringify(audited)}, and not of ${JSON.stringify(ours)}`,
      );
      assertThat(!existsSync(join(session.project, 'approved')), 'a tool was approved');
    }
    return { ...verdict, evidence: `keys of ours: ${ours.length}; ${verdict.evidence}` };
  } catch (error) {
    return { isGood: false, evidence: error instanceof Error ? error.message : String(error) };
  }
};
