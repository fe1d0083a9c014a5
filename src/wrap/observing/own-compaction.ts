// Where the agent compacts by itself, as its own settings have it: read at the start, and again when one of them changes.
import type { Event } from '../../core/event.js';
import { homeFolder } from '../../storage/home-folder.js';
import { settingsFiles } from '../../storage/settings-files.js';
import type { WrapSession } from '../wrap-session.js';
import type { Following } from './follow-session.js';

const LOOK_MS = 1_000;

/** Tells where the agent compacts whenever that is another place, until stopped. */
export const followOwnCompaction = (
  { runtime, env, cwd, args, log }: WrapSession,
  take: (event: Event) => void,
): Following => {
  const source = runtime.ownCompaction;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let files = settingsFiles();
  let last = JSON.stringify({ trigger: runtime.nativeTrigger(env) });

  const read = async (): Promise<void> => {
    files = settingsFiles();
    const found = await source?.read(files, { env, cwd, args, home: homeFolder(env) });
    if (!found || isStopped) return;
    const { trigger, said } = found;
    const now = JSON.stringify({ trigger });
    if (now === last) return;
    last = now;
    log.info(
      `${runtime.name}'s own compaction: ${said.map(({ name, value, place }) => `${name} = ${value} in ${place}`).join(', ') || 'as it is by itself'}`,
    );
    take({ type: 'own-compaction', trigger });
  };
  const look = async (): Promise<void> => {
    try {
      if (await files.haveChanged()) await read();
    } catch (error) {
      log.warn(`reading the agent's own settings: ${String(error)}`);
    }
    again();
  };
  const again = (): void => {
    if (!isStopped && source && !source.isReadOnce) timer = setTimeout(look, LOOK_MS).unref();
  };
  void read().then(again, (error: unknown) => {
    log.warn(`reading the agent's own settings: ${String(error)}`);
    again();
  });
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
