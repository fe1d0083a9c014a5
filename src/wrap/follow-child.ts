import type { Event } from '../core/event.js';
import type { FooterView } from '../core/view.js';
import type { Footer } from './footer.js';
import type { Keys } from './keys.js';
import type { Notifier } from './notifier.js';
import type { Output } from './output.js';
import type { Outside } from './outside.js';
import { followReadings, type Readings } from './observing/readings.js';
import type { Resize } from './resize.js';
import { makeSight, type SightParts } from './sight.js';
import type { Stage } from './stage.js';

interface FollowParts extends SightParts {
  readonly stage: Stage;
  readonly footer: Footer;
  readonly resize: Pick<Resize, 'check'>;
  readonly keys: Keys;
  readonly output: Output;
  readonly notifier: Notifier;
}

/** Reads the child, shows what is read in the footer and to other programs, and lets the typist write to it. */
export const followChild = (parts: FollowParts, childPid: number, outside: Outside | undefined): Readings => {
  const { stage, footer, resize, keys, output, notifier } = parts;
  const show = (view: FooterView): void => {
    if (view.due !== 'asked') stage.rowWanted = view.due !== undefined; // no change of size while a request is carried out
    resize.check();
    footer.show(view);
  };
  const write = (bytes: Uint8Array): void => {
    outside?.onStroke(bytes);
    keys.type(bytes);
  };
  return followReadings(
    stage.session,
    { pid: childPid, screen: stage.screen },
    {
      ...outside,
      onView: show,
      unseen: makeSight(parts),
      onNotification: notifier.notify,
      enteredAt: keys.enteredAt,
      typist: {
        write,
        holdKeys: keys.hold,
        typed: keys.typed,
        drawn: output.written,
        isBlind: output.isHolding,
      },
    },
  );
};

/** The user asks by a key: what was tried before does not count. */
export const compactByKey = (): Event => ({
  type: 'compact-requested',
  request: { id: `key-${crypto.randomUUID()}`, force: true, isByKey: true },
});
