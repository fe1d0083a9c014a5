// The demo agent writes its session file where the wrapper told it to.
import type { FilePort } from '../file-port.js';
import type { Located } from '../runtime.js';
import type { Place } from '../place.js';

const LOG_VARIABLE = 'CTXWRAP_DEMO_LOG';

export const locateDemo = async (port: FilePort, { env }: Place): Promise<Located | undefined> => {
  const path = env[LOG_VARIABLE];
  return path && (await port.entry(path)) ? { sessionId: 'demo', path, certain: true } : undefined;
};
