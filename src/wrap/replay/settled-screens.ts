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
  | { readonly at: Millis; readonly type: 'output' }
  /** there is no model of the screen: it is too large, or its model has failed */
  | { readonly at: Millis; readonly type: 'blank' };

export interface PlayingOptions {
  /** what has been written up to a screen is told with it */
  readonly isCounted?: boolean | undefined;
  /** told once: the screen is not followed any more */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

const FEED_CHARACTERS = 64 * 1024; // held back between two looks
const FEED_BYTES = 256 * 1024; // fed at once: below what the model skips

/** The bytes between two looks go into the model at once: it takes a turn of the event loop whatever their number. */
const makeFeed = (screen: Screen) => {
  let texts: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(texts.join(''));
    texts = [];
    length = 0;
    for (let from = 0; from < bytes.length; from += FEED_BYTES) {
      screen.feed(bytes.subarray(from, from + FEED_BYTES));
      await screen.settled();
    }
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
 * output matter, not how it is cut into events.
 */
export async function* settledScreens(
  header: RecordingHeader,
  events: AsyncIterable<RecordedEvent>,
  { isCounted = false, onFailure }: PlayingOptions = {},
): AsyncGenerator<Replayed> {
  const screen = makeScreen(header, () => '', onFailure);
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
      else if (!later) yield { at, type: 'blank' };
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
