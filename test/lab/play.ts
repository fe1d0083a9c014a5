// Plays one scenario with one agent, once, and judges it. Runs in a place without a network.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../../src/verify/certificate.js';
import { sortKeys, strokesIn, writesIn } from '../../src/verify/keys.js';
import { openStage, type StageOptions } from '../../src/verify/stage.js';
import type { LabAgent } from './agents/agent.js';
import { BOUNDS, SUMMARY_MS, type Scenario, type Stage } from './scenarios/scenario.js';

const LOOK_MS = 1_000; // a person looks at what has come up: Gemini loses keys that are pressed in its first moment

export interface Verdict {
  readonly isGood: boolean;
  /** what proves it, or what went wrong */
  readonly evidence: string;
}

export interface PlayOptions extends Pick<
  StageOptions<LabAgent>,
  'agent' | 'version' | 'commands' | 'ctxwrap' | 'folder'
> {
  readonly scenario: Scenario;
  /** of ctxwrap, beside those of the scenario */
  readonly options?: readonly string[];
}

export const play = async (given: PlayOptions): Promise<Verdict> => {
  const { agent, scenario, folder } = given;
  const { isVim = false, hearsState = false, summaryMs = SUMMARY_MS } = scenario;
  const bounds = Object.entries(BOUNDS).flatMap(([tier, tokens]) => [`--${tier}`, String(tokens)]);
  const options = [...bounds, ...(scenario.options ?? []), ...(given.options ?? [])];
  const files = scenario.files?.(given.ctxwrap.join(' '), agent);
  const stage = await openStage({ ...given, options, isVim, hearsState, summaryMs, files });
  let verdict: Verdict;
  try {
    await stage.untilScreen(agent.ready);
    await stage.watch(LOOK_MS);
    await stage.untilScreen(agent.ready);
    const evidence = await scenario.play(stage);
    verdict = { isGood: true, evidence };
  } catch (error) {
    verdict = { isGood: false, evidence: error instanceof Error ? error.message : String(error) };
  }
  await stage.end();
  const judged = withKeys(verdict, stage, scenario);
  writeFileSync(join(folder, 'verdict.json'), JSON.stringify(judged, undefined, 1));
  return judged;
};

/** The keys in the recording judge, too: also of a scenario that went well so far. */
const withKeys = (verdict: Verdict, stage: Stage, { typed, strokes }: Scenario): Verdict => {
  try {
    const { ours, runs, lost } = sortKeys(writesIn(stage.cast()), stage.terminal.pressed());
    if (verdict.isGood) {
      must(lost === '', `keys of the user were lost: ${JSON.stringify(lost)}`);
      const { agent } = stage;
      const command = strokes?.(agent) ?? agent.strokes;
      const expected = Array.from({ length: typed ?? 0 }, () => command).flat();
      must(
        typed === undefined || JSON.stringify(ours) === JSON.stringify(expected),
        `keys that nobody pressed: ${JSON.stringify(ours)}`,
      );
      must(typed === undefined || runs === typed, 'a key of the user came between the command and its Enter');
      const audited = strokesIn(stage.audit());
      must(
        JSON.stringify(audited) === JSON.stringify(ours),
        `the audit log tells of ${JSON.stringify(audited)}, and not of ${JSON.stringify(ours)}`,
      );
      must(!existsSync(join(stage.project, 'approved')), 'a tool was approved');
    }
    return { ...verdict, evidence: `keys of ours: ${ours.length}; ${verdict.evidence}` };
  } catch (error) {
    return { isGood: false, evidence: error instanceof Error ? error.message : String(error) };
  }
};
