import type { Agent } from '../agents/agent.js';
import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import { modelUseOf, rememberedWindows, type ModelUse } from '../core/report/model-uses.js';
import type { Session } from '../core/session.js';
import { readModelUses, writeModelUses } from '../storage/model-uses.js';
import { serialize } from '../storage/timing.js';
import type { WrapSession } from '../session/options.js';

// Remembers the windows of an agent's models from one session to the next. Neither a slow nor a broken disk affects the session.

export interface ModelMemory {
  readonly onState: (state: Session) => void;
  readonly stop: () => void;
}

/** Tells the session what is known of other sessions, once that is read, and keeps what this one is certain of. */
export const makeModelMemory = (
  { agent, env, log }: { readonly agent: Agent } & Pick<WrapSession, 'env' | 'log'>,
  stateFolder: string,
  onRemembered: (event: Event) => void,
): ModelMemory => {
  const isLimited = agent.limitsWindows?.(env) === true;
  let lastKey = '';
  let waiting: readonly ModelUse[] = [];
  let isStopped = false;
  let hasFailed = false;

  const write = serialize(async () => {
    const uses = waiting;
    waiting = [];
    await writeModelUses(stateFolder, uses).catch((error: unknown) => {
      if (!hasFailed) log.info(`the windows of models are not remembered: ${errorText(error)}`);
      hasFailed = true;
    });
  });
  const tell = async (): Promise<void> => {
    const claims = rememberedWindows(await readModelUses(stateFolder), agent.name);
    if (claims.length > 0 && !isStopped) onRemembered({ type: 'remembered-windows', claims });
  };
  void tell();

  return {
    onState: (state) => {
      const use = modelUseOf(state, isLimited, Date.now());
      if (!use) return;
      const key = JSON.stringify([use.model, { ...use.window, at: undefined }]);
      if (key === lastKey) return;
      lastKey = key;
      waiting = [...waiting, use];
      void write();
    },
    stop: () => void (isStopped = true),
  };
};
