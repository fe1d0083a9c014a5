import type { Millis } from '../../core/reading.js';
import type { RecordingFile, RecordingHeader } from '../../storage/recording-file.js';

const ENTER = /\r|\x1b\[13(?:;1)?u/; // also as the kitty keyboard protocol sends it

/**
 * When the recording was started, so that records of session files find their places: as its header says; otherwise so that the first
 * thing the user sent, as the files tell, was sent with the first Enter among the recorded keys, or at the start.
 */
export const startOfRecording = async (
  open: () => Promise<RecordingFile>,
  { startedAt }: RecordingHeader,
  promptAt: Millis | undefined,
): Promise<Millis> => {
  if (startedAt !== undefined) return startedAt;
  return promptAt === undefined ? 0 : promptAt - (await firstEnter(open));
};

/** In milliseconds since the start; 0 for a recording without keys. */
const firstEnter = async (open: () => Promise<RecordingFile>): Promise<Millis> => {
  const { events } = await open();
  for await (const event of events()) if (event.type === 'input' && ENTER.test(event.text)) return event.at;
  return 0;
};
