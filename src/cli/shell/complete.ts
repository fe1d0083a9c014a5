import { joinPrintable, own, type Printable, toPrintable } from '../../core/printable.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import type { Candidate, Candidates } from './completion.js';

/** `ctxwrap complete`: prints `WORD<Tab>DESCRIPTION` for each word that fits. */
export const complete = async ({ words: found, sessions }: Candidates, typed: string): Promise<Printable> => {
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
