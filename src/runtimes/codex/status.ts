// What a rollout says that Codex is doing (facts/codex.md §5, §7). Each turn, a compaction too, begins with `task_started` and ends with
// `task_complete` or `turn_aborted`; what is recorded behind that belongs to no turn. Versions before 0.163 tell it nowhere else.
import { parseRecord, recordAt, textAt } from '../../core/json.js';
import type { FilePort } from '../file-port.js';
import type { Place } from '../place.js';
import type { AgentStatus } from '../seen.js';
import { locateCodex } from './paths.js';

const UNCLEAR: AgentStatus = { state: 'unclear' };
const TELLING = /"(?:task_started|task_complete|turn_aborted)"/;
const states: Readonly<Record<string, AgentStatus>> = {
  task_started: { state: 'busy' },
  task_complete: { state: 'idle' },
  turn_aborted: { state: 'idle' },
};

/** `busy` from the begin of a turn on, `idle` from its end on. */
export const stateIn = (line: string): AgentStatus | undefined => {
  if (!TELLING.test(line)) return undefined;
  const record = parseRecord(line);
  if (record?.['type'] !== 'event_msg') return undefined;
  return states[textAt(recordAt(record, 'payload'), 'type') ?? ''];
};

/**
 * The last turn of the rollout that the child itself holds open: one that only looks like it may be another terminal's. `new` before the
 * first turn; `unclear` where it holds none, a record is half written, or so long that no turn is seen in the end of the file.
 */
export const readStatus = async (port: FilePort, place: Place): Promise<AgentStatus> => {
  const found = await locateCodex(port, place);
  if (!found?.certain) return UNCLEAR;
  if (found.path === undefined) return { state: 'new' };
  const lines = (await port.lastPart(found.path))?.split('\n') ?? [];
  const isWhole = lines.at(-1) === '';
  const told = isWhole ? lines.toReversed().map(stateIn).find(Boolean) : undefined;
  return told ?? UNCLEAR;
};
