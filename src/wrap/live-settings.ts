// Settings that the user changes while a session runs.
import type { Event } from '../core/event.js';
import type { Recipe } from '../runtimes/recipe.js';
import { compactSettings } from './compacting/compactor.js';
import { noticeEvent } from './session-flow.js';
import type { LiveWish, WrapSession } from './wrap-session.js';

/** Takes what the user changes until the returned function is called. */
export const followSettings = (
  session: WrapSession,
  recipe: Recipe | undefined,
  take: (event: Event) => void,
): (() => void) => {
  const { watchSettings, log } = session;
  const stop = watchSettings?.({
    onChange: (wish) => {
      log.info(
        'the configuration has changed: window and boundaries hold at once, the rest as soon as no compaction is due',
      );
      take(settingsEvent(session, wish, recipe));
    },
    onNotice: (text) => take(noticeEvent(text)),
  });
  return stop ?? (() => undefined);
};

const settingsEvent = (session: WrapSession, wish: LiveWish, recipe: Recipe | undefined): Event => {
  const { draft } = session.compact ?? {};
  const { mode, window, ladder = {} } = wish;
  const { draft: _, ...compact } = wish.compact ?? {}; // the typist got it at the start
  return {
    type: 'settings',
    settings: {
      ladder,
      ...(window === undefined ? {} : { windowTokens: window }),
      compact: compactSettings(
        {
          mode: mode === 'off' ? 'warn' : mode, // a session that observes cannot become one that does not
          ladder,
          compact: { ...compact, ...(draft === undefined ? {} : { draft }) },
        },
        recipe,
      ),
    },
  };
};
