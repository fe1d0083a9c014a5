// Plays one scenario with one agent, once, and judges it. Runs in a place without a network.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabAgent } from './agents/agent.js';
import { strokesIn } from './audited-keys.js';
import { sortKeys, writesIn } from './recorded-keys.js';
import { must, type Scenario } from './scenarios/scenario.js';
import { openStage, type Stage } from './stage.js';

export interface Verdict {
  readonly isGood: boolean;
  /** what proves it, or what went wrong */
  readonly evidence: string;
}

export interface PlayOptions {
  readonly agent: LabAgent;
  readonly scenario: Scenario;
  readonly commands: string;
  readonly ctxwrap: string;
  readonly folder: string;
}

export const play = async (given: PlayOptions): Promise<Verdict> => {
  const { agent, scenario, folder } = given;
  const { options = [], isVim = false } = scenario;
  const stage = await openStage({ ...given, options, isVim });
  let verdict: Verdict;
  try {
    await stage.untilScreen(agent.ready);
    if (isVim && agent.vimStart) {
      stage.terminal.press(agent.vimStart.key);
      await stage.untilScreen(agent.vimStart.shows);
    }
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
