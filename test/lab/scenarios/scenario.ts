// The lab's stories, which know more of an agent than it takes to try it.
import type { Scenario as AnyScenario } from '../../../src/verify/scenario.js';
import type { Stage as AnyStage } from '../../../src/verify/stage.js';
import type { LabAgent } from '../agents/agent.js';

export type Scenario = AnyScenario<LabAgent>;
export type Stage = AnyStage<LabAgent>;

/** For stories in which only what comes before the compaction counts. */
export const QUICK_SUMMARY_MS = 2_000;
