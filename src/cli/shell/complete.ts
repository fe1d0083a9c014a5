import { joinPrintable, own, type Printable, toPrintable } from '../../core/printable.js';
import { listSessions } from '../../storage/sessions.js';
import { homeFolder, stateFolder } from '../../storage/state-folder.js';
import { isThere, shortIdOf } from '../session-argument.js';
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
  const [running, ended] = [listed.filter(isThere), listed.filter((each) => !isThere(each))];
  return [...running, ...ended].map((session) => {
    const { runtime, cwd } = session.record;
    const end = isThere(session) ? '' : ', ended';
    return { word: shortIdOf(listed, session), description: `${runtime} in ${cwd}${end}` };
  });
};
