import type { Runtime } from '../runtime.js';

/** Any other command: nothing is known about it, so nothing is read, and its text is counted. */
export const generic: Runtime = {
  name: 'generic',
  isInteractive: () => true,
  nativeTrigger: () => undefined,
  isEstimated: true,
};
