// Where the agents on this machine compact by themselves, as their own settings have it in this folder.
import { realpathSync } from 'node:fs';
import type { KnownAgent } from '../core/config/native-problems.js';
import type { Homestead } from '../runtimes/agent-home.js';
import type { OwnCompaction } from '../runtimes/own-compaction.js';
import type { Runtime } from '../runtimes/runtime.js';
import { findCommand } from '../storage/find-command.js';
import { settingsFiles } from '../storage/settings-files.js';

const USUAL = 'claude';

/** As a session that is started here without arguments would have it. */
export const ownCompactionOf = async (runtime: Runtime, place: Homestead): Promise<OwnCompaction> =>
  (await runtime.ownCompaction?.read(settingsFiles(), { ...place, args: [] })) ?? {
    trigger: runtime.nativeTrigger(place.env),
    said: [],
  };

/** Those that are installed and compact by themselves; where none is, Claude, which everything is taken to be meant for. */
export const compactingAgents = async (
  runtimes: readonly Runtime[],
  place: Homestead,
): Promise<readonly KnownAgent[]> => {
  const search = { path: place.env['PATH'], self: realpathSync(process.argv[1] ?? '') };
  const known = runtimes.filter(({ home }) => home !== undefined);
  const there = known.filter(({ command = '' }) => findCommand(command, search).kind === 'found');
  const found = await Promise.all(
    (there.length > 0 ? there : known.filter(({ name }) => name === USUAL)).map(
      async (runtime): Promise<readonly KnownAgent[]> => {
        const { trigger } = await ownCompactionOf(runtime, place);
        const { name, home } = runtime;
        return trigger && home ? [{ name, usualTokens: home.usualWindowTokens, trigger }] : [];
      },
    ),
  );
  return found.flat();
};
