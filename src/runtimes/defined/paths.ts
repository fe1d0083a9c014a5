import type { FilePort } from '../file-port.js';
import type { Locate, Located } from '../runtime.js';
import type { Place } from '../place.js';
import { filesOf, type Glob } from './glob.js';

/** The newest file that has grown since the start. Whether it is this child's nobody says, so it is never certain. */
export const locateBy =
  (globs: readonly Glob[]): Locate =>
  async (port: FilePort, place: Place): Promise<Located | undefined> => {
    const found = (await Promise.all(globs.map((glob) => filesOf(port, place, glob)))).flat();
    const [newest] = found
      .filter(({ file }) => file.modifiedAt >= place.startedAt)
      .toSorted((a, b) => b.file.modifiedAt - a.file.modifiedAt);
    return (
      newest && {
        sessionId: newest.id,
        path: newest.file.path,
        certain: false,
        writtenAt: newest.file.modifiedAt,
      }
    );
  };
