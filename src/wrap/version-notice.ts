import type { Runtime } from '../agents/agent.js';
import { newerThanTested, versionIn } from '../agents/tested.js';
import type { Event } from '../core/event.js';
import { isFullyVerified, scoreOf, type VerifiedRecord } from '../core/records.js';
import { readVerified } from '../storage/sessions.js';

// One notice for a version of an agent of which less is known than of others.

/** Undefined where the version was tried, here or before it was published; a failure here is told of every version. */
export const versionNotice = (
  runtime: Pick<Runtime, 'name' | 'home'>,
  version: string,
  verified: VerifiedRecord | undefined,
): string | undefined => {
  const named = `${runtime.name} ${version}`;
  const failure = `ctxwrap verify found ${verified ? scoreOf(verified) : ''} right`;
  if (verified && isFullyVerified(verified)) return undefined;
  const tested = newerThanTested(runtime, version);
  if (tested === undefined) return verified && `${named}: ${failure}`;
  const newer = `${named} is newer than the tested ${tested}`;
  return verified ? `${newer}, and ${failure}` : newer;
};

/** Looks each version up once, and tells what there is to say of it. */
export const makeVersionNotice = (
  runtime: Pick<Runtime, 'name' | 'home'>,
  stateFolder: string,
  onNotice: (text: string) => void,
) => {
  let newest: string | undefined;
  return async (version: string): Promise<void> => {
    if (version === newest) return;
    newest = version;
    const verified = await readVerified(stateFolder, runtime.name, version);
    const text = versionNotice(runtime, version, verified);
    if (text !== undefined) onNotice(text);
  };
};

/** Which version writes the file, told once for each. */
export const versionTeller = ({ onFact }: { readonly onFact: (event: Event) => void }) => {
  let [seen, told]: (string | undefined)[] = [];
  return {
    see: (line: string): void => void (seen = versionIn(line) ?? seen),
    tell: (): void => {
      if (seen !== undefined && seen !== told) onFact({ type: 'agent-version', version: seen });
      told = seen;
    },
  };
};
