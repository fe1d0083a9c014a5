import type { Characters } from '../../core/estimate.js';
import type { Millis } from '../../core/reading.js';
import type { Seen } from '../../runtimes/seen.js';
import { makeScreen, type Screen } from '../../terminal/screen.js';
import type { RecordedEvent, RecordingHeader } from '../../storage/recording-file.js';
import { noteUnseen, postponed, scanDue, type Unseen } from '../observing/scan-timing.js';

/** What a replay meets on its way, in the order of the recording's clock (milliseconds since its start). */
export type Replayed =
  /** the screen has come to rest, or has changed for too long; to be read before the next one is asked for */
  | { readonly at: Millis; readonly type: 'screen'; readonly seen: Seen; readonly written?: Characters }
  | { readonly at: Millis; readonly type: 'output' };

const FEED_CHARACTERS = 64 * 1024; // held back between two looks: far below what the model skips

/** The bytes between two looks go into the model at once: it takes a turn of the event loop whatever their number. */
const makeFeed = (screen: Screen) => {
  let texts: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    if (length > 0) screen.feed(Buffer.from(texts.join('')));
    texts = [];
    length = 0;
    await screen.settled();
  };
  return {
    flush,
    add: async (text: string): Promise<void> => {
      texts.push(text);
      length += text.length;
      if (length > FEED_CHARACTERS) await flush();
    },
  };
};

/**
 * Plays a recording into a screen model and gives its screens whenever the wrapper would have looked at them. Only the times of the
 * output matter, not how it is cut into events. What has been written up to a screen is told with it if it is counted.
 */
export async function* settledScreens(
  header: RecordingHeader,
  events: AsyncIterable<RecordedEvent>,
  isCounted = false,
): AsyncGenerator<Replayed> {
  const screen = makeScreen(header, () => '');
  if (isCounted) screen.countWritten();
  const feed = makeFeed(screen);
  let unseen: Unseen | undefined;

  async function* look(until: Millis): AsyncGenerator<Replayed> {
    for (
      let at = unseen && scanDue(unseen);
      unseen && at !== undefined && at <= until;
      at = unseen && scanDue(unseen)
    ) {
      await feed.flush();
      const later = screen.isMidFrame() ? postponed(unseen, at) : undefined;
      unseen = later;
      const seen = later ? undefined : screen.seen();
      const written = screen.written();
      if (seen) yield { at, type: 'screen', seen, ...(written ? { written } : {}) };
    }
  }

  for await (const event of events) {
    yield* look(event.at);
    if (event.type === 'input') continue;
    if (event.type === 'output') await feed.add(event.text);
    else {
      await feed.flush();
      await screen.resize(event);
    }
    unseen = noteUnseen(unseen, event.at);
    if (event.type === 'output') yield { at: event.at, type: 'output' };
  }
  yield* look(Infinity);
}
