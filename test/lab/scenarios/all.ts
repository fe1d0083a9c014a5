import { altKeys } from './alt-keys.js';
import { asked } from './asked.js';
import { ending } from './ends.js';
import { growing } from './grow.js';
import { limits } from './limits.js';
import { places } from './places.js';
import type { Scenario } from './scenario.js';

export const scenarios: readonly Scenario[] = [
  ...growing,
  ...asked,
  ...places,
  ...ending,
  ...limits,
  ...altKeys,
];
