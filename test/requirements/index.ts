import { backends } from './backends.js';
import { contextHandoff } from './context-handoff.js';
import { monitor } from './monitor.js';
import { product } from './product.js';
import type { Source } from './requirement.js';
import { sessionFormats } from './session-formats.js';
import { thresholds } from './thresholds.js';

/** Everything that ctxwrap was asked to be, by where it was asked. */
export const sources: readonly Source[] = [
  product,
  monitor,
  backends,
  sessionFormats,
  thresholds,
  contextHandoff,
];
