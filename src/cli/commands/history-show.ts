import type { RecordedCompaction, SessionHistory } from '../../core/boundary-record.js';
import { homeFolder } from '../../storage/state-folder.js';
import { readLook } from '../../ui/look.js';
import { compactionText } from '../history-text.js';
import { findTargets } from '../history-targets.js';
import * as messages from '../messages.js';
import { toAsciiIfNeeded } from '../print.js';
import type { HistoryShowRequest } from '../request.js';
import type { Outcome } from '../session.js';
import { widthOfOutput } from '../text.js';
import { openSearch, readTargets } from './history.js';

/** `ctxwrap history show SESSION#N`: one compaction, or the conversation before it. */
export const historyShow = async (request: HistoryShowRequest): Promise<Outcome> => {
  const { env, stdout } = process;
  const { session, compaction } = await findCompaction(request);
  const look = readLook({ env, isTTY: stdout.isTTY, columns: widthOfOutput(), theme: request.options.values.theme });
  const rows = compactionText(session, compaction, { look, home: homeFolder(env), isFull: true });
  const text = rows.map((row) => `${toAsciiIfNeeded(row, env)}\n`).join('');
  return page(text);
};

interface OneCompaction {
  readonly session: SessionHistory;
  readonly compaction: RecordedCompaction;
}

const findCompaction = async ({ targets: [given = ''], options }: HistoryShowRequest): Promise<OneCompaction> => {
  const search = await openSearch(options);
  const found = await findTargets([given], search);
  if (found.targets.every(({ number }) => number === undefined)) throw messages.whichCompaction(given);
  const numbered = found.targets.map(({ number: _, ...target }) => target);
  return undefined as never;
};
