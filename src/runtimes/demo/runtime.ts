import type { Runtime } from '../runtime.js';
import { demoReader } from './log.js';
import { locateDemo } from './paths.js';
import { demoRecipe } from './recipe.js';
import { isDemoRecord } from './records.js';
import { demoScreen } from './screen.js';

/** The embedded agent simulator; it compacts only when told to. */
export const demo: Runtime = {
  name: 'demo',
  isInteractive: () => true,
  nativeTrigger: () => undefined,
  log: { locate: locateDemo, reader: demoReader, recognises: isDemoRecord },
  recipe: () => demoRecipe,
  screen: demoScreen,
};
