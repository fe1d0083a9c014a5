import { joinPrintable, own, type Printable, toPrintable } from '../../core/printable.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import type { CompleteRequest } from '../request.js';
import type { Candidate } from './completion.js';

/** `ctxwrap complete`: prints `WORD<Tab>DESCRIPTION` for each word that fits. */
export const complete = async ({ candidates, typed, options }: CompleteRequest): Promise<Printable> => {
  const { words: found, sessions } = candidates((options.configured?.runtimes ?? []).map(({ name }) => name));
  const there = sessions ? await sessionWords() : [];
  return joinPrintable(
    [...found, ...there.filter(({ word }) => word.startsWith(typed))].map(
      ({ word, description }) => own`${toPrintable(word)}\t${toPrintable(description)}\n`,
    ),
  );
};

const sessionWords = async (): Promise<readonly Candidate[]> => {
  const { env } = process;
  const listed = await listSessions(stateFolder(env, homeFolder(env)), Date.now());
  return listed
    .filter(({ liveness }) => liveness === 'live')
    .map(({ record }) => ({
      word: record.id,
      description: `${record.runtime} in ${record.cwd}`,
    }));
};
