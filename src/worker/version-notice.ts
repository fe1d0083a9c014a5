import { join } from 'node:path';
import type { Agent } from '../agents/agent.js';
import { newestTestedBefore, parseRecordVersion } from '../agents/tested.js';
import type { Event } from '../core/event.js';
import { isFullyVerified, formatScore, type VerifiedRecord } from '../core/report/records.js';
import { readVerified } from '../storage/sessions.js';
import { ensureFolder, readOwnFile, writeAtomic } from '../storage/state-folder.js';

// A notice about a version of an agent that is newer than the tested ones, or that failed `ctxwrap verify`.

/**
 * Undefined where the version was verified on this machine or tested before the release; a failed verification is mentioned for every
 * version.
 */
export const versionNotice = (
  agent: Pick<Agent, 'name' | 'home'>,
  version: string,
  verified: VerifiedRecord | undefined,
): string | undefined => {
  const named = `${agent.name} ${version}`;
  const failure = `ctxwrap verify passed only ${verified ? formatScore(verified) : ''} checks`;
  if (verified && isFullyVerified(verified)) return undefined;
  const tested = newestTestedBefore(agent, version);
  if (tested === undefined) return verified && `${named}: ${failure}`;
  const newer = `${named} is newer than the tested ${tested}`;
  return verified ? `${newer}, and ${failure}` : `${newer} · ctxwrap verify tests it`;
};

/** Checks each version once, and reports the notice about it; `isNew` is false if the last session had the same one. */
export const makeVersionNotifier = (
  agent: Pick<Agent, 'name' | 'home'>,
  stateFolder: string,
  onNotice: (text: string, isNew: boolean) => void,
) => {
  let newest: string | undefined;
  return async (version: string): Promise<void> => {
    if (version === newest) return;
    newest = version;
    const verified = await readVerified(stateFolder, agent.name, version);
    const text = versionNotice(agent, version, verified);
    if (text !== undefined) onNotice(text, await keepIfNew(stateFolder, agent.name, text));
  };
};

/** Keeps the last notice of each agent. Where it cannot be written, the notice is new in every session. */
const keepIfNew = async (stateFolder: string, name: string, text: string): Promise<boolean> => {
  const path = join(stateFolder, `version-notice-${name}`);
  if ((await readOwnFile(path)) === text) return false;
  await ensureFolder(stateFolder)
    .then(() => writeAtomic(path, text))
    .catch(() => undefined);
  return true;
};

/** Reports the version that writes the session file, once for each version. */
export const makeVersionReporter = ({ onFact }: { readonly onFact: (event: Event) => void }) => {
  let [seen, reported]: (string | undefined)[] = [];
  return {
    readLine: (line: string): void => void (seen = parseRecordVersion(line) ?? seen),
    report: (): void => {
      if (seen !== undefined && seen !== reported) onFact({ type: 'agent-version', version: seen });
      reported = seen;
    },
  };
};
