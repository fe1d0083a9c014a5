import { growing } from './grow.js';
import type { Scenario } from './scenario.js';

export const scenarios: readonly Scenario[] = [...growing];
