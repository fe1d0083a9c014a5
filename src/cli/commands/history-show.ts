import { spawn } from 'node:child_process';
import type { RecordedCompaction, SessionHistory } from '../../core/boundary-record.js';
import type { StoreProblem } from '../../storage/session-store.js';
import { homeFolder } from '../../storage/state-folder.js';
import { readLook } from '../../ui/look.js';
import type { SessionSource } from '../../wrap/read-history.js';
import { compactionMarkdown, compactionText } from '../history-text.js';
import { findTargets } from '../history-targets.js';
import * as messages from '../messages.js';
import { print, toAsciiIfNeeded } from '../print.js';
import type { HistoryShowRequest } from '../request.js';
import type { Outcome } from '../session.js';
import { widthOfOutput } from '../text.js';
import { openSearch, readTargets } from './history.js';

/** `ctxwrap history show SESSION#N`: one compaction, or the conversation before it. */
export const historyShow = async (request: HistoryShowRequest): Promise<Outcome> => {
  const found = await findCompaction(request);
  await page(shownText(found, request));
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

const shownText = ({ session, compaction }: OneCompaction, request: HistoryShowRequest): string => {
  const { env, stdout } = process;
  if (request.markdown) return compactionMarkdown(session, compaction);
  const { theme } = request.options.values;
  const look = readLook({ env, isTTY: stdout.isTTY, columns: widthOfOutput(), theme });
  return compactionText(session, compaction, { look, home: homeFolder(env), isFull: true })
    .map((row) => `${toAsciiIfNeeded(row, env)}\n`)
    .join('');
};

/** A compaction in its session. */
export interface OneCompaction {
  readonly source: SessionSource;
  readonly session: SessionHistory;
  readonly compaction: RecordedCompaction;
}

/** The compaction that `SESSION#N` names. Throws when there is none, or more than one. */
export const findCompaction = async ({
  targets: [given = ''],
  options,
}: Pick<HistoryShowRequest, 'targets' | 'options'>): Promise<OneCompaction> => {
  const search = await openSearch(options);
  const { targets, skipped } = await findTargets([given], search);
  const problems = [...skipped];
  const number = targets[0]?.number;
  const found: OneCompaction[] = [];
  let most = 0;
  for (const { source, isWanted } of targets) {
    const request = {
      full: true,
      chart: false,
      onProblem: (problem: StoreProblem) => void problems.push(problem),
    };
    for await (const { history: session } of readTargets([{ source, isWanted }], search, request)) {
      most = Math.max(most, session.compactions.length);
      if (number === undefined) throw messages.whichCompaction(given);
      const compaction = session.compactions.find((each) => each.number === number);
      if (compaction) found.push({ source, session, compaction });
    }
  }
  const [first, ...others] = found;
  const [problem] = problems;
  if (!first && problem) throw messages.unreadableFile(problem.path, problem.reason);
  if (!first) throw messages.noCompaction(given, most);
  if (others.length > 0)
    throw messages.severalFiles(
      given,
      found.map(({ session }) => session.path),
    );
  return first;
};

/** Shows a text with the user's pager in a terminal; else prints it. */
const page = async (text: string): Promise<void> => {
  const { env, stdin, stdout } = process;
  const isShort = text.split('\n').length <= (stdout.rows ?? 0);
  const pager = env['PAGER'] ?? 'less -R';
  if (!stdout.isTTY || !stdin.isTTY || isShort || pager === '' || !(await paged(pager, text)))
    await print(text);
};

/** As git does it: the pager is a shell command. False if it could not be started. */
const paged = (pager: string, text: string): Promise<boolean> =>
  new Promise((done) => {
    const child = spawn('/bin/sh', ['-c', pager], {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', ...process.env },
    });
    const ignore = (): void => undefined;
    process.on('SIGINT', ignore); // Ctrl-C is for the pager
    child.stdin.on('error', ignore); // the user has closed it before its end
    child.on('error', () => done(false));
    child.on('close', (code) => {
      process.off('SIGINT', ignore);
      done(code !== NOT_FOUND && code !== NOT_EXECUTABLE);
    });
    child.stdin.end(text);
  });

const [NOT_EXECUTABLE, NOT_FOUND] = [126, 127]; // by the shell
