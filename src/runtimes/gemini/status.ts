// The mark that a compaction leaves in a session document of the old versions (up to 0.34 at least): an `info` message without a text. It
// stands there the moment the compaction has ended, well or not; how it ended only the screen says.
import type { FilePort } from '../file-port.js';
import type { Place } from '../place.js';
import type { AgentStatus } from '../seen.js';
import { grownDocument } from './paths.js';

const MARK = /"timestamp": "([^"\\]{1,40})",\s+"type": "info",\s+"content": ""/g;
const ENDED = 'compaction ended at ';

/** The last mark in the document that grew last; undefined where these versions' documents are not. */
export const readStatus = async (port: FilePort, place: Place): Promise<AgentStatus | undefined> => {
  const file = await grownDocument(port, place);
  if (!file) return undefined;
  const marks = [...((await port.lastPart(file.path)) ?? '').matchAll(MARK)];
  const [, time] = marks.at(-1) ?? [];
  return { state: time === undefined ? 'no compaction' : `${ENDED}${time}` };
};

/** A compaction has left its mark since then. */
export const hasNewMark = (before: AgentStatus | undefined, after: AgentStatus | undefined): boolean =>
  after !== undefined && after.state.startsWith(ENDED) && after.state !== before?.state;
